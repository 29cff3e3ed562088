import type { Cluster, ClusterTaintPolicy, Evacuation, ResourceBinding } from "@lifeboat/api";
import { formatMicroTime, type Instant, instantOf } from "@lifeboat/base";
import type { Lease } from "@lifeboat/kit";
import { describe, expect, it } from "vitest";
import { NO_PROBES } from "./failing-probes.ts";
import { type HiddenPart, statusLines, type StatusView } from "./status-text.ts";

const now = instantOf(Date.UTC(2026, 0, 1));
const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

function cluster(name: string, taints: Cluster["spec"]["taints"] = []): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { ...metadata, name },
    spec: { syncMode: "Push", taints },
    status: {
      conditions: [
        { type: "Ready", status: "True", reason: "", message: "", lastTransitionTime: "" },
      ],
    },
  };
}

const policy = (name: string, spec: ClusterTaintPolicy["spec"]): ClusterTaintPolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterTaintPolicy",
  metadata: { ...metadata, name },
  spec,
});

const evicting = policy("lost", {
  matchConditions: [
    { conditionType: "Ready", operator: "NotIn", statusValues: ["True"] },
    { conditionType: "Link", operator: "In", statusValues: ["False", "Unknown"] },
  ],
  taintsToAdd: [
    { key: "lost", effect: "NoExecute", addOnMatchSeconds: 300, removeOnMismatchSeconds: 180 },
  ],
});
const other = policy("other", {
  addOnConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["False"] }],
  taints: [{ key: "slow", value: "x", effect: "NoSchedule" }],
});

const view = (changes: Partial<StatusView> = {}): StatusView => ({
  leader: undefined,
  settings: { "feature-gates": "Failover=true,StatefulFailoverInjection=false" },
  clusters: [
    cluster("eu-1", [{ key: "lost", effect: "NoExecute" }]),
    cluster("eu-2"),
    cluster("us"),
  ],
  policies: [evicting, other],
  evacuations: [],
  bindings: [],
  budget: undefined,
  brake: "armed: it stops a mass deletion",
  trafficBrake: undefined,
  nameServers: [],
  probes: NO_PROBES,
  ...changes,
});

function binding(name: string, changes: Partial<ResourceBinding>): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { ...metadata, name },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name },
      conflictResolution: "Abort",
    },
    ...changes,
  };
}

const text = (changes: Partial<StatusView> = {}): string =>
  statusLines(view(changes), now).join("\n");

it("what detectors find amiss is shown, also without a Remedy; what others report is not", () => {
  const finds = (name: string, status: string, reason: string): Cluster => {
    const known = cluster(name);
    const found = { type: "ServiceDomainNameResolutionReady", status, reason } as const;
    const conditions = [{ ...found, message: "", lastTransitionTime: "" }] as never;
    return { ...known, status: { ...known.status, conditions } };
  };
  const clusters = [
    finds("eu-2", "False", "DetectorFails"),
    finds("eu-1", "False", "DetectorFails"),
    finds("us", "Unknown", "DetectorSilent"),
    finds("asia", "True", "DetectorSucceeds"),
    finds("south", "False", "Person"),
  ];
  const lines = statusLines(view({ clusters }), now).filter((one) => one.startsWith("Detectors"));
  expect(lines).toEqual([
    "Detectors ServiceDomainNameResolutionReady is False in eu-1, eu-2",
    "Detectors ServiceDomainNameResolutionReady is Unknown in us",
  ]);
});

describe("what the user may not read", () => {
  const hidden = (...parts: readonly HiddenPart[]): string => text({ hidden: new Set(parts) });

  it("is named, and not told as if it were nothing", () => {
    const page = hidden("workloads", "evacuations", "guards");
    expect(page).toContain("you may not see workloads and decisions");
    expect(page).toMatch(
      /^Hidden {4}you may not read bindings, evacuations, the EvacuationBudget:/m,
    );
    expect(page).toMatch(/^us +\? +\? +takes work +ready$/m);
    expect(page).toMatch(/^Guard {5}not known: you may not read it$/m);
    expect(page).toContain("Evacuations are not shown: you may not list them.");
    expect(page).not.toContain("No evacuation is under way");
  });

  it("of the settings leaves open whether anything may move", () => {
    const page = hidden("settings");
    for (const label of ["State", "Gates", "Rate"])
      expect(page).toMatch(new RegExp(`^${label} +not known`, "m"));
    expect(page).not.toContain("no controllers have run");
  });

  it("of the clusters leaves nothing to judge workloads by", () => {
    const page = text({
      hidden: new Set(["clusters"]),
      clusters: [],
      bindings: [binding("web", {})],
    });
    expect(page).toContain("The clusters are not shown");
    expect(page).not.toMatch(/^Short|no cluster is joined|lifeboat join/m);
  });

  it("of the leases leaves open which load balancers serve, and what name servers hold", () => {
    const traffic = { leases: [], ingresses: 2 };
    const page = text({ traffic, hidden: new Set(["leases"]) });
    expect(page).toMatch(/^Traffic {3}2 ingresses; which load balancers serve is not known/m);
    expect(page).not.toContain("no load balancer of ours serves");
    expect(page).toContain("you may not see decisions");
    expect(page).not.toMatch(/^WELL/);
  });

  it("of the ingresses is not a number of them", () => {
    const lease = { metadata: { name: "one" }, spec: {} } as unknown as Lease;
    const traffic = { leases: [lease], ingresses: 0 };
    const page = text({ traffic, hidden: new Set(["ingresses"]) });
    expect(page).toMatch(/^Traffic {3}ingresses that you may not read/m);
    expect(page).not.toContain("0 ingresses");
  });

  it("of the notices is not that none was sent", () => {
    const settings = { "feature-gates": "", notify: "https://hooks.example.com" };
    expect(text({ settings })).toContain("nothing was sent yet");
    const page = text({ settings, hidden: new Set(["notices"]) });
    expect(page).toMatch(/^Notices {3}not known: you may not read it$/m);
    expect(page).not.toContain("nothing was sent yet");
  });

  it("changes nothing for a user who may read everything", () => {
    expect(hidden()).toBe(text());
  });
});

describe("what needs a person", () => {
  const ready = { type: "Ready", status: "False" as const, reason: "", message: "" };
  const status = { conditions: [{ ...ready, lastTransitionTime: "" }] };
  const gone = { ...cluster("eu-1"), status };
  const task = { fromCluster: "eu-1", purgeMode: "Directly" as const, reason: "", producer: "" };
  const leaving = (name: string): ResourceBinding => {
    const { spec } = binding(name, {});
    return binding(name, { spec: { ...spec, gracefulEvictionTasks: [task] } });
  };

  it("names the cluster whose end must be proven, and how", () => {
    const bindings = Array.from({ length: 7 }, (_, i) => leaving(`w${i}`));
    expect(text({ clusters: [gone], bindings })).toContain(
      [
        "Waits     is eu-1 really off? Deployment default/w0, Deployment default/w1,",
        "          Deployment default/w2 and 4 more wait for it",
        "          → lifeboat fence eu-1",
      ].join("\n"),
    );
  });

  it("says nothing of it while the cluster answers, or once it is fenced", () => {
    const bindings = [leaving("w0")];
    expect(text({ clusters: [cluster("eu-1")], bindings })).not.toContain("lifeboat fence");
    const annotations = { "lifeboat.dev/fenced": "{}" };
    const fenced = { ...gone, metadata: { ...gone.metadata, annotations } };
    expect(text({ clusters: [fenced], bindings })).not.toContain("lifeboat fence");
  });

  it("says where the last copy is of what has no cluster", () => {
    const status = { aggregatedStatus: [{ clusterName: "eu-1" }] };
    const { spec } = binding("web", {});
    const needed = { ...spec, requiredBy: [{ name: "nowhere", clusters: [] }] };
    const bindings = [binding("web", { status, spec: needed })];
    expect(text({ bindings })).toContain(
      [
        "Stuck     Deployment default/web has no cluster; its copy on eu-1 stays until it",
        "          has one",
      ].join("\n"),
    );
  });
});

describe("federated StatefulSets", () => {
  const federated = (name: string, found: "True" | "False"): ResourceBinding => {
    const one = binding(name, {});
    const annotations = { "lifeboat.dev/federated-shares": "{}" };
    const [type, reason] = ["RolloutComplete", "RolloutStopped"];
    const condition = { type, status: found, reason, message: "member2 is not well." };
    return {
      ...one,
      metadata: { ...one.metadata, annotations },
      status: { conditions: [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }] },
    };
  };

  it("are counted, and those that report something are named", () => {
    expect(text({ bindings: [binding("web", {})] })).not.toContain("Sets ");
    expect(text({ bindings: [federated("a", "True")] })).toContain(
      "Sets      1 federated StatefulSet, all as they should be",
    );
    expect(text({ bindings: [federated("a", "True"), federated("b", "False")] })).toContain(
      [
        "Sets      2 federated StatefulSets, of which 1 reports something",
        "Sets      default/b: RolloutStopped. member2 is not well.",
      ].join("\n"),
    );
    const many = Array.from({ length: 30 }, (_none, n) => federated(`s${n}`, "False"));
    expect(text({ bindings: many })).toMatch(/and \d+ more: lifeboat get statefulsets/);
  });
});

describe("a cluster that is being deleted", () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const leaving = (message: string | undefined): Cluster => {
    const { conditions = [] } = cluster("eu-1").status ?? {};
    const condition = { type: "Leaving", status: "True" as const, reason: "", message: "" };
    const told = { ...condition, message: message ?? "", lastTransitionTime: "" };
    return {
      ...cluster("eu-1"),
      metadata: { ...metadata, name: "eu-1", deletionTimestamp },
      status: { conditions: message === undefined ? conditions : [...conditions, told] },
    };
  };

  it("is said to leave, with what it waits for", () => {
    const clusters = [leaving("1 binding still needs this cluster")];
    expect(text({ clusters })).toContain("Leaving   eu-1: 1 binding still needs this cluster\n");
    expect(text({ clusters })).toMatch(/eu-1 +- +\? +leaving +ready/);
    expect(text({ clusters: [leaving(undefined)] })).toContain("eu-1: it is being deleted");
  });
});

describe("statusLines", () => {
  it("says what failover may do, what makes it act, and what it does", () => {
    expect(statusLines(view(), now)).toEqual([
      "DEGRADED: no workloads, 1 of 3 clusters failed",
      "",
      "CLUSTER  WORKLOADS  FREE  ROLE        HEALTH",
      "eu-1     -          ?     failed      ready, lost:NoExecute",
      "eu-2     -          ?     takes work  ready",
      "us       -          ?     takes work  ready",
      "",
      "State     Quiet: All clusters count as Ready, and nothing has to move.",
      "Gates     Failover on, StatefulFailoverInjection off",
      "Fleet     3 clusters, 1 failed (33 %)",
      "Rate      0.5/s; 0/s above 55 % failed. FleetHealthy: Enough of the fleet is",
      "          healthy: workloads move at the configured rate.",
      "Guard     deletion guard armed: it stops a mass deletion",
      "",
      "A cluster is failed when Ready is not True and Link is False or Unknown for 5m.",
      "",
      "TAINT POLICY  WHAT IT ADDS",
      "lost          lost:NoExecute when Ready is not True and Link is False or Unknown",
      "              for 5m",
      "other         slow=x:NoSchedule when Ready is False",
      "",
      "No evacuation is under way.",
    ]);
  });

  it.each([
    [
      "the gate is off",
      { settings: { "feature-gates": "Failover=false" } },
      "gate Failover is off",
    ],
    ["no policy evicts", { policies: [other] }, "no policy marks clusters as failed"],
    [
      "clusters register, and another process signs",
      { settings: { "feature-gates": "", registration: "approved" } },
      "by a token; kube-controller-manager signs certificates",
    ],
    [
      "nothing signs",
      { settings: { "feature-gates": "", registration: "approved" }, waiting: 1 },
      "request waits for a signature",
    ],
    ["nothing ever ran", { settings: undefined }, "no controllers have run"],
    ["there are no clusters", { clusters: [] }, "No clusters are joined"],
    [
      "most of a small fleet is down",
      { clusters: [...view().clusters.slice(0, 2), ...view().clusters.slice(0, 1)] },
      "0/s above 55 % failed. FleetTooUnhealthy",
    ],
    [
      "a person empties a cluster",
      {
        clusters: [cluster("eu-1", [{ key: "lifeboat.dev/drain", effect: "NoExecute" as const }])],
      },
      "1 cluster, 1 drained, 0 failed (0 %)",
    ],
    [
      "the configured rate is another",
      { settings: { "feature-gates": "", "resource-eviction-rate": "7" } },
      "7/s; 0/s above 55 % failed",
    ],
    [
      "the fleet is large",
      { clusters: Array.from({ length: 11 }, (_, i) => cluster(`c${i}`)) },
      "0.5/s; 0.1/s above 55 % failed",
    ],
    [
      "the threshold is another",
      { settings: { "feature-gates": "", "unhealthy-cluster-threshold": "0.4" } },
      "0.5/s; 0/s above 40 % failed",
    ],
  ] as [string, Partial<StatusView>, string][])("says so when %s", (_what, changes, expected) => {
    expect(text(changes)).toContain(expected);
  });

  const down = (name: string): Cluster => ({
    ...cluster(name),
    status: {
      conditions: [
        {
          type: "Ready",
          status: "False",
          reason: "",
          message: "",
          lastTransitionTime: "2025-12-31T23:55:00Z",
        },
      ],
    },
  });

  it("does not say that workloads move while every cluster is down, and how old its knowledge is (17.15)", () => {
    const bindings = [binding("web", { status: { aggregatedStatus: [{ clusterName: "us" }] } })];
    const said = text({ clusters: [down("eu-1"), down("eu-2"), down("us")], bindings });
    expect(said).toMatch(/^State +EverythingDown: No cluster is Ready, /m);
    expect(said).toContain("3 clusters, 3 not Ready, 0 failed (0 %)");
    expect(said).not.toContain("workloads move");
    expect(said).toContain(
      "Stale     the status of one copy on us is 5m old: the cluster does not answer",
    );
  });

  it.each([
    ["the gate is off", { settings: { "feature-gates": "Failover=false" } }, "GateOff: Nothing"],
    [
      "all is paused",
      { budget: { spec: { paused: true } } as unknown as StatusView["budget"] },
      "AllPaused: Nothing",
    ],
  ] as [string, Partial<StatusView>, string][])(
    "says in its line State that nothing moves when %s (17.15)",
    (_what, changes, expected) => {
      expect(text(changes)).toMatch(new RegExp(`^State +${expected}`, "m"));
      expect(text(changes)).toContain("FleetHealthy, once");
    },
  );

  it("lists evacuations that are not over, and counts the others", () => {
    const evacuation = (name: string, finishedAt?: string): Evacuation => ({
      apiVersion: "lifeboat.dev/v1alpha1",
      kind: "Evacuation",
      metadata: { ...metadata, name },
      spec: { cluster: "eu-1", paused: false },
      status: { phase: "Held", ...(finishedAt === undefined ? {} : { finishedAt }) },
    });
    const evacuations = [evacuation("eu-1-1", "2026-01-01T00:00:00Z"), evacuation("eu-1-2")];
    expect(text({ evacuations })).toMatch(/eu-1-2 +Held/);
    expect(text({ evacuations })).not.toMatch(/eu-1-1/);
    expect(text({ evacuations })).toContain("One evacuation is over: `lifeboat evacuations`");
  });

  it("stays within 80 columns whatever the names are", () => {
    const long = "x".repeat(48);
    const taints = [{ key: `${"k".repeat(60)}/${"k".repeat(60)}`, effect: "NoExecute" as const }];
    const task = { fromCluster: long, purgeMode: "Directly" as const, reason: "", producer: "" };
    const workload = (name: string): ResourceBinding => {
      const { spec } = binding(name, {});
      return binding(name, { spec: { ...spec, replicas: 1, gracefulEvictionTasks: [task] } });
    };
    const unready = {
      type: "Ready",
      status: "False" as const,
      reason: "R".repeat(90),
      message: "",
    };
    const silent = {
      ...cluster(long, taints),
      status: { conditions: [{ ...unready, lastTransitionTime: "" }] },
    };
    const changes = {
      clusters: [silent, cluster("us", taints)],
      policies: [policy(long, evicting.spec)],
      bindings: Array.from({ length: 9 }, (_, i) => workload(`${"w".repeat(240)}${i}`)),
    };
    for (const line of text(changes).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe("which replica leads", () => {
  const lease = (spec: Lease["spec"]): Lease =>
    ({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: {}, spec }) as Lease;
  const at = (ago: number): string => formatMicroTime((now - ago) as Instant);
  const held = {
    holderIdentity: "host-a_00000000-0000-4000-8000-000000000000",
    leaseDurationSeconds: 15,
    acquireTime: at(180_000),
  };

  it.each<[string, Lease["spec"], string]>([
    ["one", { ...held, renewTime: at(2000) }, "host-a, for 3m"],
    [
      "none any more",
      { ...held, renewTime: at(60_000) },
      "none: host-a renewed the Lease 60s ago and has not since",
    ],
    [
      "none, after a stop in order",
      { ...held, holderIdentity: "", renewTime: at(0) },
      "none: no replica of `lifeboat manager` holds the Lease",
    ],
    [
      "none, by a Lease without a spec",
      undefined,
      "none: no replica of `lifeboat manager` holds the Lease",
    ],
  ])("%s", (_name, spec, text) => {
    expect(
      statusLines(view({ leader: lease(spec) }), now)
        .join(" ")
        .replace(/\s+/g, " "),
    ).toContain(`Leader ${text}`);
  });

  it("is not shown where one process runs the controllers", () => {
    expect(statusLines(view(), now).join("\n")).not.toContain("Leader");
    expect(statusLines(view(), now).join("\n")).not.toContain("Replicas");
  });

  it("and how replicas share out members, without those that are gone", () => {
    const replica = (host: string, report: string, ago: number): Lease => {
      const holderIdentity = `${host}_00000000-0000-4000-8000-000000000000`;
      const one = lease({ ...held, holderIdentity, renewTime: at(ago) });
      const annotations = { "lifeboat.dev/replica-report": report };
      return { ...one, metadata: { ...one.metadata, annotations } };
    };
    const replicas = [
      replica("host-b", '{"members":0,"isBlind":true}', 2000),
      replica("host-a", '{"members":3,"ceded":["eu-1"]}', 2000),
      replica("host-c", '{"members":4}', 60_000),
      replica("host-d", "broken", 0),
    ];
    const text = statusLines(view({ replicas }), now).join(" ").replace(/\s+/g, " ");
    expect(text).toContain(
      "Replicas members are shared out: host-a 3 members (cannot reach eu-1); " +
        "host-b none: it reaches too few members; host-d 0 members",
    );
    expect(text).not.toContain("host-c");
  });
});

describe("the servers of the federation's names", () => {
  const state = { zone: "example.com", federation: "f", ttl: 5, listen: "127.0.0.1:53", names: 37 };
  const server = { instance: "one", state, leaseSeconds: 60 };
  const shown = (seconds: number, more: object = {}): string =>
    statusLines(
      view({
        nameServers: [
          {
            ...server,
            renewTime: formatMicroTime((now - seconds * 1000) as Instant),
            state: { ...state, ...more },
          },
        ],
      }),
      now,
    )
      .join(" ")
      .replace(/\s+/g, " ");

  it("are shown with what they serve, what they hold and what clashes", () => {
    expect(shown(5)).toContain("Names 37 of f.svc.example.com, served by one on 127.0.0.1:53");
    expect(shown(5, { held: "a change is held" })).toContain("one: a change is held");
    expect(shown(5, { clashes: ["a is the name of b"] })).toContain("a is the name of b");
  });

  it("are shown as silent when their Lease has ended, and not at all when there are none", () => {
    expect(shown(3600)).toContain("one on 127.0.0.1:53 last reported");
    expect(statusLines(view(), now).join("\n")).not.toContain("Names");
  });
});

describe("load balancers", () => {
  const leaseOf = (name: string, agoMs: number): Lease => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...metadata, name },
    spec: { leaseDurationSeconds: 15, renewTime: formatMicroTime((now - agoMs) as Instant) },
  });
  it.each([
    [{ leases: [], ingresses: 0 }, undefined],
    [{ leases: [], ingresses: 2 }, "2 ingresses, and no load balancer of ours serves"],
    [
      { leases: [leaseOf("one", 5000), leaseOf("two", 60_000)], ingresses: 1 },
      "one ingress, served by one",
    ],
  ])("%j", (traffic, text) => {
    const lines = statusLines(view({ traffic }), now).join("\n");
    if (text === undefined) expect(lines).not.toContain("Traffic");
    else expect(lines).toContain(`Traffic   ${text}`);
  });
});
