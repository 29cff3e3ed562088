/** What a server serves, by its own discovery: every resource and subresource, so that a new kind is found by itself. */
import type { RawClient } from "../support/raw-client.ts";

export interface Served {
  /** `group/plural` or `group/plural/subresource`; the group of the core is empty. */
  readonly id: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Served, and in no discovery (docs/decisions/0014-proxy.md). */
const UNLISTED: readonly Served[] = [
  ["cluster.karmada.io", "proxy"],
  ["proxy.lifeboat.dev", "proxy"],
  ["proxy.lifeboat.dev", "attach"],
].map(([group = "", subresource = ""]) => ({
  id: `${group}/clusters/${subresource}`,
  group,
  version: "v1alpha1",
  plural: "clusters",
  subresource,
  kind: "Cluster",
  namespaced: false,
}));

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

export async function readServed(client: RawClient): Promise<readonly Served[]> {
  const read = async (path: string): Promise<unknown> => {
    const { code, body } = await client.ask("GET", path);
    if (code !== 200) throw new Error(`${path}: ${code} ${body}`);
    return JSON.parse(body);
  };
  const groups = (await read("/apis")) as {
    readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
  };
  const versions = groups.groups.flatMap(({ versions: all }) =>
    all.map(({ groupVersion }) => groupVersion),
  );
  const found: Served[] = [...UNLISTED];
  for (const groupVersion of ["v1", ...versions]) {
    const root = groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`;
    const { resources } = (await read(root)) as ResourceList;
    const [version = "", group = ""] = groupVersion.split("/").toReversed();
    for (const { name, kind, namespaced } of resources) {
      const [plural = "", subresource = ""] = name.split("/");
      found.push({ id: `${group}/${name}`, group, version, plural, subresource, kind, namespaced });
    }
  }
  return found;
}

/** The path of a collection or of an object; `before` is put in front of the resource, such as `watch/`. */
export function pathOf(of: Served, namespace: string, name: string, before = ""): string {
  const root = of.group === "" ? `/api/${of.version}` : `/apis/${of.group}/${of.version}`;
  const where = of.namespaced && namespace !== "" ? `namespaces/${namespace}/` : "";
  const end = name === "" ? "" : `/${name}`;
  const below = of.subresource === "" ? "" : `/${of.subresource}`;
  return `${root}/${before}${where}${of.plural}${end}${below}`;
}
