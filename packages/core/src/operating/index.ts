export { type RestoreReason, restoreReasons } from "./reasons.ts";
export { decideRestore, type RestorePlan, type RestoreView } from "./restore.ts";
export { sharesOf } from "./shares.ts";
