export {
  createSimulation,
  Simulation,
  type SimulationOptions,
  type SimulationPorts,
} from "./simulation.ts";
export { freshImages, type Images } from "./images.ts";
export { imagesFromSnapshot } from "./snapshot/images-from-snapshot.ts";
export { readSnapshot, type SnapshotTable, type WorldSnapshot } from "./snapshot/read-snapshot.ts";
export { type Committed, type Held, Ledger } from "./disk/ledger.ts";
export { Link, type LinkConditions } from "./network/link.ts";
export type { Write } from "./network/sim-client.ts";
export { Jury, type Violation } from "./oracles/oracle.ts";
export { alwaysOracles, convergedOracles, judgeConverged } from "./oracles/oracles.ts";
export { differences, type Ending, endingOf } from "./oracles/ending.ts";
export { Truth } from "./oracles/truth.ts";
export { describe, endOf, type Fault, type Scenario, type Step } from "./scenario/scenario.ts";
export { type Outcome, type RunOptions, runScenario } from "./scenario/run-scenario.ts";
export { goldenScenarios } from "./scenario/golden.ts";
export {
  type DisturbedRun,
  type Disturbance,
  disturbances,
  disturbed,
  disturbEveryWrite,
} from "./scenario/every-write.ts";
export { layOut } from "./coverage.ts";
export { type ChangedWorkload, playChange, type PlayedChange } from "./what-if/play-change.ts";
export { type Manifest, type PlayFrom, type PlayRequest, UnknownKind } from "./what-if/play.ts";
export {
  type FailureRequest,
  type PlayedCluster,
  type PlayedFailure,
  type PlayedWorkload,
  playFailure,
} from "./what-if/play-failure.ts";
export {
  FORESIGHT_TABLES,
  foresightOf,
  type ForesightRequest,
} from "./what-if/foresee-snapshot.ts";
