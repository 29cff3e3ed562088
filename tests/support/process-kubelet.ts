/**
 * Runs the pods of federated StatefulSets in simulated members as processes, in the control plane's
 * namespace of a pod network (process-kubelet-child.ts). It stands for the kubelets and for the load balancers of all members:
 *
 * 1. A pod is a process with a network namespace of its own (tests/support/pod-network.ts) and a root of its own, in which
 *    `resolv.conf` names the control plane's DNS server. Command, environment and volumes are those of the pod's spec.
 * 2. The address of the pod's Service is an address of the pod.
 * 3. What the readiness probe answers is reported as the condition GATE: the pod's spec has to name it as a readiness gate, because
 *    a simulated member knows nothing of the process.
 * 4. A container that ends is started again. A claim's directory outlives its pod.
 * 5. While the file `<directory>/dead/<member>` is there, the member's processes are killed and nothing is done for it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type AnyObject, configMaps, keyOf, pods as podResource, services } from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { joinPodNetwork, type PodPlace } from "./pod-network.ts";

/** The readiness gate of a pod that runs as a process. */
export const GATE = "lifeboat.dev/process-serves";

export interface ProcessKubeletSettings {
  /** The network's. */
  readonly id: string;
  /** For volumes and logs, and for what tests order. */
  readonly directory: string;
  /** By member: its kubeconfig. */
  readonly members: Readonly<Record<string, string>>;
  /** Directories in which containers find their programs, before those of the machine. */
  readonly programs: readonly string[];
}

interface FieldRef {
  readonly fieldPath: string;
}

interface Container {
  readonly command: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef?: FieldRef };
  }[];
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: number } };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pod extends AnyObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly Container[];
    readonly volumes?: readonly {
      readonly name: string;
      readonly configMap?: { readonly name: string };
      readonly downwardAPI?: {
        readonly items: readonly { readonly path: string; readonly fieldRef: FieldRef }[];
      };
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
}

const LOOK_MS = 200;
const RESTART_MS = 1000;
const PROBE_MS = 1000;

/** Makes a root of its own and runs the rest of the line in it; `mounts` are pairs `directory=place`, separated by colons. */
const IN_ROOT = `set -eu
  root=$1 server=$2 mounts=$3; shift 3
  mount --make-rprivate / && mount -t tmpfs root "$root"
  for one in bin sbin lib lib64 usr dev proc; do
    [ -d "/$one" ] || continue
    mkdir "$root/$one" && mount --rbind "/$one" "$root/$one"
  done
  mkdir "$root/etc" "$root/tmp"
  cp -a /etc/passwd /etc/group /etc/ld.so.cache /etc/alternatives "$root/etc/"
  echo "nameserver $server" >"$root/etc/resolv.conf"
  echo "hosts: files dns" >"$root/etc/nsswitch.conf"
  echo "127.0.0.1 localhost" >"$root/etc/hosts"
  IFS=:; for pair in $mounts; do
    mkdir -p "$root/\${pair#*=}" && mount --bind "\${pair%%=*}" "$root/\${pair#*=}"
  done; unset IFS
  exec chroot "$root" "$@"`;

/** One pod as a process. */
class Sandbox {
  readonly pod: string;
  readonly uid: string;
  readonly place: PodPlace;
  readonly #directory: string;
  readonly #addresses = new Set<string>();
  #child: ChildProcess | undefined;
  #startAt = 0;

  constructor(pod: string, uid: string, place: PodPlace, directory: string) {
    this.pod = pod;
    this.uid = uid;
    this.place = place;
    this.#directory = directory;
    mkdirSync(join(directory, "roots", uid), { recursive: true });
    mkdirSync(join(directory, "logs"), { recursive: true });
  }

  addAddress(address: string): void {
    if (this.#addresses.has(address)) return;
    this.#addresses.add(address);
    this.place.addAddress(address);
  }

  /** Starts the container unless it runs, or has just ended. */
  start(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
    mounts: readonly string[],
    server: string,
  ): void {
    if (this.#child !== undefined || performance.now() < this.#startAt) return;
    const root = join(this.#directory, "roots", this.uid);
    const setUp = ["unshare", "--mount", "sh", "-c", IN_ROOT, "sh", root, server, mounts.join(":")];
    const [program = "", ...args] = [...this.place.under, ...setUp, ...command];
    // A group of its own, so that what the container starts ends with it.
    const child = spawn(program, args, { env: environment, detached: true });
    this.#child = child;
    const log = createWriteStream(join(this.#directory, "logs", this.pod), { flags: "a" });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once("close", (code, signal) => {
      print(`ended ${this.pod} ${code ?? signal}`);
      this.#child = undefined;
      this.#startAt = performance.now() + RESTART_MS;
    });
    print(`started ${this.pod}`);
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    const closed = once(child, "close");
    process.kill(-child.pid, signal);
    const late = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 5000);
    await closed;
    clearTimeout(late);
  }
}

/** The kubelet and the load balancers of one member. */
class ProcessKubelet {
  readonly member: string;
  readonly #client: HttpClient;
  readonly #settings: ProcessKubeletSettings;
  readonly #network: ReturnType<typeof joinPodNetwork>;
  readonly #sandboxes = new Map<string, Sandbox>();
  /** By uid of the pod: what was last reported. */
  readonly #reported = new Map<string, boolean>();

  constructor(
    member: string,
    client: HttpClient,
    settings: ProcessKubeletSettings,
    network: ReturnType<typeof joinPodNetwork>,
  ) {
    this.member = member;
    this.#client = client;
    this.#settings = settings;
    this.#network = network;
  }

  async look(): Promise<void> {
    if (existsSync(join(this.#settings.directory, "dead", this.member)))
      return this.#stop("SIGKILL");
    const { items } = await this.#client.list(podResource, {
      labelSelector: "lifeboat.dev/federated-set",
    });
    const present = items as readonly Pod[];
    const staying = new Set<string>();
    for (const pod of present) {
      const { uid, deletionTimestamp } = pod.metadata;
      if (deletionTimestamp === undefined && pod.spec.nodeName !== undefined) staying.add(uid);
    }
    for (const [uid, sandbox] of this.#sandboxes)
      if (!staying.has(uid)) {
        this.#sandboxes.delete(uid);
        await sandbox.stop("SIGTERM");
        sandbox.place.remove();
      }
    for (const pod of present) if (staying.has(pod.metadata.uid)) await this.#run(pod);
  }

  async close(): Promise<void> {
    await this.#stop("SIGKILL");
    for (const { place } of this.#sandboxes.values()) place.remove();
    this.#client.close();
  }

  async #stop(signal: NodeJS.Signals): Promise<void> {
    await Promise.all([...this.#sandboxes.values()].map((sandbox) => sandbox.stop(signal)));
  }

  async #run(pod: Pod): Promise<void> {
    const { name, uid } = pod.metadata;
    const [container] = pod.spec.containers;
    if (container === undefined) return;
    let sandbox = this.#sandboxes.get(uid);
    if (sandbox === undefined) {
      sandbox = new Sandbox(name, uid, this.#network.addPod(name), this.#settings.directory);
      this.#sandboxes.set(uid, sandbox);
    }
    for (const address of await this.#balanced(pod)) sandbox.addAddress(address);
    const mounts = await this.#mounts(pod, container);
    if (mounts !== undefined) {
      const { programs } = this.#settings;
      const extra = programs.map((directory, i) => `${directory}=/programs/${i}`);
      const path = [
        ...programs.map((_one, i) => `/programs/${i}`),
        "/usr/sbin",
        "/usr/bin",
        "/sbin",
        "/bin",
      ].join(":");
      const environment = { PATH: path, ...environmentOf(pod, container) };
      const server = this.#network.plane.address;
      sandbox.start(container.command, environment, [...mounts, ...extra], server);
    }
    await this.#probe(pod, container, sandbox);
  }

  /** The addresses of the load balancer of the pod's Service. */
  async #balanced(pod: Pod): Promise<readonly string[]> {
    const service = await this.#client.get(services, keyOf(pod)).catch(() => undefined);
    const { loadBalancer } = (service?.["status"] ?? {}) as {
      readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] };
    };
    return (loadBalancer?.ingress ?? []).map(({ ip }) => ip);
  }

  /** The pod's volumes as `directory=place`; undefined: one of them is not there yet. */
  async #mounts(pod: Pod, container: Container): Promise<readonly string[] | undefined> {
    const mounts: string[] = [];
    for (const { name, mountPath } of container.volumeMounts ?? []) {
      const volume = pod.spec.volumes?.find((one) => one.name === name);
      const claim = volume?.persistentVolumeClaim?.claimName;
      const kind = claim === undefined ? pod.metadata.uid : this.member;
      const directory = join(this.#settings.directory, "volumes", kind, claim ?? name);
      mkdirSync(directory, { recursive: true });
      if (volume?.configMap !== undefined) {
        const key = { namespace: pod.metadata.namespace ?? "", name: volume.configMap.name };
        const map = await this.#client.get(configMaps, key).catch(() => undefined);
        if (map === undefined) return undefined;
        for (const [file, text] of Object.entries((map["data"] ?? {}) as Record<string, string>))
          writeFileSync(join(directory, file), text);
      }
      for (const { path, fieldRef } of volume?.downwardAPI?.items ?? [])
        writeFileSync(join(directory, path), fieldOf(pod, fieldRef));
      mounts.push(`${directory}=${mountPath}`);
    }
    return mounts;
  }

  async #probe(pod: Pod, { readinessProbe }: Container, { place }: Sandbox): Promise<void> {
    if (readinessProbe === undefined) return;
    const { path, port } = readinessProbe.httpGet;
    const isReady = await fetch(`http://${place.address}:${port}${path}`, {
      signal: AbortSignal.timeout(PROBE_MS),
    }).then(
      ({ ok }) => ok,
      () => false,
    );
    const { uid, name } = pod.metadata;
    if (this.#reported.get(uid) === isReady) return;
    const conditions = [{ type: GATE, status: isReady ? "True" : "False" }];
    const body = { metadata: { uid }, status: { conditions } };
    await this.#client.patch(
      podResource,
      keyOf(pod),
      { type: "strategic", body },
      { subresource: "status" },
    );
    this.#reported.set(uid, isReady);
    print(`${isReady ? "ready" : "unready"} ${name}`);
  }
}

function environmentOf(pod: Pod, { env = [] }: Container): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value = "", valueFrom }) => {
      const field = valueFrom?.fieldRef;
      return [name, field === undefined ? value : fieldOf(pod, field)];
    }),
  );
}

/** A field of the pod as its containers read it: its name, or a label. */
function fieldOf({ metadata }: Pod, { fieldPath }: FieldRef): string {
  if (fieldPath === "metadata.name") return metadata.name;
  const label = /^metadata\.labels\['(.+)'\]$/.exec(fieldPath)?.[1];
  if (label === undefined) throw new Error(`the field ${fieldPath} is not known here`);
  return metadata.labels?.[label] ?? "";
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs the pods of all members until the signal aborts. */
export async function runProcessKubelets(
  settings: ProcessKubeletSettings,
  signal: AbortSignal,
): Promise<void> {
  const network = joinPodNetwork(settings.id);
  const kubelets: ProcessKubelet[] = [];
  for (const [member, kubeconfig] of Object.entries(settings.members)) {
    const client = await connectByKubeconfig({ paths: [kubeconfig] });
    kubelets.push(new ProcessKubelet(member, client, settings, network));
  }
  print("ready");
  // Each member by itself: one that does not answer holds no other up.
  await Promise.all(
    kubelets.map(async (kubelet) => {
      while (!signal.aborted) {
        await kubelet
          .look()
          .catch((error: unknown) => print(`${kubelet.member}: ${String(error)}`));
        await wait(LOOK_MS);
      }
    }),
  );
  for (const kubelet of kubelets) await kubelet.close();
}
