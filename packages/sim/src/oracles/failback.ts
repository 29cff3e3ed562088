/** The oracle of failback: what returns by itself does so once per outage, and only to clusters that have been well for as long as asked. */
import {
  type Cluster,
  clusterResourceBindings,
  clusters,
  findCondition,
  type KubeObject,
  propagationPolicies,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { clusterNamesOf } from "@lifeboat/core/binding";
import { isFailed } from "@lifeboat/core/failover/evacuation";
import { parseFailback } from "@lifeboat/core/operating";
import { claimOf } from "@lifeboat/core/propagation/matching";
import { type Committed, parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle } from "./oracle.ts";
import type { Truth } from "./truth.ts";

const tableOf = ({ group, plural }: { readonly group: string; readonly plural: string }): string =>
  `${group}/${plural}`;
const CLUSTERS = tableOf(clusters);
/** Times of the API are whole seconds. */
const ROUNDED_MS = 1000;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "returns-once-to-what-is-stable",
    promise:
      "D31: a workload returns by itself once per outage, and only to clusters that have been Ready and free of evicting taints for as long as its policy asks",
    on: "plane",
    tables: [CLUSTERS, tableOf(resourceBindings), tableOf(clusterResourceBindings)],
    start: (truth) => {
      const judge = new Returns(truth);
      return (change) => judge.judge(change);
    },
  },
];

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

  judge({ table, row, at, previous }: Committed): readonly string[] {
    const object = parseObject(row.bytes) as KubeObject;
    if (table === CLUSTERS) {
      if (row.type === "DELETED") this.#wellSince.delete(object.metadata.name);
      else this.#noteCluster(object as Cluster, at);
      return [];
    }
    if (row.type === "DELETED" || previous === undefined) return [];
    const before = previous.object as KubeObject as ResourceBinding;
    const now = object as ResourceBinding;
    const outage = now.metadata.annotations?.[wellKnown.FAILED_BACK];
    if (outage === undefined || outage === before.metadata.annotations?.[wellKnown.FAILED_BACK])
      return [];
    return this.#judgeReturn(now, before, outage, at);
  }

  #judgeReturn(
    now: ResourceBinding,
    before: ResourceBinding,
    outage: string,
    at: number,
  ): readonly string[] {
    const { name, uid } = now.metadata;
    const id = `${uid} ${outage}`;
    const isSecond = this.#returned.has(id);
    this.#returned.add(id);
    const asked = this.#askedMs(now);
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

  /** For how long clusters must be well, by the policy; 0 where that is gone by now. */
  #askedMs(binding: ResourceBinding): number {
    const claim = claimOf(binding);
    if (claim === undefined) return 0;
    const key = `${claim.namespace}/${claim.name}`;
    const policy = this.#truth.ledger.find("plane", tableOf(propagationPolicies), key)?.object;
    const text = policy?.metadata.annotations?.[wellKnown.FAILBACK] ?? "";
    return parseFailback(text)?.stabilisationMs ?? 0;
  }

  #noteCluster(cluster: Cluster, at: number): void {
    const { name } = cluster.metadata;
    const isReady = findCondition(cluster.status?.conditions, "Ready")?.status === "True";
    if (!isReady || isFailed(cluster)) this.#wellSince.delete(name);
    else if (!this.#wellSince.has(name)) this.#wellSince.set(name, at);
  }
}
