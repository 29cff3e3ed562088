export { createClockWatch } from "./clock-watch/create-clock-watch.ts";
export { createFleetGauges } from "./fleet-gauges/create-fleet-gauges.ts";
export { createHistory } from "./history/create-history.ts";
export {
  createNotifications,
  type NotificationOptions,
  readNotifications,
} from "./notifications/create-notifications.ts";
export { createRestoredReport } from "./restored/create-restored-report.ts";
export { holdDeletions, holdDeletionsAs } from "./restored/hold-deletions.ts";
export {
  createSettings,
  type PublishedSettings,
  readSettings,
} from "./settings/create-settings.ts";
