/**
 * A pull member that accepts no connection: it is in a network namespace of its own, in which its API listens on loopback alone,
 * and only its agent reaches the control plane, over one wire. It registers, runs a workload, loses the wire, is emptied, returns
 * and is cleared up. Everything is done with the commands that an operator has.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadKubeconfig } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { kubernetesBinary } from "../support/kubernetes-binaries.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { type Place, type WiredPlaces, wirePlaces } from "../support/network-namespaces.ts";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { startAll, type Started } from "../support/started.ts";

export interface IsolatedMember {
  readonly kubeconfig: string;
}

/** Starts a member whose processes all run under the given program. */
export type StartMember = (started: Started, place: Place) => Promise<IsolatedMember>;

const CLUSTER = "edge";
const UP_FLAGS: readonly string[] = [
  "--listen=192.0.2.1:7443",
  // Where the workload goes: a push member in the control plane's own namespace.
  "--members=1",
  "--feature-gates=Failover=true",
  "--resource-eviction-rate=10",
  "--cluster-status-update-frequency=1s",
  "--cluster-failure-threshold=2s",
  "--cluster-success-threshold=2s",
  "--cluster-monitor-period=500ms",
  "--cluster-monitor-grace-period=5s",
];
const AGENT_FLAGS: readonly string[] = [
  "--cluster-status-update-frequency=1s",
  "--cluster-failure-threshold=2s",
  "--cluster-success-threshold=2s",
  "--cluster-lease-duration=4s",
];

/** A Deployment that prefers the member, and leaves a cluster from which nothing is heard. */
const WORKLOAD = [
  {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "dead" },
    spec: {
      matchConditions: [
        { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
      ],
      taintsToAdd: [
        { key: "dead", effect: "NoExecute", addOnMatchSeconds: 1, removeOnMismatchSeconds: 1 },
      ],
    },
  },
  {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "web", namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
      placement: {
        clusterAffinities: [CLUSTER, "member1"].map((name) => ({
          affinityName: name,
          clusterNames: [name],
        })),
      },
    },
  },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "nginx" }] },
      },
    },
  },
];

/** The test, for one kind of member. */
export function noInboundSuite(name: string, startMember: StartMember): void {
  let places: WiredPlaces;
  let stop: (() => Promise<void>) | undefined;
  let member: IsolatedMember;
  const data = temporaryDirectory("no-inbound");
  const planeKubeconfig = join(data, "lifeboat.kubeconfig");

  beforeAll(async () => {
    await startAll(async (started) => {
      stop = () => started.stop();
      places = started.keep(wirePlaces());
      const up = started.keep(
        start(places.plane, lifeboatCommand, "up", "--data-dir", data, ...UP_FLAGS),
      );
      [member] = await Promise.all([
        startMember(started, places.member),
        up.printed(/^members ready$/m),
      ]);
      const agentKubeconfig = await register();
      const agent = started.keep(
        start(
          places.member,
          lifeboatCommand,
          "agent",
          "--karmada-kubeconfig",
          agentKubeconfig,
          "--cluster-name",
          CLUSTER,
          "--cluster-kubeconfig",
          member.kubeconfig,
          ...AGENT_FLAGS,
        ),
      );
      await agent.printed(/^ready$/m);
    });
  });
  afterAll(async () => {
    await stop?.();
    removeDirectory(data);
  });

  /** With a token that the control plane made, in the member's namespace; answers the agent's kubeconfig. */
  async function register(): Promise<string> {
    const printed = await run(
      places.plane,
      lifeboatCommand,
      "token",
      "create",
      "--print-register-command",
      "--cluster",
      CLUSTER,
      "--kubeconfig",
      planeKubeconfig,
    );
    const file = join(data, "agent.kubeconfig");
    const [, ...command] = printed.trim().split(" ");
    expect(command.slice(0, 2)).toEqual(["register", "192.0.2.1:7443"]);
    await run(places.member, lifeboatCommand, ...command, "--agent-kubeconfig", file);
    return file;
  }
  const inPlane = (...args: readonly string[]): Promise<string> =>
    run(places.plane, kubernetesBinary("kubectl"), "--kubeconfig", planeKubeconfig, ...args);
  const inMember = (...args: readonly string[]): Promise<string> =>
    run(places.member, kubernetesBinary("kubectl"), "--kubeconfig", member.kubeconfig, ...args);
  const condition = (type: string): Promise<string> =>
    inPlane(
      "get",
      "cluster",
      CLUSTER,
      "-o",
      `jsonpath={.status.conditions[?(@.type=="${type}")].status}`,
    );
  const placed = (): Promise<string> =>
    inPlane(
      "get",
      "resourcebinding",
      "web-deployment",
      "-o",
      'jsonpath={.spec.clusters[*].name} {.status.conditions[?(@.type=="FullyApplied")].status}',
    );
  const podsThroughPlane = (): Promise<string> =>
    run(
      places.plane,
      lifeboatCommand,
      "get",
      "pods",
      "-C",
      CLUSTER,
      "--kubeconfig",
      planeKubeconfig,
    );

  it(`${name}: registers, runs, is lost, emptied, returns and is cleared up, all by its own connection`, async () => {
    await eventually(async () => {
      expect(await condition("Ready")).toBe("True");
    });
    // Nothing of it can be reached: its API is there for itself alone.
    const { port } = new URL(await serverOf(member.kubeconfig));
    expect(await knock(places.member, "127.0.0.1", port)).toBe("open");
    expect(await knock(places.plane, places.member.address, port)).toBe("ECONNREFUSED");
    expect(await knock(places.plane, "127.0.0.1", port)).toBe("ECONNREFUSED");

    const file = join(data, "workload.json");
    const list = { apiVersion: "v1", kind: "List", items: WORKLOAD };
    writeFileSync(file, JSON.stringify(list));
    await inPlane("apply", "-f", file);
    await eventually(async () => {
      expect(await placed()).toBe(`${CLUSTER} True`);
      const pods = await podsThroughPlane();
      expect(pods.match(/^edge +web-.* 1\/1 +Running/gm)).toHaveLength(2);
    });

    places.setWire(false);
    await eventually(async () => {
      expect(await condition("Ready")).toBe("Unknown");
    });
    await eventually(async () => {
      expect(await placed()).toBe("member1 True");
    });
    // What it ran goes on, out of reach.
    expect(
      await inMember("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}"),
    ).toBe("2");
    await expect(podsThroughPlane()).rejects.toThrow(/no tunnel|tunnel of its agent broke off/);
    expect(await condition("StaleCopiesRemoved")).toBe("False");

    places.setWire(true);
    await eventually(async () => {
      expect(await condition("Ready")).toBe("True");
      expect(await condition("StaleCopiesRemoved")).not.toBe("False");
      expect(await inMember("get", "deployments,pods", "-o", "name")).toBe("");
    });
    expect(await placed()).toBe("member1 True");
    await eventually(async () => {
      expect(await podsThroughPlane()).toContain("no pods found");
    });
  });
}

/** A command as a process in a place. */
export function start(place: Place, ...command: readonly string[]): RunningProcess {
  const [program = "", ...args] = [...place.under, ...command];
  return startProcess(program, args, { KUBECONFIG: "" });
}

/** Runs it to its end; answers what it printed, and throws that when it fails. */
async function run(place: Place, ...command: readonly string[]): Promise<string> {
  const child = start(place, ...command);
  const code = await child.ended;
  if (code !== 0) throw new Error(`${command.join(" ")}: ${child.output()}`);
  return child.output();
}

async function serverOf(kubeconfig: string): Promise<string> {
  return (await loadKubeconfig({ paths: [kubeconfig] })).cluster.server;
}

/** What a connection to a port meets: `open`, or the error's code. */
async function knock(place: Place, host: string, port: string): Promise<string> {
  const script = `const s = require("node:net").connect(${port}, "${host}");
    s.setTimeout(5000, () => s.destroy(Object.assign(new Error(), { code: "timeout" })));
    s.on("error", (e) => console.log(e.code));
    s.on("connect", () => { console.log("open"); s.destroy(); });`;
  return (await run(place, process.execPath, "-e", script)).trim();
}
