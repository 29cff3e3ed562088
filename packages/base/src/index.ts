export { anew } from "./anew.ts";
export { assert, InvariantError, unreachable } from "./assert.ts";
export { type Cancel, type Clock, sleep } from "./clock.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { deepFreeze } from "./freeze.ts";
export { Heap } from "./heap.ts";
export { createSeededIds, type Ids } from "./ids.ts";
export { createRandom, hashText, type Random } from "./random.ts";
export { soon } from "./soon.ts";
export {
  type ClockStep,
  type DueTime,
  type Moment,
  NO_STEPS,
  plainMoment,
  STEADY_TOLERANCE_MS,
  SteadyTime,
  type StepLog,
} from "./steady-time.ts";
export { addMs, formatMicroTime, formatTime, type Instant, instantOf, parseTime } from "./time.ts";
export { VirtualClock } from "./virtual-clock.ts";
