/** The rules of D2 to D5 about taint policies, one by one. */
import type { Cluster, ClusterTaintPolicy } from "@lifeboat/api";
import { addMs, type Instant, instantOf, plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { parseTaintRecord } from "./record.ts";
import { decideTaints, type PassedState, type TaintPlan } from "./taints.ts";
import { TAINT_POLICIES } from "../../well-known.ts";

const START = instantOf(Date.UTC(2026, 0, 1));
const at = (seconds: number): Instant => addMs(START, seconds * 1000);

type Spec = ClusterTaintPolicy["spec"];
const NOT_READY = { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] };
const TAINT = {
  key: "down",
  effect: "NoExecute",
  addOnMatchSeconds: 300,
  removeOnMismatchSeconds: 180,
};

function policy(spec: Partial<Spec>, metadata: Record<string, unknown> = {}): ClusterTaintPolicy {
  const name = (metadata["name"] as string | undefined) ?? "p";
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...metadata,
    },
    spec,
  };
}

const windowed = (extra: Partial<Spec> = {}): Partial<Spec> =>
  ({ matchConditions: [NOT_READY], taintsToAdd: [TAINT], ...extra }) as Partial<Spec>;

/** A cluster whose taints and record follow the plans, as the controller would make them. */
class World {
  taints: readonly Record<string, unknown>[] = [];
  record: string | undefined;
  conditions: readonly { type: string; status: string; lastTransitionTime: string }[] = [];
  policies: readonly ClusterTaintPolicy[] = [];
  failover = true;
  labels: Record<string, string> = {};
  #passed: PassedState[] = [];
  #unwatched = true;

  condition(type: string, status: string, seconds: number): void {
    this.#passed.push({ at: at(seconds), conditions: this.conditions });
    const others = this.conditions.filter((one) => one.type !== type);
    this.conditions = [...others, { type, status, lastTransitionTime: `t${seconds}` }];
  }

  restart(): void {
    this.#unwatched = true;
    this.#passed = [];
  }

  look(seconds: number): TaintPlan {
    const cluster = {
      metadata: {
        name: "eu-1",
        labels: this.labels,
        ...(this.record === undefined ? {} : { annotations: { [TAINT_POLICIES]: this.record } }),
      },
      spec: { taints: this.taints },
      status: { conditions: this.conditions },
    } as unknown as Cluster;
    const passed = this.#passed.slice(1);
    const plan = decideTaints(
      {
        cluster,
        policies: this.policies,
        passed,
        unwatched: this.#unwatched,
        failover: this.failover,
      },
      plainMoment(at(seconds)),
    );
    this.#unwatched = false;
    this.#passed = [];
    for (const command of plan.commands) {
      this.taints = command.taints;
      this.record = command.record;
    }
    return plan;
  }

  get ids(): readonly string[] {
    return this.taints.map(({ key, effect }) => `${String(key)}:${String(effect)}`);
  }
}

function world(...policies: readonly ClusterTaintPolicy[]): World {
  const made = new World();
  made.policies = policies;
  made.condition("Ready", "True", 0);
  made.look(0);
  return made;
}

describe("a policy with windows", () => {
  it("adds its taint when its conditions have matched for the whole window, and returns when to check again", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 10);
    expect(w.look(10)).toMatchObject({ reason: "Remembered", checkAgainAt: at(310) });
    expect(w.look(309.999)).toMatchObject({ reason: "Waiting", commands: [] });
    const plan = w.look(310);
    expect(plan.reason).toBe("TaintsChanged");
    expect(w.taints).toEqual([
      { key: "down", effect: "NoExecute", timeAdded: "2026-01-01T00:05:10Z" },
    ]);
    expect(plan.events).toMatchObject([{ reason: "TaintClusterSucceed" }]);
    expect(w.look(311)).toMatchObject({ reason: "Settled", commands: [], events: [] });
  });

  it("removes it when they have not matched for the other window", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    w.condition("Ready", "True", 400);
    expect(w.look(400).checkAgainAt).toBe(at(580));
    w.look(579);
    expect(w.ids).toEqual(["down:NoExecute"]);
    w.look(580);
    expect(w.ids).toEqual([]);
  });

  it("holds its window across False to Unknown, which both match", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.condition("Ready", "Unknown", 200);
    w.look(200);
    w.look(300);
    expect(w.ids).toEqual(["down:NoExecute"]);
  });

  it("begins the window again after a moment of mismatch that fell between two checks", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.condition("Ready", "True", 100);
    w.condition("Ready", "False", 101);
    expect(w.look(102).checkAgainAt).toBe(at(402));
    w.look(400);
    expect(w.ids).toEqual([]);
  });

  it("goes on with its window after a restart", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.restart();
    expect(w.look(250).checkAgainAt).toBe(at(300));
  });

  it("begins again when the conditions changed while no process watched, though they match again", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.condition("Ready", "True", 100);
    w.condition("Ready", "False", 110);
    w.restart();
    expect(w.look(250).checkAgainAt).toBe(at(550));
  });

  it("begins its window at the policy's creation, and again at an edit", () => {
    const w = world();
    w.condition("Ready", "False", 0);
    w.look(0);
    w.policies = [policy(windowed())];
    expect(w.look(1000).checkAgainAt).toBe(at(1300));
    w.policies = [policy(windowed(), { generation: 2 })];
    expect(w.look(1200).checkAgainAt).toBe(at(1500));
  });

  it("takes a cluster that leaves its target for a mismatch", () => {
    const target = { labelSelector: { matchLabels: { zone: "a" } } };
    const w = world();
    w.labels = { zone: "a" };
    w.policies = [policy(windowed({ targetCluster: target }))];
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    w.labels = {};
    expect(w.look(400).checkAgainAt).toBe(at(580));
    w.look(580);
    expect(w.ids).toEqual([]);
    expect(w.record).toBeUndefined();
  });

  it("leaves no trace on clusters it does not mean", () => {
    const w = world(policy(windowed({ targetCluster: { clusterNames: ["other"] } })));
    expect(w.record).toBeUndefined();
  });

  it("without conditions always wants its taints", () => {
    const w = world(policy({ taintsToAdd: [{ ...TAINT, addOnMatchSeconds: 1 }] } as Partial<Spec>));
    w.look(1);
    expect(w.ids).toEqual(["down:NoExecute"]);
  });

  it("does not match, In nor NotIn, by a condition that the cluster does not have", () => {
    for (const operator of ["In", "NotIn", "Exists"]) {
      const w = world(
        policy(
          windowed({
            matchConditions: [{ conditionType: "Dns", operator, statusValues: ["False"] }] as never,
          }),
        ),
      );
      w.look(1000);
      expect(w.ids).toEqual([]);
    }
  });
});

describe("provenance", () => {
  it("removes the taints of a policy at once when it is deleted, or when it drops them", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    w.policies = [
      policy(windowed({ taintsToAdd: [{ ...TAINT, key: "other" }] as never }), { generation: 2 }),
    ];
    w.look(301);
    expect(w.ids).toEqual([]);
    w.look(601);
    expect(w.ids).toEqual(["other:NoExecute"]);
    w.policies = [];
    w.look(602);
    expect(w.ids).toEqual([]);
    expect(w.record).toBeUndefined();
  });

  it("keeps a taint that two policies want until neither does", () => {
    const both = [policy(windowed(), { name: "a" }), policy(windowed(), { name: "b" })];
    const w = world(...both);
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    w.policies = both.slice(1);
    w.look(301);
    expect(w.ids).toEqual(["down:NoExecute"]);
    w.policies = [];
    w.look(302);
    expect(w.ids).toEqual([]);
  });

  it("never touches a taint that another writer set, or whose value another writer changed", () => {
    const w = world(policy(windowed()));
    const theirs = { key: "down", effect: "NoExecute", value: "mine", timeAdded: "x" };
    w.taints = [theirs];
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    w.policies = [];
    w.look(301);
    expect(w.taints).toEqual([theirs]);
    w.taints = [];
    w.policies = [policy(windowed())];
    w.look(302);
    w.look(602);
    const changed = { ...w.taints[0], value: "changed" };
    w.taints = [changed];
    w.look(603);
    w.policies = [];
    w.look(604);
    expect(w.taints).toEqual([changed]);
  });

  it("leaves a taint off that a person removed, until the conditions stop matching once", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    w.taints = [];
    expect(w.look(301).events).toMatchObject([{ reason: "TaintRemovedByHand" }]);
    expect(w.look(302).events).toEqual([]);
    w.restart();
    w.look(5000);
    expect(w.ids).toEqual([]);
    w.condition("Ready", "True", 5001);
    w.look(5001);
    w.condition("Ready", "False", 5002);
    w.look(5002);
    w.look(5302);
    expect(w.ids).toEqual(["down:NoExecute"]);
  });

  it("keeps a taint's time, and changes its value when the policy does", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    const [before] = w.taints;
    w.policies = [
      policy(windowed({ taintsToAdd: [{ ...TAINT, value: "v" }] as never }), { generation: 2 }),
    ];
    w.look(400);
    expect(w.taints).toEqual([{ ...before, value: "v" }]);
  });

  it("takes taints of a record that cannot be read for those of another writer", () => {
    for (const record of ["", "{", "[]", '{"u":1}', '{"uid-p":{"added":3}}']) {
      const w = world();
      w.taints = [{ key: "down", effect: "NoExecute" }];
      w.record = record;
      w.look(0);
      expect(w.ids).toEqual(["down:NoExecute"]);
    }
  });
});

describe("a policy without windows", () => {
  const plain = (extra: Partial<Spec> = {}): Partial<Spec> =>
    ({
      addOnConditions: [{ ...NOT_READY }],
      removeOnConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["True"] }],
      taints: [{ key: "down", effect: "NoSchedule" }],
      ...extra,
    }) as Partial<Spec>;

  it("adds at once, and removes only when its other conditions match", () => {
    const w = world(
      policy(
        plain({
          removeOnConditions: [
            { conditionType: "Ok", operator: "In", statusValues: ["True"] },
          ] as never,
        }),
      ),
    );
    w.condition("Ready", "False", 1);
    w.look(1);
    expect(w.ids).toEqual(["down:NoSchedule"]);
    w.condition("Ready", "True", 2);
    w.look(2);
    expect(w.ids).toEqual(["down:NoSchedule"]);
    w.condition("Ok", "True", 3);
    w.look(3);
    expect(w.ids).toEqual([]);
  });

  it("never matches without addOnConditions", () => {
    const w = world(policy(plain({ addOnConditions: [] })));
    w.condition("Ready", "False", 1);
    w.look(1);
    expect(w.ids).toEqual([]);
  });

  it("gives its taints up when the cluster is no longer meant", () => {
    const w = world(policy(plain()));
    w.condition("Ready", "False", 1);
    w.look(1);
    w.policies = [
      policy(plain({ targetClusters: { clusterNames: ["other"] } }), { generation: 2 }),
    ];
    w.look(2);
    expect(w.ids).toEqual([]);
  });
});

describe("while failover is off", () => {
  it("only NoSchedule is added, and nothing is removed for that reason", () => {
    const spec = windowed({
      taintsToAdd: [
        TAINT,
        { ...TAINT, key: "n", effect: "NoSchedule" },
        { ...TAINT, key: "p", effect: "PreferNoExecute" },
      ] as never,
    });
    const w = world(policy(spec));
    w.failover = false;
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    expect(w.ids).toEqual(["n:NoSchedule"]);
    w.failover = true;
    w.look(301);
    expect(w.ids).toEqual(["n:NoSchedule", "down:NoExecute", "p:PreferNoExecute"]);
    w.failover = false;
    w.look(302);
    expect(w.ids).toHaveLength(3);
  });
});

describe("the record", () => {
  it("reports since when, and which taints were added", () => {
    const w = world(policy(windowed()));
    w.condition("Ready", "False", 0);
    w.look(0);
    w.look(300);
    const memory = parseTaintRecord(w.record).get("uid-p");
    expect(memory).toMatchObject({
      matches: true,
      since: START,
      added: [{ key: "down", effect: "NoExecute" }],
    });
    expect(JSON.parse(w.record ?? "")).toMatchObject({
      "uid-p": { matchingSince: "2026-01-01T00:00:00Z" },
    });
  });
});

describe("17.15: the Events name the policies", () => {
  const messages = ({ events }: TaintPlan): readonly string[] =>
    events.map(({ message }) => message);
  const p = policy(windowed(), { name: "p" });
  const atOnce = [{ ...TAINT, addOnMatchSeconds: 0 }];
  const q = policy(windowed({ taintsToAdd: atOnce } as Partial<Spec>), { name: "q" });

  it("that add a taint, and that remove it", () => {
    const world = new World();
    world.policies = [p];
    world.condition("Ready", "False", 0);
    world.look(0);
    expect(messages(world.look(300))).toEqual(["ClusterTaintPolicy p added down:NoExecute."]);
    world.condition("Ready", "True", 400);
    world.look(400);
    expect(messages(world.look(600))).toEqual(["ClusterTaintPolicy p removed down:NoExecute."]);
  });

  it("of two, the one that adds; both where both had added; and a deleted one as such", () => {
    const world = new World();
    world.policies = [p, q];
    world.condition("Ready", "False", 0);
    expect(messages(world.look(0))).toEqual(["ClusterTaintPolicy q added down:NoExecute."]);
    expect(messages(world.look(300))).toEqual([]);
    world.policies = [p];
    expect(messages(world.look(310))).toEqual([]);
    world.policies = [];
    expect(messages(world.look(320))).toEqual([
      "A deleted ClusterTaintPolicy had added down:NoExecute, which is removed.",
    ]);
  });

  it("that lose a taint together, and others beside them", () => {
    const world = new World();
    const other = { key: "slow", effect: "NoSchedule", addOnMatchSeconds: 0 };
    const third = policy(
      {
        matchConditions: [{ ...NOT_READY, statusValues: ["True"] }],
        taintsToAdd: [other],
      } as unknown as Partial<Spec>,
      { name: "r" },
    );
    world.policies = [p, q, third];
    world.condition("Ready", "False", 0);
    world.look(0);
    world.look(300);
    world.condition("Ready", "True", 400);
    expect(messages(world.look(400))).toEqual(["ClusterTaintPolicy r added slow:NoSchedule."]);
    expect(messages(world.look(580))).toEqual([
      "ClusterTaintPolicies p, q removed down:NoExecute.",
    ]);
  });
});
