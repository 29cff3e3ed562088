export { createClockWatch } from "./clock-watch/create-clock-watch.ts";
export { createRestoredReport } from "./restored/create-restored-report.ts";
export { holdDeletions } from "./restored/hold-deletions.ts";
export {
  createSettings,
  type PublishedSettings,
  readSettings,
} from "./settings/create-settings.ts";
