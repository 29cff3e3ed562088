/**
 * `lifeboat up` as a killable plane: ConfigMaps over TLS through the kit's HTTP client, on one port and one data directory
 * for all lives.
 */
import {
  type AnyObject,
  formatKey,
  isRefused,
  keyOf,
  parseKey,
  type Resource,
} from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { ONLY_API, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import type { ListedItem, SeenEvent } from "./history-checker.ts";
import type { KillablePlane, StartPlane } from "./plane.ts";

const NAMESPACES = ["ns-0", "ns-1", "ns-2"];
const configMaps: Resource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
const namespaces: Resource = {
  ...configMaps,
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};

export function lifeboatPlanes(dataDirectory: string): { start: StartPlane; dispose(): void } {
  let port = 0;
  let beginning: string | undefined;
  let newest: LifeboatPlane | undefined;
  return {
    start: async () => {
      const running = await startLifeboat({ dataDirectory, port, args: ONLY_API });
      port = running.port;
      const client = await connectByKubeconfig({ paths: [running.kubeconfig] });
      beginning ??= await prepare(client);
      newest = new LifeboatPlane(running, client, beginning);
      return newest;
    },
    dispose: () => void newest?.kill(),
  };
}

/** Makes the namespaces of the keys; answers the version from which the test's own history begins. */
async function prepare(client: HttpClient): Promise<string> {
  for (const name of NAMESPACES) {
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  return (await client.list(configMaps)).metadata.resourceVersion;
}

class LifeboatPlane implements KillablePlane {
  readonly #running: RunningLifeboat;
  readonly #client: HttpClient;
  readonly #beginning: string;

  constructor(running: RunningLifeboat, client: HttpClient, beginning: string) {
    this.#running = running;
    this.#client = client;
    this.#beginning = beginning;
  }

  put(key: string, value: string): Promise<number | "refused"> {
    return answered(async () => Number((await this.#write(key, value)).metadata.resourceVersion));
  }

  remove(key: string): Promise<"done" | "refused"> {
    return answered(async () => {
      await this.#client.delete(configMaps, parseKey(key));
      return "done" as const;
    });
  }

  async list(prefix: string): Promise<{ revision: number; items: readonly ListedItem[] }> {
    const { metadata, items } = await this.#client.list(configMaps, {
      namespace: prefix.slice(0, -1),
    });
    return {
      revision: Number(metadata.resourceVersion),
      items: items.filter(isOfWriters).map(itemOf),
    };
  }

  async watch(prefix: string, from: number, sink: (event: SeenEvent) => void): Promise<void> {
    const resourceVersion = from === 0 ? this.#beginning : String(from);
    const options = { namespace: prefix.slice(0, -1), resourceVersion };
    this.#client.watch(configMaps, options, {
      event: (event) => {
        if (event.type !== "BOOKMARK" && isOfWriters(event.object))
          sink({ type: event.type, ...itemOf(event.object) });
      },
      end: (why) => {
        if (why.kind === "refused") throw new Error(`a watch was refused: ${why.status.message}`);
      },
    });
  }

  async kill(): Promise<void> {
    await this.#running.process.stop("SIGKILL");
    this.#client.close();
  }

  /** An update of what is there, else a creation. Of two writers that race for an absent key one is refused. */
  async #write(key: string, value: string): Promise<AnyObject> {
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: parseKey(key),
      data: { value },
    };
    try {
      return await this.#client.update(configMaps, object as unknown as AnyObject);
    } catch (error) {
      if (!isRefused(error, "NotFound")) throw error;
      return this.#client.create(configMaps, object);
    }
  }
}

/** What the server refused did not happen. Any other failure leaves the write in doubt: nobody ever answers. */
async function answered<T>(write: () => Promise<T>): Promise<T | "refused"> {
  try {
    return await write();
  } catch (error) {
    const refused =
      isRefused(error, "NotFound") ||
      isRefused(error, "AlreadyExists") ||
      isRefused(error, "Conflict");
    if (refused) return "refused";
    return new Promise(() => undefined);
  }
}

/** Not what the control plane itself keeps: its address in `kube-public/cluster-info`. */
function isOfWriters({ metadata }: AnyObject): boolean {
  return metadata.namespace !== "kube-public";
}

function itemOf(object: AnyObject): ListedItem {
  const data = object["data"] as { readonly value?: string } | undefined;
  return {
    key: formatKey(keyOf(object)),
    revision: Number(object.metadata.resourceVersion),
    value: data?.value ?? "",
  };
}
