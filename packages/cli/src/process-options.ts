/** Options that every long-running command has. */
import type { OptionDefinition } from "./options.ts";

/** Where it logs from: a control plane tells of problems alone, what runs in a member also of what it does. */
export function logLevelOption(fallback: "info" | "warn"): OptionDefinition {
  return {
    name: "log-level",
    type: "text",
    value: "LEVEL",
    default: fallback,
    help: "debug, info, warn, error or silent; logs go to standard error as JSON lines",
  };
}

/** For processes without an API of their own. */
export const healthListenOption: OptionDefinition = {
  name: "health-listen",
  type: "text",
  value: "HOST:PORT",
  help: "Serve /healthz, /livez, /readyz and /metrics there over HTTP; absent: nowhere",
};
