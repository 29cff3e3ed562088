/**
 * Which user did it, and why: a stamp that admission puts on an object when a user changes one of its facts. The stamp names these
 * facts, so that a later change by the control plane is not taken for the user's.
 *
 * 1. Only admission writes the stamp: what a client writes there is replaced by what was stored.
 * 2. Writes of the control plane, its agents and of Kubernetes itself are no acts.
 * 3. A write without an act leaves the stamp as it is. The reason that a client gives lives in the stamp alone.
 */
import type { KubeObject } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { isFields, listAt, textAt } from "../fields.ts";
import { LAST_ACT, REASON } from "../well-known.ts";
import { type Fact, factsOf, HISTORY_KINDS } from "./facts.ts";

export interface Act {
  readonly by: string;
  readonly at: string;
  readonly reason: string;
  /** `key=value` each; `key=` for one that ended. */
  readonly facts: ReadonlySet<string>;
}

const MAX_BY = 253;
const MAX_REASON = 512;
const MAX_FACTS = 50;
/** Users that act for the control plane, for clusters, or for Kubernetes itself. */
const OWN = [
  "system:lifeboat",
  "system:karmada:",
  "system:serviceaccount:lifeboat-system:",
  "system:serviceaccount:kube-system:",
  "system:kube-",
  "system:apiserver",
  "system:node:",
] as const;
const KINDS: ReadonlySet<string> = new Set(HISTORY_KINDS);

/** Whether writes of this user to objects of this kind are stamped. */
export function isStamped(kind: string, user: string): boolean {
  return KINDS.has(kind) && !OWN.some((prefix) => user.startsWith(prefix));
}

/** The object as it is to be stored; the same object when there is nothing to change. */
export function stampAct<T extends KubeObject>(
  old: KubeObject | undefined,
  object: T,
  user: string,
  now: Instant,
): T {
  const changed = changedFacts(old, object);
  const given = object.metadata.annotations ?? {};
  const kept = old?.metadata.annotations?.[LAST_ACT];
  const { [LAST_ACT]: sent, [REASON]: reason, ...others } = given;
  const stamp = changed.length === 0 ? kept : formatAct(user, now, reason ?? "", changed);
  if (sent === stamp && reason === undefined) return object;
  const annotations = stamp === undefined ? others : { ...others, [LAST_ACT]: stamp };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function changedFacts(old: KubeObject | undefined, object: KubeObject): readonly string[] {
  const before = byKey(old);
  const after = byKey(object);
  const set = [...after].flatMap(([key, { value }]) =>
    before.get(key)?.value === value ? [] : [factText(key, value)],
  );
  const gone = [...before.keys()].filter((key) => !after.has(key)).map((key) => factText(key, ""));
  return [...set, ...gone];
}

function byKey(object: KubeObject | undefined): ReadonlyMap<string, Fact> {
  return new Map((object === undefined ? [] : factsOf(object)).map((fact) => [fact.key, fact]));
}

function factText(key: string, value: string): string {
  return `${key}=${value}`;
}

function formatAct(by: string, at: Instant, reason: string, facts: readonly string[]): string {
  return JSON.stringify({
    by: by.slice(0, MAX_BY),
    at: formatTime(at),
    ...(reason === "" ? {} : { reason: reason.slice(0, MAX_REASON) }),
    facts: facts.slice(0, MAX_FACTS),
  });
}

/** The last act on an object; undefined: there was none, or it cannot be read. */
export function readAct(object: KubeObject): Act | undefined {
  const text = object.metadata.annotations?.[LAST_ACT];
  const value = text === undefined ? undefined : parsed(text);
  if (!isFields(value)) return undefined;
  const facts = listAt(value, "facts").filter((fact) => typeof fact === "string");
  return {
    by: textAt(value, "by"),
    at: textAt(value, "at"),
    reason: textAt(value, "reason"),
    facts: new Set(facts),
  };
}

/** Whether the act made a fact what it is; "" for one that ended. */
export function didAct(act: Act | undefined, key: string, value: string): boolean {
  return act?.facts.has(factText(key, value)) ?? false;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
