/**
 * Oracles of failback (D31): what returns by itself does so once per outage, only to clusters that have been well for as long as asked,
 * in the time of day that its policy names, and while fewer of the policy are on their way than it lets.
 */
import {
  type Cluster,
  findCondition,
  type KubeObject,
  propagationPolicies,
  type ResourceBinding,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { clusterNamesOf } from "@lifeboat/core/binding";
import { isFailed } from "@lifeboat/core/failover/evacuation";
import { type FailbackRule, parseFailback } from "@lifeboat/core/operating";
import { claimOf } from "@lifeboat/core/propagation/matching";
import { type Committed, parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle } from "./oracle.ts";
import { bindingOf, BINDINGS, copyOf, pairOf, WORKLOADS } from "./reading.ts";
import { CLUSTERS, isHealthyCopy, type Truth } from "./truth.ts";

const POLICIES = `${propagationPolicies.group}/${propagationPolicies.plural}`;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Times of the API are whole seconds. */
const ROUNDED_MS = 1000;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "returns-once-to-what-is-stable",
    promise:
      "D31: a workload returns by itself once per outage, and only to clusters that have been Ready and free of evicting taints for as long as its policy asks",
    on: "plane",
    tables: [CLUSTERS, ...BINDINGS],
    start: (truth) => {
      const judge = new Returns(truth);
      return (change) => judge.judge(change);
    },
  },
  {
    name: "returns-begin-in-the-window",
    promise: "D31: a return begins only in the time of day that its policy names",
    on: "plane",
    tables: BINDINGS,
    start: (truth) => (change) => {
      const { now } = returnIn(change) ?? {};
      const { window } = (now && ruleOf(truth, now)) ?? {};
      // What the plane's clock shows is not the time then.
      if (window === undefined || truth.circumstances.clockChanges.length > 0) return [];
      const time = truth.ledger.timeAt(change.at);
      const [sinceOpening, sinceClosing] = [window.from, window.to].map((minute) =>
        sinceMinuteOfDay(time, minute),
      ) as [number, number];
      const isIn = sinceOpening < sinceClosing || sinceClosing <= truth.lagMs;
      return isIn ? [] : [`${now?.metadata.name} returns at ${new Date(time).toISOString()}`];
    },
  },
  {
    name: "so-many-return-at-once",
    promise:
      "D31: a workload returns only while fewer of its policy than that lets have returned and are not well there yet",
    on: "both",
    tables: [...BINDINGS, ...WORKLOADS],
    start: (truth) => {
      if (truth.circumstances.hasTwoLeaders) return () => [];
      const onTheWay = new OnTheWay(truth);
      return (change) => onTheWay.judge(change);
    },
  },
];

/** A write that lets a workload return by itself. */
interface Return {
  readonly before: ResourceBinding;
  readonly now: ResourceBinding;
  readonly outage: string;
}

function returnIn(change: Committed): Return | undefined {
  const { before, now } = pairOf(change);
  const outage = now?.metadata.annotations?.[wellKnown.FAILED_BACK];
  if (before === undefined || now === undefined || outage === undefined) return undefined;
  const isNew = outage !== before.metadata.annotations?.[wellKnown.FAILED_BACK];
  return isNew ? { before, now, outage } : undefined;
}

/** The policy that claims it, as a key. */
function policyKeyOf(binding: ResourceBinding): string {
  const claim = claimOf(binding);
  return claim === undefined ? "" : `${claim.namespace}/${claim.name}`;
}

/** What its policy asks for; undefined where that is gone by now. */
function ruleOf({ ledger }: Truth, binding: ResourceBinding): FailbackRule | undefined {
  const policy = ledger.find("plane", POLICIES, policyKeyOf(binding))?.object;
  return parseFailback(policy?.metadata.annotations?.[wellKnown.FAILBACK] ?? "");
}

/** Milliseconds since it was last that minute of the day. */
function sinceMinuteOfDay(time: number, minute: number): number {
  return (time - minute * MINUTE_MS + DAY_MS) % DAY_MS;
}

/** Workloads that returned and are not well yet where they returned to: by what is in members, not by what is reported. */
class OnTheWay {
  readonly #truth: Truth;
  /** By the uid of the binding. */
  readonly #waiting = new Map<
    string,
    { readonly policy: string; readonly binding: ResourceBinding; readonly clusters: Set<string> }
  >();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  judge(change: Committed): readonly string[] {
    if (change.server !== "plane") this.#arrive(change);
    else if (BINDINGS.includes(change.table)) return this.#judgeBinding(change);
    return [];
  }

  /** A copy is well: its workload has arrived there. */
  #arrive({ server, row }: Committed): void {
    const copy = row.type === "DELETED" ? undefined : parseObject(row.bytes);
    if (copy === undefined || !isHealthyCopy(copy)) return;
    const uid = bindingOf(this.#truth, copy)?.metadata.uid ?? "";
    this.#waiting.get(uid)?.clusters.delete(server);
  }

  #judgeBinding(change: Committed): readonly string[] {
    const { now, before } = pairOf(change);
    const { uid = "", name = "" } = (now ?? before)?.metadata ?? {};
    const on = new Set(now === undefined ? [] : clusterNamesOf(now));
    for (const cluster of this.#waiting.get(uid)?.clusters ?? [])
      if (!on.has(cluster)) this.#waiting.get(uid)?.clusters.delete(cluster);
    const back = returnIn(change);
    if (back === undefined) return [];
    const policy = policyKeyOf(back.now);
    const others = [...this.#waiting]
      .filter(([id, one]) => id !== uid && one.policy === policy && one.clusters.size > 0)
      .map(([, one]) => one.binding.metadata.name);
    const had = new Set(clusterNamesOf(back.before));
    const clusters = new Set(
      [...on].filter((cluster) => !had.has(cluster) && this.#isAwaited(back.now, cluster)),
    );
    this.#waiting.set(uid, { policy, binding: back.now, clusters });
    const { max = Infinity } = ruleOf(this.#truth, back.now) ?? {};
    return others.length < max ? [] : [`${name} returns while ${others.join()} are on their way`];
  }

  /** Whether it has replicas, and they are not well there. */
  #isAwaited(binding: ResourceBinding, cluster: string): boolean {
    const { replicas = 0 } = binding.spec;
    return replicas > 0 && !isHealthyCopy(copyOf(this.#truth, binding, cluster));
  }
}

class Returns {
  readonly #truth: Truth;
  /** Since when a cluster is well; absent: it is not. */
  readonly #wellSince = new Map<string, number>();
  /** Bindings and outages that a return was for. */
  readonly #returned = new Set<string>();

  constructor(truth: Truth) {
    this.#truth = truth;
    for (const { object } of truth.ledger.objects("plane", CLUSTERS))
      this.#noteCluster(object as KubeObject as Cluster, Number.NEGATIVE_INFINITY);
  }

  judge(change: Committed): readonly string[] {
    const { table, row, at } = change;
    if (table === CLUSTERS) {
      const object = parseObject(row.bytes) as KubeObject;
      if (row.type === "DELETED") this.#wellSince.delete(object.metadata.name);
      else this.#noteCluster(object as Cluster, at);
      return [];
    }
    const back = returnIn(change);
    return back === undefined ? [] : this.#judgeReturn(back, at);
  }

  #judgeReturn({ now, before, outage }: Return, at: number): readonly string[] {
    const { name, uid } = now.metadata;
    const id = `${uid} ${outage}`;
    const isSecond = this.#returned.has(id);
    this.#returned.add(id);
    // 0 where the policy is gone by now.
    const asked = ruleOf(this.#truth, now)?.stabilisationMs ?? 0;
    const had = new Set(clusterNamesOf(before));
    const early = clusterNamesOf(now)
      .filter((cluster) => !had.has(cluster))
      .filter((cluster) => {
        const since = this.#wellSince.get(cluster);
        return since === undefined || at - since + this.#truth.lagMs + ROUNDED_MS < asked;
      });
    return [
      ...(isSecond ? [`${name} returns twice after ${outage}`] : []),
      ...early.map(
        (cluster) => `${name} returns to ${cluster} before that is well for long enough`,
      ),
    ];
  }

  #noteCluster(cluster: Cluster, at: number): void {
    const { name } = cluster.metadata;
    const isReady = findCondition(cluster.status?.conditions, "Ready")?.status === "True";
    if (!isReady || isFailed(cluster)) this.#wellSince.delete(name);
    else if (!this.#wellSince.has(name)) this.#wellSince.set(name, at);
  }
}
