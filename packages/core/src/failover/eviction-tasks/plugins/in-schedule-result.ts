/** The task is over when the workload is placed in its cluster again. The copy there stays. */
import { isInResult } from "../view.ts";
import type { EvictionPlugin } from "./plugin.ts";

export const inScheduleResult: EvictionPlugin = {
  name: "InScheduleResult",
  reason: "BackInResult",
  passes: isInResult,
};
