export { createClockWatch } from "./clock-watch/create-clock-watch.ts";
export {
  createSettings,
  type PublishedSettings,
  readSettings,
} from "./settings/create-settings.ts";
