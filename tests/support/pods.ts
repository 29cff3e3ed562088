/**
 * Runs the containers of pods as a kubelet would, on the image of tests/support/image.ts: command, arguments, environment, user and
 * mounts are those of the pod's spec, Secrets are those of the API server. There is no network of its own for a pod.
 */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Image, type Mount, runContainer, type RunningContainer } from "./image.ts";
import { removeDirectory, temporaryDirectory } from "./processes.ts";
import type { Call } from "./real-api-server.ts";

export interface PodSpec {
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly fsGroup?: number;
  };
  readonly containers: readonly PodContainer[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string; readonly defaultMode?: number };
  }[];
}

export interface PodContainer {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: { readonly readOnlyRootFilesystem?: boolean };
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

export interface Probe {
  readonly httpGet?: {
    readonly path: string;
    readonly port: string | number;
    readonly scheme?: string;
  };
}

export interface Kubelet {
  /** Starts the pod's only container; `claims` are the directories of volumes that are no Secrets. */
  run(spec: PodSpec, claims?: Readonly<Record<string, string>>): Promise<RunningContainer>;
  close(): void;
}

export function createKubelet(image: Image, namespace: string, call: Call): Kubelet {
  const volumes = temporaryDirectory("volumes");
  let count = 0;

  async function directoryOf(
    spec: PodSpec,
    name: string,
    claims: Readonly<Record<string, string>>,
  ): Promise<string> {
    const claimed = claims[name];
    const group = spec.securityContext?.fsGroup ?? 0;
    if (claimed !== undefined) {
      // The root of a volume belongs to root; the group of the pod may write.
      chownSync(claimed, 0, group);
      chmodSync(claimed, 0o2775);
      return claimed;
    }
    const secret = spec.volumes?.find((volume) => volume.name === name)?.secret;
    if (secret === undefined) throw new Error(`the volume ${name} is of an unknown kind`);
    const { body } = await call(
      "GET",
      `/api/v1/namespaces/${namespace}/secrets/${secret.secretName}`,
    );
    const { data = {} } = body as { readonly data?: Readonly<Record<string, string>> };
    const directory = join(volumes, String(count++));
    mkdirSync(directory);
    for (const [file, value] of Object.entries(data)) {
      const path = join(directory, file);
      writeFileSync(path, Buffer.from(value, "base64"));
      chownSync(path, 0, group);
      chmodSync(path, secret.defaultMode ?? 0o644);
    }
    return directory;
  }

  return {
    run: async (spec, claims = {}) => {
      const [container, ...more] = spec.containers;
      if (container === undefined || more.length > 0) throw new Error("one container is expected");
      const { runAsUser = -1, runAsGroup = -1 } = spec.securityContext ?? {};
      if (runAsUser <= 0 || container.securityContext?.readOnlyRootFilesystem !== true)
        throw new Error("the pod runs as root, or can write to its image");
      const mounts: Mount[] = [];
      for (const { name, mountPath, readOnly = false } of container.volumeMounts ?? [])
        mounts.push({ from: await directoryOf(spec, name, claims), at: mountPath, readOnly });
      const environment = Object.fromEntries(
        (container.env ?? []).map(({ name, value = "" }) => [name, value]),
      );
      return runContainer(image, {
        entrypoint: container.command,
        args: container.args ?? [],
        environment,
        mounts,
        user: `${runAsUser}:${runAsGroup}`,
      });
    },
    close: () => removeDirectory(volumes),
  };
}
