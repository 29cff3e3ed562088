/**
 * Golden stories of failover: a cluster fails, recovers, is drained or leaves, and workloads move or stay.
 *
 * Two workloads with one copy each, which is on m1 at first. Each has one other cluster to go to: which of two is chosen may
 * depend on what members reported when, and runs would end differently for a good reason. For the same reason there is half a
 * minute between what races: a control plane that dies at a write is down for two seconds, and then probes anew.
 */
import type { Fault, PolicyStep, Scenario, Step } from "./scenario.ts";

export const MEMBERS: readonly string[] = ["m1", "m2", "m3"];

type Rules = Partial<PolicyStep>;
type Options = Partial<Omit<Scenario, "name" | "steps">>;

/** A workload that is made on m1 and may go to another cluster from the tenth second on. */
function placed(name: string, other: string, rules: Rules): readonly Step[] {
  const of = { kind: "Deployment", name } as const;
  const policy: PolicyStep = { do: "policy", name, selects: [of], oneCopy: true, ...rules };
  return [
    { at: 0, do: "workload", ...of, replicas: 2 },
    { at: 0, ...policy, clusters: ["m1"] },
    { at: 10, ...policy, clusters: ["m1", other] },
  ];
}

function story(
  name: string,
  rules: Rules,
  steps: readonly Step[],
  options: Options = {},
): Scenario {
  const workloads = [...placed("web", "m2", rules), ...placed("shop", "m3", rules)];
  return {
    name,
    seed: 1,
    members: MEMBERS,
    failover: true,
    faults: [],
    ...options,
    steps: [...workloads, ...steps],
  };
}

/** One that ends as it happens to: who is first decides. */
function race(scenario: Scenario): Scenario {
  return { ...scenario, isRace: true };
}

/** A person taints m1. */
const tainted = (at: number, on = true): Step => ({
  at,
  do: "taint",
  member: "m1",
  effect: "NoExecute",
  on,
});

/** Clusters that are not Ready for so long are tainted; the taint leaves so long after they are. */
export const taintPolicy = (addAfter: number, removeAfter: number): Step => ({
  at: 0,
  do: "taint-policy",
  name: "failed",
  condition: "Ready",
  statuses: ["False", "Unknown"],
  effect: "NoExecute",
  addAfter,
  removeAfter,
});

/** Nobody answers in m1. */
const silent = (from: number, until: number): Fault => ({
  fault: "link",
  link: "m1",
  from,
  until,
  conditions: { down: true },
});

/** New copies take so long to become healthy that the recovery comes first. */
const slowStarts: readonly Fault[] = ["m2", "m3"].map((member) => ({
  fault: "pods",
  member,
  from: 15,
  until: 200,
  kind: "start-late",
  delayMs: 100_000,
}));

const STATE = { "failover.karmada.io/ready": "{ .readyReplicas }" };
const SHORT = { threshold: 10 };

export const failoverStories: readonly Scenario[] = [
  // The cluster is silent for the rest of the story: old copies go only after it has returned.
  story("fail", {}, [taintPolicy(5, 5)], { ...SHORT, faults: [silent(20, 110)] }),
  story("recover-early", {}, [taintPolicy(75, 5)], { ...SHORT, faults: [silent(20, 60)] }),
  story("recover-late", {}, [taintPolicy(5, 5)], {
    ...SHORT,
    faults: [silent(20, 80), ...slowStarts],
  }),
  story("fail-gracefully", { purgeMode: "Gracefully" }, [tainted(20)]),
  story("fail-directly", { purgeMode: "Directly" }, [tainted(20)]),
  // Nothing starts elsewhere before m1 says that its copies are gone, or somebody says that it is off.
  story("fail-directly-silent", { purgeMode: "Directly" }, [taintPolicy(5, 240)], {
    ...SHORT,
    faults: [silent(20, 100)],
  }),
  story(
    "fail-directly-fenced",
    { purgeMode: "Directly" },
    [taintPolicy(5, 60), { at: 80, do: "fence", member: "m1" }],
    { ...SHORT, faults: [{ fault: "member-crash", member: "m1", at: 20, downFor: 100 }] },
  ),
  story("state-preserved", { purgeMode: "Directly", state: STATE }, [tainted(20)], {
    statefulInjection: true,
  }),
  // Two of three clusters: the brake holds until they are back, and nothing has moved. The taint is tolerated for so long that
  // both bear it before the first may go.
  story("mass-failure", { tolerates: { effect: "NoExecute", seconds: 30 } }, [taintPolicy(5, 5)], {
    ...SHORT,
    faults: [{ fault: "mass-failure", members: ["m1", "m2"], from: 20, until: 120 }],
  }),
  story("flap", {}, [taintPolicy(70, 5)], {
    ...SHORT,
    faults: [{ fault: "flap", member: "m1", from: 20, until: 200, downFor: 30, upFor: 60 }],
  }),
  // A control plane that is down for two seconds releases one more, or one less, before the cluster recovers.
  race(story("recover-while-queued", {}, [tainted(20), tainted(21, false)])),
  race(
    story("unjoin-during-failover", { purgeMode: "Gracefully" }, [
      tainted(20),
      { at: 23, do: "unjoin", member: "m1" },
    ]),
  ),
  story("drain", {}, [
    { at: 20, do: "taint", member: "m1", effect: "drain", on: true },
    { at: 90, do: "taint", member: "m1", effect: "drain", on: false },
  ]),
  // Only workloads whose policy says so leave for this taint.
  story("prefer-no-execute", { failoverAfter: 5 }, [
    { at: 0, do: "workload", kind: "ConfigMap", name: "stays" },
    { at: 0, do: "policy", name: "stays", selects: [{ kind: "ConfigMap", name: "stays" }] },
    { at: 20, do: "taint", member: "m1", effect: "PreferNoExecute", on: true },
  ]),
  // What people order: the workloads wait for an approval, leave at the rate that a person set, and return by themselves.
  story("ordered", { approval: true, failback: "30s" }, [
    tainted(20),
    { at: 50, do: "set-rate", perSecond: 0.05, lasts: 60 },
    { at: 60, do: "approve", member: "m1" },
    tainted(120, false),
  ]),
  returnsOneByOne(),
  story("by-priority", { priority: 2 }, [...placed("last", "m2", { priority: 1 }), tainted(20)]),
  story(
    "application-failover",
    { application: { tolerationSeconds: 10, purgeMode: "Directly" } },
    [],
    { faults: [{ fault: "pods", member: "m1", from: 20, until: 90, kind: "crash" }] },
  ),
];

/** Two workloads of one policy return by themselves, one after the other, once the window of the policy has opened. */
function returnsOneByOne(): Scenario {
  const names = ["shop", "web"] as const;
  const selects = names.map((name) => ({ kind: "Deployment", name }) as const);
  const failback = "10s;max=1;window=00:03-00:30";
  const policy: PolicyStep = { do: "policy", name: "all", selects, oneCopy: true, failback };
  return {
    name: "returns-one-by-one",
    seed: 1,
    members: MEMBERS,
    failover: true,
    faults: [],
    steps: [
      ...selects.map((one) => ({ at: 0, do: "workload", ...one, replicas: 2 }) as const),
      { at: 0, ...policy, clusters: ["m1"] },
      { at: 10, ...policy, clusters: ["m1", "m2"] },
      tainted(20),
      tainted(50, false),
      // The window has opened by then.
      { at: 140, do: "workload", kind: "ConfigMap", name: "later" },
    ],
  };
}

/** Twenty workloads leave a cluster. */
export const failoverOf20: Scenario = {
  name: "failover-of-20",
  seed: 1,
  members: MEMBERS,
  failover: true,
  faults: [],
  steps: [
    ...Array.from({ length: 20 }, (_, i) =>
      placed(`web-${String(i + 1).padStart(2, "0")}`, i % 2 === 0 ? "m2" : "m3", {}),
    ).flat(),
    tainted(20),
  ],
};
