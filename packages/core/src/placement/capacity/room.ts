/**
 * The room of a member, kept up to date node by node and pod by pod: a change costs what changed, and a summary costs as
 * much as there are nodes, however many pods run.
 *
 * 1. The summary depends on what is there now, not on the order in which it came.
 * 2. Every node counts, ready or not, as clients of this API expect; `readyNum` counts those that are.
 * 3. A node is of the highest grade all of whose minima it has free. A node without room for one more pod is of no
 *    grade; the others are counted all the same.
 * 4. A pod on a node that is not known counts as allocated.
 */
import { type Cluster, parseQuantity } from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import { Sum } from "./amounts.ts";
import { type NodeOffer, type PodClaim, PODS } from "./claims.ts";

type ClusterStatus = NonNullable<Cluster["status"]>;
export type NodeSummary = NonNullable<ClusterStatus["nodeSummary"]>;
export type ResourceSummary = NonNullable<ClusterStatus["resourceSummary"]>;
export type ResourceModels = NonNullable<Cluster["spec"]["resourceModels"]>;

export class Room {
  readonly #nodes = new Map<string, NodeOffer>();
  /** What pods take on each node, known or not. */
  readonly #taken = new Map<string, { readonly sum: Sum; pods: number }>();
  readonly #allocatable = new Sum();
  readonly #allocated = new Sum();
  readonly #allocating = new Sum();
  #ready = 0;
  /** The last answers, until something changes: at rest they are asked for at every probe. */
  #nodeSummary: NodeSummary | undefined;
  #summary: { readonly models: ResourceModels; readonly answer: ResourceSummary } | undefined;

  /** A node came, changed (`was` is what it offered) or went. */
  changeNode(name: string, was: NodeOffer | undefined, now: NodeOffer | undefined): void {
    this.#nodeSummary = undefined;
    this.#summary = undefined;
    if (was !== undefined) {
      this.#allocatable.subtract(was.allocatable);
      if (was.ready) this.#ready -= 1;
      this.#nodes.delete(name);
    }
    if (now === undefined) return;
    this.#allocatable.add(now.allocatable);
    if (now.ready) this.#ready += 1;
    this.#nodes.set(name, now);
  }

  /** A pod came, changed (`was` is what it took) or went. */
  changePod(was: PodClaim | undefined, now: PodClaim | undefined): void {
    this.#summary = undefined;
    if (was !== undefined) this.#release(was);
    if (now !== undefined) this.#take(now);
  }

  /** The same object as before while nothing changed. */
  nodeSummary(): NodeSummary {
    this.#nodeSummary ??= deepFreeze({ totalNum: this.#nodes.size, readyNum: this.#ready });
    return this.#nodeSummary;
  }

  /** The same object as before while nothing changed and the same models are asked for. */
  resourceSummary(models: ResourceModels = NO_MODELS): ResourceSummary {
    if (this.#summary?.models !== models)
      this.#summary = { models, answer: this.#summarize(models) };
    return this.#summary.answer;
  }

  #summarize(models: ResourceModels): ResourceSummary {
    const allocatable = this.#allocatable.format();
    const allocated = this.#allocated.format();
    const allocating = this.#allocating.format();
    return deepFreeze({
      ...(allocatable && { allocatable }),
      ...(allocating && { allocating }),
      ...(allocated && { allocated }),
      ...(models.length > 0 && { allocatableModelings: this.#modelings(models) }),
    });
  }

  /** How much of a resource there is, as a number for metrics. */
  measure(of: "allocatable" | "allocated", name: string): number {
    const sum = of === "allocatable" ? this.#allocatable : this.#allocated;
    return Number(sum.of(name)) / 1e9;
  }

  #take({ node, amounts }: PodClaim): void {
    if (node === "") {
      this.#allocating.add(amounts);
      return;
    }
    this.#allocated.add(amounts);
    const taken = this.#taken.get(node) ?? { sum: new Sum(), pods: 0 };
    taken.sum.add(amounts);
    taken.pods += 1;
    this.#taken.set(node, taken);
  }

  #release({ node, amounts }: PodClaim): void {
    if (node === "") {
      this.#allocating.subtract(amounts);
      return;
    }
    this.#allocated.subtract(amounts);
    const taken = this.#taken.get(node);
    if (taken === undefined) return;
    taken.sum.subtract(amounts);
    taken.pods -= 1;
    if (taken.pods === 0) this.#taken.delete(node);
  }

  #modelings(models: ResourceModels): NonNullable<ResourceSummary["allocatableModelings"]> {
    const grades = models
      .map(({ grade, ranges }) => ({ grade, minima: minimaOf(ranges), count: 0 }))
      .sort((a, b) => a.grade - b.grade);
    for (const [name, offer] of this.#nodes) {
      const free = this.#freeOn(name, offer);
      if (free.of(PODS) <= 0n) continue;
      const best = grades.findLast(({ minima }) =>
        // A node that is overbooked is of the lowest grade, like a full one.
        minima.every(([resource, min]) => min <= 0n || free.of(resource) >= min),
      );
      if (best !== undefined) best.count += 1;
    }
    return grades.map(({ grade, count }) => ({ grade, count }));
  }

  #freeOn(name: string, { allocatable }: NodeOffer): Sum {
    const free = new Sum();
    free.add(allocatable);
    const taken = this.#taken.get(name)?.sum;
    if (taken !== undefined) free.subtract(taken.amounts());
    return free;
  }
}

const NO_MODELS: ResourceModels = [];

function minimaOf(
  ranges: ResourceModels[number]["ranges"],
): readonly (readonly [string, bigint])[] {
  return ranges.map(({ name, min }) => [name, parseQuantity(String(min))?.nanos ?? 0n]);
}
