/** How commands write the fleet's budget, where people say whether anything may move or be deleted. */
import {
  type EvacuationBudget,
  evacuationBudgets,
  FLEET_BUDGET,
  isRefused,
  orNothing,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

const KEY = { namespace: "", name: FLEET_BUDGET };

/** The budget; undefined while nothing was ever moved or deleted. */
export function fleetBudget(plane: Client): Promise<EvacuationBudget | undefined> {
  return orNothing(plane.get(evacuationBudgets, KEY));
}

/** Changes what people say on the budget; answers whether that was another thing than before. */
export async function changeBudget(
  plane: Client,
  change: (spec: EvacuationBudget["spec"]) => EvacuationBudget["spec"],
): Promise<boolean> {
  for (;;) {
    const budget = await fleetBudget(plane);
    const spec = budget?.spec ?? { paused: false };
    const changed = change(spec);
    if (changed === spec) return false;
    try {
      if (budget === undefined) await plane.create(evacuationBudgets, firstBudget(changed));
      else await plane.update(evacuationBudgets, { ...budget, spec: changed });
      return true;
    } catch (error) {
      if (!isRefused(error, "Conflict") && !isRefused(error, "AlreadyExists")) throw error;
    }
  }
}

function firstBudget(spec: EvacuationBudget["spec"]): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: EvacuationBudget["spec"];
} {
  return {
    apiVersion: `${evacuationBudgets.group}/${evacuationBudgets.version}`,
    kind: evacuationBudgets.kind,
    metadata: { name: FLEET_BUDGET },
    spec,
  };
}
