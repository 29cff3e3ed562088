export { isStamped, stampAct } from "./act.ts";
export {
  entriesBetween,
  foldEntries,
  type KnownSubject,
  missingEntries,
  type MissingView,
} from "./entries.ts";
export { readPlace, type Workload } from "./facts.ts";
export {
  type Move,
  movesOf,
  type MoveState,
  type MovesView,
  type Phase,
  PHASES,
  phasesOf,
} from "./moves.ts";
export { type LedgerAction, ledgerActions } from "./reasons.ts";
export { entrySentence, workloadText } from "./sentence.ts";
export {
  decideSlices,
  MAX_SLICES,
  type NumberedEntry,
  readLedger,
  type SlicesPlan,
} from "./slices.ts";
