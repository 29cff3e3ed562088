/**
 * A control plane with three simulated members whose pods run as real etcd processes: each in a network namespace and a root of
 * its own, with names from the control plane's DNS server on port 53. Everything is asked with kubectl, lifeboat and etcdctl.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { eventually } from "../support/eventually.ts";
import { etcdctlBinary } from "../support/etcdctl.ts";
import { kubernetesBinary } from "../support/kubernetes-binaries.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { makePodNetwork } from "../support/pod-network.ts";
import { GATE, type ProcessKubeletSettings } from "../support/process-kubelet.ts";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { startAll } from "../support/started.ts";

export const MEMBERS = ["member1", "member2", "member3"] as const;
/** The governing name of the example. */
export const DOMAIN = "etcd.default.fed.svc.example.com";

const EXAMPLE = fileURLToPath(new URL("../../examples/federated/etcd.yaml", import.meta.url));
const HOOK = fileURLToPath(new URL("../../examples/federated/etcd-let-go.sh", import.meta.url));
/** Where `lifeboat` has its name. */
const COMMANDS = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url));
const CHILD = fileURLToPath(new URL("../support/process-kubelet-child.ts", import.meta.url));
/** Deaths and returns are noticed soon. */
const FLAGS: readonly string[] = [
  "--dns-zone=example.com",
  "--federation-name=fed",
  "--dns-ttl=1s",
  "--member-start-delay=0s",
  "--cluster-status-update-frequency=1s",
  "--cluster-failure-threshold=2s",
  "--cluster-success-threshold=2s",
];

export interface EtcdFleet {
  kubectl(...args: readonly string[]): Promise<string>;
  lifeboat(...args: readonly string[]): Promise<string>;
  /** Finds its servers by the SRV records of the set, unless `--endpoints` is given. */
  etcdctl(...args: readonly string[]): Promise<string>;
  dig(...args: readonly string[]): Promise<string>;
  /** One step of the hook that removes what leaves from etcd. */
  letGo(): Promise<string>;
  /** The power of the whole cluster goes: its API and its pods. */
  lose(member: string): Promise<void>;
  giveBack(member: string): Promise<void>;
  /** The node of a pod is gone for ever, with the volume; the member makes the pod again. */
  loseNode(member: string, pod: string): Promise<void>;
  /** What the kubelets have done, and what the pods have printed. */
  history(): string;
  stop(): Promise<void>;
}

export function startEtcdFleet(): Promise<EtcdFleet> {
  return startAll(async (started) => {
    const data = temporaryDirectory("etcd");
    started.keep({ stop: () => Promise.resolve(removeDirectory(data)) });
    const network = started.keep(makePodNetwork(String(process.pid)));
    const { under, address } = network.plane;
    const at = (...command: readonly string[]): RunningProcess => {
      const [program = "", ...args] = [...under, ...command];
      return startProcess(program, args, { KUBECONFIG: "" });
    };
    const flags = [`--members=${MEMBERS.length}`, `--dns-listen=${address}:53`, ...FLAGS];
    const up = started.keep(at(lifeboatCommand, "up", "--data-dir", data, ...flags));
    await up.printed(/^members ready$/m);
    const kubelets = started.keep(at(...kubeletCommand(data, network.id)));
    await kubelets.printed(/^ready$/m);

    const run = async (...command: readonly string[]): Promise<string> => {
      const child = at(...command);
      const code = await child.ended;
      if (code !== 0) throw new Error(`${command.join(" ")}: ${child.output()}`);
      return child.output();
    };
    const kubectl = (file: string, ...args: readonly string[]): Promise<string> =>
      run(kubernetesBinary("kubectl"), "--kubeconfig", join(data, `${file}.kubeconfig`), ...args);
    const lifeboat = (...args: readonly string[]): Promise<string> =>
      run(lifeboatCommand, ...args, "--data-dir", data);
    const dead = (member: string): string => join(data, "pods", "dead", member);
    return {
      kubectl: (...args) => kubectl("lifeboat", ...args),
      lifeboat,
      etcdctl: (...args) => run(...namesFrom(address), ...etcdctlCommand(args)),
      letGo: () => run(...namesFrom(address), "env", ...hookEnvironment(data), HOOK),
      dig: (...args) => run("dig", `@${address}`, ...args),
      lose: async (member) => {
        writeFileSync(dead(member), "");
        await lifeboat("member", "fail", member, "--mode", "api-down");
      },
      giveBack: async (member) => {
        rmSync(dead(member));
        await lifeboat("member", "heal", member);
      },
      loseNode: async (member, pod) => {
        const ends = (): number => kubelets.output().split(`ended ${pod} SIGKILL\n`).length;
        const before = ends();
        writeFileSync(dead(member), "");
        await eventually(() => {
          if (ends() === before) throw new Error(`${pod} still runs`);
          return Promise.resolve();
        }, 30_000);
        removeDirectory(join(data, "pods", "volumes", member, `data-${pod}`));
        await kubectl(member, "delete", "pod", pod, "--force");
        rmSync(dead(member));
      },
      history: () => [kubelets.output(), ...logsIn(join(data, "pods", "logs"))].join("\n"),
      stop: () => started.stop(),
    };
  });
}

/** The example, for members that run pods as processes: a readiness gate takes the place of the probe. */
export function exampleSet(): string {
  const objects = parseAllDocuments(readFileSync(EXAMPLE, "utf8")).map(
    (document) => document.toJS() as Example,
  );
  for (const { kind, spec } of objects)
    if (kind === "StatefulSet" && spec.template !== undefined)
      spec.template.spec["readinessGates"] = [{ conditionType: GATE }];
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
}

interface Example {
  readonly kind: string;
  readonly spec: { readonly template?: { readonly spec: Record<string, unknown> } };
}

function kubeletCommand(data: string, id: string): readonly string[] {
  const directory = join(data, "pods");
  mkdirSync(join(directory, "dead"), { recursive: true });
  const settings: ProcessKubeletSettings = {
    id,
    directory,
    members: Object.fromEntries(MEMBERS.map((name) => [name, join(data, `${name}.kubeconfig`)])),
    programs: [dirname(kubernetesBinary("etcd")), dirname(etcdctlBinary())],
  };
  const file = join(directory, "settings.json");
  writeFileSync(file, JSON.stringify(settings));
  return [process.execPath, "--conditions=@lifeboat/source", "--import", "tsx", CHILD, file];
}

/** The end of what each pod printed. */
function logsIn(directory: string): readonly string[] {
  return readdirSync(directory).map(
    (pod) => `--- ${pod}\n${readFileSync(join(directory, pod), "utf8").slice(-1500)}`,
  );
}

function hookEnvironment(data: string): readonly string[] {
  const own = [kubernetesBinary("kubectl"), etcdctlBinary()].map((path) => dirname(path));
  return [
    `PATH=${[COMMANDS, ...own, process.env["PATH"] ?? ""].join(":")}`,
    `KUBECONFIG=${join(data, "lifeboat.kubeconfig")}`,
    `LIFEBOAT_DATA_DIR=${data}`,
  ];
}

function etcdctlCommand(args: readonly string[]): readonly string[] {
  const isGiven = args.some((arg) => arg.startsWith("--endpoints"));
  return [etcdctlBinary(), ...(isGiven ? [] : ["--discovery-srv", DOMAIN]), ...args];
}

/** Runs a command with another `resolv.conf`. */
function namesFrom(server: string): readonly string[] {
  const script = `mount --make-rprivate / && mount -t tmpfs names /mnt && echo "nameserver ${server}" >/mnt/resolv.conf &&
    mount --bind /mnt/resolv.conf /etc/resolv.conf && exec "$@"`;
  return ["unshare", "--mount", "sh", "-c", script, "sh"];
}
