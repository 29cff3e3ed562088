/** Since when people have stopped evictions, as the disk tells. */
import type { Evacuation, EvacuationBudget, KubeObject } from "@lifeboat/api";
import { parseObject } from "../disk/ledger.ts";
import { clusterOfEvacuation } from "./decisions.ts";
import type { Truth } from "./truth.ts";

export const BUDGETS = "lifeboat.dev/evacuationbudgets";
export const EVACUATIONS = "lifeboat.dev/evacuations";

export function evacuationsOf({ ledger }: Truth): readonly Evacuation[] {
  return ledger
    .objects("plane", EVACUATIONS)
    .map(({ object }) => object as KubeObject as Evacuation);
}

const allPauses = new WeakMap<Truth, Pauses>();

export class Pauses {
  readonly #truth: Truth;
  readonly #since = new Map<string, number>();

  private constructor(truth: Truth) {
    this.#truth = truth;
    for (const { metadata, spec } of evacuationsOf(truth)) this.#put(metadata.name, spec.paused, 0);
    for (const { key, object } of truth.ledger.objects("plane", BUDGETS))
      this.#put(key, (object as KubeObject as EvacuationBudget).spec.paused, 0);
    truth.ledger.onChange(({ server, table, row, at, key }) => {
      if (server !== "plane" || (table !== BUDGETS && table !== EVACUATIONS)) return;
      const { spec } = parseObject(row.bytes) as KubeObject as Evacuation;
      const name = table === BUDGETS ? key : key.slice(1);
      this.#put(name, row.type !== "DELETED" && spec.paused, at);
    });
  }

  static of(truth: Truth): Pauses {
    const known = allPauses.get(truth) ?? new Pauses(truth);
    allPauses.set(truth, known);
    return known;
  }

  /** Since when nothing may leave a cluster; undefined: it may. */
  since(cluster: string): number | undefined {
    const times = [...this.#since]
      .filter(([name]) => name === "/fleet" || clusterOfEvacuation(name) === cluster)
      .map(([, since]) => since);
    return times.length === 0 ? undefined : Math.min(...times, this.#truth.ledger.now);
  }

  #put(name: string, isPaused: boolean | undefined, at: number): void {
    if (isPaused !== true) this.#since.delete(name);
    else if (!this.#since.has(name)) this.#since.set(name, at);
  }
}
