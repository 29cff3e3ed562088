export { der, type DistinguishedName } from "./der.ts";
export { drainPromises } from "./drain.ts";
export { nextTurn } from "./next-turn.ts";
export { createRealClock } from "./real-clock.ts";
export { createRealIds } from "./real-ids.ts";
