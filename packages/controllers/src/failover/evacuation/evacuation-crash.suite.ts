/**
 * A failover during which the control plane dies at one chosen write, before it takes effect or after (its answer is
 * lost). Whatever the write was, the end is the same: every workload moved once, none too fast, the record is whole.
 */
import { parseDuration } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";
import type { Fleet } from "@lifeboat/testkit";
import { expect } from "vitest";
import { wrapped } from "@lifeboat/testkit";
import type { PlaneContext } from "../../context/context.ts";
import {
  allEvacuations,
  allSlices,
  bindings,
  type Decision,
  DOWN,
  placed,
  setTaints,
  watchDecisions,
} from "./evacuation.suite.ts";

const NEVER = new Promise<never>(() => {});

/** Counts the writes of controllers, and lets the process die at one of them. */
export class DyingPlane {
  writes = 0;
  isDead = false;
  #isArmed = false;
  #at = -1;
  #takesEffect = false;

  /** From now on writes count. */
  arm(at: number, takesEffect: boolean): void {
    this.#isArmed = true;
    this.writes = 0;
    this.#at = at;
    this.#takesEffect = takesEffect;
  }

  /** A new process has begun. */
  revive(): void {
    this.isDead = false;
  }

  through(context: PlaneContext): PlaneContext {
    const { plane } = context;
    const dying: Client = {
      ...wrapped(plane),
      create: (...given) => this.#write(given[0].plural, () => plane.create(...given)),
      update: (...given) => this.#write(given[0].plural, () => plane.update(...given)),
      patch: (...given) => this.#write(given[0].plural, () => plane.patch(...given)),
      delete: (...given) => this.#write(given[0].plural, () => plane.delete(...given)),
    };
    return { ...context, plane: dying };
  }

  async #write<T>(plural: string, call: () => Promise<T>): Promise<T> {
    if (!this.#isArmed || plural === "events") return call();
    if (this.isDead) return NEVER;
    if (this.writes++ !== this.#at) return call();
    this.isDead = true;
    if (this.#takesEffect) await call();
    return NEVER;
  }
}

export interface CrashRun {
  readonly fleet: Fleet;
  readonly dying: DyingPlane;
  /** The write at which it dies. */
  readonly at: number;
  readonly takesEffect: boolean;
  readonly count: number;
  /** How long the failover takes at most. */
  readonly lasts: string;
}

const STEP_MS = 250;
const TOKEN_MS = 2000;

/** Taints m1 and lets the process die; answers how many writes there were. */
export async function failOverWithCrash(run: CrashRun): Promise<number> {
  const { fleet, dying, count } = run;
  const decisions: Decision[] = watchDecisions(fleet);
  dying.arm(run.at, run.takesEffect);
  await setTaints(fleet, "m1", DOWN);
  const steps = (parseDuration(run.lasts) ?? 0) / STEP_MS;
  for (let step = 0; step < steps; step++) {
    if (dying.isDead) {
      dying.revive();
      await fleet.restart();
      watchDecisions(fleet, decisions);
    }
    await fleet.advance(STEP_MS);
  }
  expect(new Set(decisions.map(({ binding }) => binding)).size).toBe(count);
  expect(decisions).toHaveLength(count);
  expectRate(decisions);
  for (const binding of await bindings(fleet)) expect(placed(binding)).not.toContain("m1");
  const entries = (await allSlices(fleet)).flatMap(({ spec }) => spec.entries);
  expect(new Set(entries.map(({ binding }) => binding.uid)).size).toBe(count);
  expect(entries).toHaveLength(count);
  expect(await allEvacuations(fleet)).toHaveLength(1);
  return dying.writes;
}

/** At most one more than the rate allows, over any stretch of time (C1). */
function expectRate(decisions: readonly Decision[]): void {
  for (const [i, first] of decisions.entries())
    for (const [j, { at }] of decisions.entries())
      if (j > i) expect(at - first.at).toBeGreaterThanOrEqual((j - i) * TOKEN_MS);
}
