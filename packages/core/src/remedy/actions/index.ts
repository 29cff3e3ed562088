export {
  type BlockedCluster,
  type BlockPlan,
  type BlockView,
  decideBlock,
  MASS_TRAFFIC_BLOCK,
  releasedBlocks,
} from "./brake.ts";
export {
  asksBrake,
  decideRemedy,
  isBlockHeld,
  type RemedyPlan,
  type RemedyView,
} from "./decide.ts";
export { hasAction, namesOfSource, readSources, type RemedySource } from "./record.ts";
export { type BlockReason, blockReasons, type RemedyReason, remedyReasons } from "./reasons.ts";
export { causeOf, type RemedyCause, selectsCluster, wantedActions } from "./wanted.ts";
