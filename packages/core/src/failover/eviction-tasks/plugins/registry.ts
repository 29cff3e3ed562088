/** All plugins of graceful eviction, in the order in which they run. */
import { inScheduleResult } from "./in-schedule-result.ts";
import type { EvictionPlugin } from "./plugin.ts";
import { resourceHealth } from "./resource-health.ts";

const ALL: readonly EvictionPlugin[] = [inScheduleResult, resourceHealth];

/** As `--evict-plugins` takes them; all are enabled unless the option names others. */
export const evictionPluginNames: readonly string[] = Object.freeze([
  "ResourceHealth",
  "InScheduleResult",
]);

/** The plugins of these names. Unknown names are left out: `unknownEvictionPlugins` finds them. */
export function evictionPlugins(names: readonly string[]): readonly EvictionPlugin[] {
  return ALL.filter(({ name }) => names.includes(name));
}

/** The names that name no plugin. */
export function unknownEvictionPlugins(names: readonly string[]): readonly string[] {
  return names.filter((name) => !evictionPluginNames.includes(name));
}
