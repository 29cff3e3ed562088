/**
 * Events are stored once, as v1, and shown in two groups. The fields are the same under other names; what v1 always
 * shows empty, events.k8s.io/v1 leaves out.
 */
import type { AnyObject } from "@lifeboat/api";

/** Names in v1 and in events.k8s.io/v1, in the order the latter shows them. */
const FIELDS: readonly (readonly [core: string, events: string])[] = [
  ["eventTime", "eventTime"],
  ["series", "series"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance", "reportingInstance"],
  ["action", "action"],
  ["reason", "reason"],
  ["involvedObject", "regarding"],
  ["related", "related"],
  ["message", "note"],
  ["type", "type"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

/** What v1 shows even when nothing was set. */
const CORE_EMPTY: Readonly<Record<string, unknown>> = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: "",
  reportingInstance: "",
};

/** v1 → events.k8s.io/v1. */
export function eventFromStorage(event: AnyObject): AnyObject {
  const shown: Record<string, unknown> = {
    kind: event.kind,
    apiVersion: "events.k8s.io/v1",
    metadata: event.metadata,
  };
  for (const [core, events] of FIELDS) {
    const value = event[core];
    if (value !== undefined && value !== "") shown[events] = value;
  }
  return shown as AnyObject;
}

/** events.k8s.io/v1 → v1. */
export function eventToStorage(event: AnyObject): AnyObject {
  const stored: Record<string, unknown> = {
    kind: event.kind,
    apiVersion: "v1",
    metadata: event.metadata,
    ...CORE_EMPTY,
  };
  for (const [core, events] of FIELDS) {
    const value = event[events];
    if (value !== undefined) stored[core] = value;
  }
  return stored as AnyObject;
}
