export { drainPromises } from "./drain.ts";
export { createRealClock } from "./real-clock.ts";
export { createRealIds } from "./real-ids.ts";
