/** For controllers that let time decide: they wait until they know which steps the clock of the plane made. */
import { type ControllerWatch, watching } from "@lifeboat/kit";
import type { PlaneContext } from "./context.ts";

/** Brings no keys; it is synced once the steps that were written down are remembered (see clock-watch/). */
export function watchingSteps({ informers }: Pick<PlaneContext, "informers">): ControllerWatch {
  return watching(informers.evacuationBudgets, () => []);
}
