/** A person on call, who does after the faults what the control plane leaves to people. */
import {
  type EvacuationBudget,
  evacuationBudgets,
  FLEET_BUDGET,
  findCondition,
  type KubeObject,
} from "@lifeboat/api";
import { MASS_DELETION, releaseTime } from "@lifeboat/core/propagation/brake";
import { BUDGETS } from "../oracles/pauses.ts";
import type { Simulation } from "../simulation.ts";

/** Releases the brake on mass deletions (D19), if it is on: until somebody does, what is too much stays. */
export function releaseBrake(simulation: Simulation): void {
  const { clock, ledger } = simulation;
  if (!simulation.allOrdersDone) return;
  for (const { object } of ledger.objects("plane", BUDGETS)) {
    const { status } = object as KubeObject as EvacuationBudget;
    const braked = findCondition(status?.conditions, MASS_DELETION);
    if (braked?.status !== "True") continue;
    const brakeReleasedAt = releaseTime(braked, clock.now());
    const body = { spec: { brakeReleasedAt } };
    const key = { namespace: "", name: FLEET_BUDGET };
    simulation.user(async (plane) => {
      await plane.patch(evacuationBudgets, key, { type: "merge", body });
    });
  }
}
