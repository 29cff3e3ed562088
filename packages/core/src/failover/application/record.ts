/**
 * The record of application failover on a binding, so that a restart neither shortens nor restarts a wait (D23): since
 * when each copy is unhealthy, and which clusters the workload left for that reason.
 *
 * A record that cannot be parsed counts as empty: the wait starts again, because the longer wait is the safe one.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { formatTime, type Instant, parseTime } from "@lifeboat/base";
import { compareText, isFields, textsAt } from "../../fields.ts";
import { recordedEvictions } from "../../placement/filters/evicted-from.ts";
import { EVICTED_FROM, UNHEALTHY_SINCE } from "../../well-known.ts";

export interface FailoverRecord {
  readonly unhealthySince: ReadonlyMap<string, Instant>;
  /** Clusters that are not gone back to in this episode. */
  readonly evictedFrom: ReadonlySet<string>;
}

export function readRecord({ metadata }: ResourceBinding): FailoverRecord {
  const { annotations = {} } = metadata;
  return {
    unhealthySince: readTimes(annotations[UNHEALTHY_SINCE]),
    evictedFrom: new Set(recordedEvictions(annotations[EVICTED_FROM])),
  };
}

/** The binding with this record; the same object when it has this record already. */
export function withRecord(binding: ResourceBinding, record: FailoverRecord): ResourceBinding {
  const {
    [UNHEALTHY_SINCE]: since,
    [EVICTED_FROM]: from,
    ...others
  } = binding.metadata.annotations ?? {};
  const [newSince, newFrom] = [formatTimes(record.unhealthySince), formatNames(record.evictedFrom)];
  if (since === newSince && from === newFrom) return binding;
  const annotations = {
    ...others,
    ...(newSince !== undefined && { [UNHEALTHY_SINCE]: newSince }),
    ...(newFrom !== undefined && { [EVICTED_FROM]: newFrom }),
  };
  return { ...binding, metadata: { ...binding.metadata, annotations } };
}

function readTimes(text: string | undefined): ReadonlyMap<string, Instant> {
  const times = new Map<string, Instant>();
  for (const [name, value] of Object.entries(textsIn(text))) {
    const time = parseTime(value);
    if (time !== undefined) times.set(name, time);
  }
  return times;
}

function textsIn(text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? textsAt({ value }, "value") : {};
  } catch {
    return {};
  }
}

/** undefined: nothing to remember. */
function formatTimes(times: ReadonlyMap<string, Instant>): string | undefined {
  if (times.size === 0) return undefined;
  const sorted = [...times].sort(([a], [b]) => compareText(a, b));
  return JSON.stringify(Object.fromEntries(sorted.map(([name, at]) => [name, formatTime(at)])));
}

function formatNames(names: ReadonlySet<string>): string | undefined {
  return names.size === 0 ? undefined : JSON.stringify([...names].sort(compareText));
}
