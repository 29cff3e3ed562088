/**
 * Every command that can take something away or let workloads leave has guard rails: `--dry-run` shows its plan and changes nothing;
 * without `--yes` the plan stands above one question, and without a terminal nothing is changed. Every command of the program is in
 * one of the tables here, so a new one has to be put into one of them.
 */
import {
  type AnyObject,
  clusterResourceBindings,
  clusters,
  clusterTaintPolicies,
  configMaps,
  evacuationBudgets,
  evacuations,
  evacuationSlices,
  multiClusterIngresses,
  type KubeObject,
  type New,
  remedies,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  secrets,
} from "@lifeboat/api";
import { formatTime } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Ended } from "./error-paths.suite.ts";
import { type HostilePlane, openHostilePlane } from "./hostile-plane.suite.ts";
import { fillSmallWorld } from "./small-world.suite.ts";

// Test files share loaded modules. This one makes its folder when it is loaded, so it is loaded again, and so it is after this file.
vi.resetModules();
afterAll(() => void vi.resetModules());
const { kubeconfig, named, run } = await import("./error-paths.suite.ts");

interface Guarded {
  readonly command: string;
  readonly args: readonly string[];
  /** What the plan names. */
  readonly plan: RegExp;
  /** What the order needs beside the objects that are there. */
  readonly given?: (plane: Client) => Promise<unknown>;
}

const now = (): string => formatTime(createRealClock().now());

/** These are tried here, each on a control plane of its own. */
const GUARDED: readonly Guarded[] = [
  {
    command: "drain",
    args: ["member1", "--timeout", "50ms"],
    plan: /1 workload w\w+ leave member1[^]*Deployment default\/web +member2:2/,
  },
  {
    command: "taint clusters",
    args: ["member1", "gone:NoExecute", "slow:NoExecute"],
    plan: /1 workload w\w+ leave member1[^]*Deployment default\/web +member2:2/,
  },
  {
    command: "taint clusters",
    args: ["member1,member2", "gone:NoExecute"],
    plan: /0 workloads w\w+ leave member1[^]*1 w\w+ be held until a target exists/,
  },
  {
    command: "taint clusters",
    args: ["member1", "gone:NoExecute"],
    plan: /0 workloads w\w+ leave member1, 1 w\w+ wait for an approval[^]*member2:2, once approved/,
    given: (plane) =>
      plane.patch(configMaps, SETTINGS, {
        type: "merge",
        body: { data: { "evacuation-approval": "Required" } },
      }),
  },
  {
    command: "fence",
    args: ["member1"],
    plan: /Deployment default\/web waits for it and starts elsewhere at once/,
    given: (plane) => leaving(plane),
  },
  {
    command: "unjoin",
    args: ["member1", "--wait", "50ms"],
    plan: /1 workload w\w+ leave member1[^]*member2:2/,
  },
  {
    command: "unregister",
    args: ["pull", "--wait", "50ms"],
    plan: /nothing is on cluster\(pull\)/,
    given: (plane) => pullCluster(plane, "pull", "True"),
  },
  {
    command: "failback",
    args: ["--cluster", "member2"],
    plan: /1 workload returns to member2: Deployment default\/web → member2:2/,
    given: (plane) => ranOn(plane, "member2"),
  },
  {
    command: "failback",
    args: ["deployment/web"],
    plan: /deployment\/web goes back to member2:2/,
    given: (plane) => ranOn(plane, "member2"),
  },
  {
    command: "evacuations restore",
    args: ["deployment/web"],
    plan: /deployment\/web goes back to member2:2/,
    given: (plane) => ranOn(plane, "member2"),
  },
  {
    command: "evacuations approve",
    args: ["member1-1"],
    plan: /member1-1: 1 workload leaves member1: Deployment default\/web → member2:2/,
    given: (plane) => evacuated(plane, { approval: "Required" }),
  },
  ...[["member1-1"], ["--all"], ["--cluster", "member1"], ["--namespace", "default"]].map(
    (args): Guarded => ({
      command: "evacuations resume",
      args,
      plan: /Workloads leave at the rate of the fleet( of namespace default)?: 1 in member1-1/,
      given: (plane) => evacuated(plane, {}),
    }),
  ),
  {
    command: "evacuations abandon",
    args: ["member1-1", "deployment/web"],
    plan: /stays on member1: the evacuation member1-1 does not move it any more/,
    given: (plane) => evacuated(plane, {}),
  },
  {
    command: "evacuations agree",
    args: [],
    plan: /pull-a, pull-b count as failed from now on/,
    given: async (plane) => {
      await pullCluster(plane, "pull-a", "Unknown");
      await pullCluster(plane, "pull-b", "Unknown");
    },
  },
  {
    command: "evacuations rate",
    args: ["--set", "5", "--for", "1m", "--reason", "test"],
    plan: /The rate of the whole fleet becomes 5 per second for 1m; it is 0\.5 now/,
  },
  {
    command: "evacuations rate",
    args: ["--set", "0.1", "--for", "1m", "--reason", "test"],
    plan: /the brake of an unhealthy fleet does not\s+count[^]*--at-most N slows down/,
  },
  {
    command: "evacuations rate",
    args: ["--at-most", "0.2", "--for", "1m", "--reason", "test"],
    plan: /becomes at most 0\.2 per second for 1m; it\s+is 0 now/,
    given: (plane) =>
      budget(plane, {
        spec: {
          paused: false,
          rateOverride: {
            perSecond: 0,
            setAt: now(),
            until: "2099-01-01T00:00:00Z",
            reason: "test",
          },
        },
      }),
  },
  {
    command: "evacuations rate",
    args: ["--clear"],
    plan: /the rate becomes 0\.5 per second \(FleetHealthy\); it is 0 now \(SetByPerson\)/,
    given: (plane) =>
      budget(plane, {
        spec: {
          paused: false,
          rateOverride: {
            perSecond: 0,
            setAt: now(),
            until: "2099-01-01T00:00:00Z",
            reason: "test",
          },
        },
      }),
  },
  {
    command: "brake release",
    args: [],
    plan: /Deletions go on without the guard for ten minutes \(21 of 100 Works\)/,
    given: (plane) =>
      budget(plane, {
        spec: { paused: false },
        status: {
          conditions: [
            {
              type: "MassDeletion",
              status: "True",
              reason: "TooManyDeletions",
              message: "21 of 100 Works",
              lastTransitionTime: now(),
            },
          ],
        },
      }),
  },
  {
    command: "remedy block",
    args: ["member1"],
    plan: /1 ingress would send nothing to member1:[^]*default\/shop +member2/,
    given: (plane) =>
      withStatus(plane, multiClusterIngresses, {
        apiVersion: "networking.karmada.io/v1alpha1",
        kind: "MultiClusterIngress",
        metadata: { name: "shop", namespace: "default" },
        spec: { defaultBackend: { service: { name: "shop", port: { number: 80 } } } },
        status: { serviceLocations: [{ name: "shop", clusters: ["member1", "member2"] }] },
      }),
  },
  {
    command: "certs revoke",
    args: ["alice"],
    plan: /Every certificate of alice is void within seconds/,
  },
  {
    command: "token delete",
    args: ["abcdef"],
    plan: /No cluster registers any more with abcdef \(cluster: any, ends: never\)/,
    given: (plane) =>
      plane.create<AnyObject>(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
        type: "bootstrap.kubernetes.io/token",
        stringData: { "token-id": "abcdef", "token-secret": "0123456789abcdef" },
      }),
  },
  {
    command: "policy enable-failover",
    args: [],
    plan: /A cluster that is not Ready for 5m gets the taint/,
  },
];

/** They need more than a control plane: their own tests try them. That they have both flags is tried here. */
const GUARDED_ELSEWHERE: readonly string[] = [
  "certs rotate-ca",
  "uninstall",
  "migrate",
  "adopt",
  "dns confirm",
  "statefulset forget",
  "statefulset recover",
  "statefulset give-up-names",
];

/** They read, add, hold back, or undo: nothing is taken away and nothing leaves by them. */
const HARMLESS: readonly string[] = [
  // Reads.
  ["status", "watch", "history", "explain", "simulate", "plan", "get", "describe", "top", "logs"],
  ["traffic", "version", "completion", "token list", "users list", "notifications list"],
  ["evacuations list", "evacuations show", "evacuations watch", "brake show", "remedy list"],
  ["certs list", "dns records", "dns explain", "dns stanza"],
  // Processes.
  ["up", "manager", "demo", "members", "agent", "detector", "gateway", "dns serve"],
  // They add or renew.
  ["install", "join", "register", "token create", "users add", "certs renew"],
  ["backup", "restore", "notifications test"],
  // Nothing leaves by them: what they hold back or take back stays where it is.
  ["cordon", "uncordon", "evacuations pause", "remedy unblock"],
  // What the user types, and what the application has seen to.
  ["exec", "statefulset let-go"],
  // Simulated members.
  ["member fail", "member heal"],
].flat();

const FLEET = { namespace: "", name: "fleet" };
const SETTINGS = { namespace: "lifeboat-system", name: "settings" };

it("every command is in one of the tables", () => {
  const known = new Set([
    ...GUARDED.map(({ command }) => command),
    ...GUARDED_ELSEWHERE,
    ...HARMLESS,
  ]);
  const all = named.map(([name]) => name);
  expect(all.filter((name) => !known.has(name))).toEqual([]);
  expect([...known].filter((name) => !all.includes(name))).toEqual([]);
});

it.each([...new Set([...GUARDED.map(({ command }) => command), ...GUARDED_ELSEWHERE])])(
  "%s has --dry-run and --yes",
  (name) => {
    const [, leaf] = named.find(([one]) => one === name) ?? [];
    const longs = leaf?.command.options.map(({ long }) => long) ?? [];
    expect(longs).toContain("--dry-run");
    expect(longs).toContain("--yes");
  },
);

describe("on a control plane", () => {
  let plane: HostilePlane;
  beforeEach(async () => {
    plane = await openHostilePlane(fillSmallWorld);
    await prepare(plane.fleet.plane);
  });
  afterEach(() => plane.close());

  it.each(GUARDED)(
    "$command $args shows its plan, asks once, and is carried out with --yes",
    async ({ command, args, plan, given }) => {
      const client = plane.fleet.plane;
      const ask = (...more: readonly string[]): Promise<Ended> =>
        run(...command.split(" "), ...args, ...more, "--kubeconfig", kubeconfig(plane.url));
      const words = ({ stdout, stderr }: Ended): string =>
        // Sentences are broken between words; tables are not.
        `${stdout}${stderr}\n${`${stdout}${stderr}`.replace(/\s+/g, " ")}`;

      await given?.(client);
      const before = await everything(client);
      const asked = await ask();
      expect(asked).toMatchObject({ code: 2 });
      expect(words(asked)).toMatch(plan);
      expect(
        asked.stderr.replace(/\s+/g, " ").match(/There is no terminal to confirm on: add --yes/g),
      ).toHaveLength(1);
      const dry = await ask("--dry-run");
      expect(dry, dry.stderr).toMatchObject({ code: 0 });
      expect(words(dry)).toMatch(plan);
      expect(await everything(client)).toEqual(before);
      const agreed = await ask("--yes");
      expect(agreed.stderr).not.toContain("There is no terminal");
      expect(await everything(client), agreed.stderr).not.toEqual(before);
    },
  );

  it("pausing is not asked about, and can be tried", async () => {
    await evacuated(plane.fleet.plane, {});
    await plane.fleet.plane.patch(evacuationBudgets, FLEET, {
      type: "merge",
      body: { spec: { paused: false } },
    });
    const ask = (...args: readonly string[]): Promise<Ended> =>
      run("evacuations", "pause", ...args, "--kubeconfig", kubeconfig(plane.url));
    const before = await everything(plane.fleet.plane);
    const dry = await ask("--all", "--dry-run");
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.stdout).toContain("Nothing more leaves: 1 in member1-1.");
    expect(await everything(plane.fleet.plane)).toEqual(before);
    expect(await ask("--all")).toMatchObject({ code: 0, stdout: "all evacuations paused\n" });
  });

  it("the end of a rate that is higher than the fleet's own is not asked about", async () => {
    const until = "2099-01-01T00:00:00Z";
    const rateOverride = { perSecond: 5, setAt: now(), until, reason: "test" };
    await budget(plane.fleet.plane, { spec: { paused: false, rateOverride } });
    const file = kubeconfig(plane.url);
    const ended = await run("evacuations", "rate", "--clear", "--kubeconfig", file);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain("the fleet decides about the rate again");
  });
});

/** Everything that these commands could change, in the versions that are stored. */
async function everything(client: Client): Promise<readonly string[]> {
  const kinds: readonly Resource[] = [
    clusters,
    clusterTaintPolicies,
    clusterResourceBindings,
    resourceBindings,
    evacuations,
    evacuationBudgets,
    remedies,
    secrets,
    configMaps,
  ] as unknown as readonly Resource[];
  const lists = await Promise.all(kinds.map((kind) => client.list(kind)));
  return lists.flatMap(({ items }) =>
    items.map(({ kind, metadata }) => [kind, metadata.name, metadata.resourceVersion].join(" ")),
  );
}

/** member2 takes workloads, and web is claimed by no policy that could be gone. */
async function prepare(client: Client): Promise<void> {
  for (const name of ["member1", "member2"]) {
    const key = { namespace: "", name };
    const found = await client.get(clusters, key);
    const room = { cpu: "100", memory: "100Gi", pods: "100" };
    const status = { ...found.status, resourceSummary: { allocatable: room, allocated: {} } };
    await client.update(clusters, { ...found, status }, { subresource: "status" });
  }
  await changeBinding(client, ({ metadata, spec }) => ({
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, "propagationpolicy.karmada.io/permanent-id": "p" },
    },
    spec: {
      ...spec,
      placement: {
        replicaScheduling: {
          replicaSchedulingType: "Divided" as const,
          replicaDivisionPreference: "Aggregated" as const,
        },
      },
    },
  }));
}

const WEB = { namespace: "default", name: "web-deployment" };

async function changeBinding(
  client: Client,
  change: (binding: ResourceBinding) => Pick<ResourceBinding, "metadata" | "spec">,
): Promise<void> {
  const found = await client.get(resourceBindings, WEB);
  await client.update(resourceBindings, { ...found, ...change(found) });
}

/** It leaves member1 in mode Directly, and waits for the proof that member1 is off. */
function leaving(client: Client): Promise<void> {
  const task = {
    fromCluster: "member1",
    replicas: 2,
    purgeMode: "Directly" as const,
    reason: "TaintUntolerated",
    producer: "TaintManager",
    creationTimestamp: now(),
  };
  return changeBinding(client, ({ metadata, spec }) => ({
    metadata,
    spec: { ...spec, clusters: [], gracefulEvictionTasks: [task] },
  }));
}

/** It ran there before its last eviction. */
function ranOn(client: Client, name: string): Promise<void> {
  return changeBinding(client, ({ metadata, spec }) => ({
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        "lifeboat.dev/former-result": JSON.stringify([{ name, replicas: 2 }]),
      },
    },
    spec,
  }));
}

const FAILED = { key: "failed", effect: "NoExecute" as const, timeAdded: "2026-01-01T00:00:00Z" };

/** An evacuation of member1 with an entry for web, paused by a person, in a paused fleet. */
async function evacuated(client: Client, entry: object): Promise<void> {
  const member = await client.get(clusters, { namespace: "", name: "member1" });
  await client.update(clusters, { ...member, spec: { ...member.spec, taints: [FAILED] } });
  await budget(client, {
    spec: { paused: true, pausedClusters: ["member1"], pausedNamespaces: ["default"] },
  });
  const { metadata } = await client.get(resourceBindings, WEB);
  await withStatus(client, evacuations, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "member1-1" },
    spec: { cluster: "member1", paused: true },
    status: { phase: "Paused", taints: [{ taint: FAILED, slices: 1, recorded: true }] },
  });
  await client.create(evacuationSlices, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationSlice",
    metadata: { name: "member1-1-0" },
    spec: {
      evacuation: "member1-1",
      taint: FAILED,
      ordinal: 0,
      entries: [
        {
          binding: { kind: "ResourceBinding", ...WEB, uid: metadata.uid },
          resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          lane: "Workload",
          ...entry,
        },
      ],
    },
  });
}

function budget(client: Client, parts: object): Promise<void> {
  return withStatus(client, evacuationBudgets, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationBudget",
    metadata: { name: "fleet" },
    ...parts,
  });
}

async function pullCluster(client: Client, name: string, status: string): Promise<void> {
  await withStatus(client, clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Pull" },
    status: {
      conditions: [
        {
          type: "Ready",
          status,
          reason: "ClusterStatusUnknown",
          message: "",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  });
}

async function withStatus<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: object,
): Promise<void> {
  const { status, ...rest } = object as { readonly status?: object };
  const made = await client.create(resource, rest as New<T>);
  if (status !== undefined)
    await client.update(resource, { ...made, status }, { subresource: "status" });
}
