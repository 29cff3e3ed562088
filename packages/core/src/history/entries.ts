/**
 * The entries of the history, from two states of an object, or from what the history shows and the objects as they are.
 *
 *   entriesBetween   a change that was seen
 *   missingEntries   what happened while no process followed, or what a process that died had not written yet
 *
 * Both compare facts in one way (`compare`), so a fact is recorded once, whichever of them meets it.
 *
 * 1. A fact that the history does not know, and that is older than its newest entry, is not recorded: it was there before the history
 *    began, or its entry is so old that it is gone.
 * 2. What ended together with its object is recorded by one entry: the cluster left, the workload was removed.
 * 3. A workload that is in no cluster, because none has it yet or its old copy was given up first, was not removed: its binding is there.
 */
import type { KubeObject, LedgerEntry, ResourceBinding } from "@lifeboat/api";
import { formatMicroTime, type Instant, parseTime } from "@lifeboat/base";
import { modeOf, taskOf } from "../binding/index.ts";
import { evictionMarks } from "../failover/evacuation/entry.ts";
import { type Act, didAct, readAct } from "./act.ts";
import { type Fact, factsOf, NO_CLUSTER, type Place, placeOf, readPlace } from "./facts.ts";
import type { LedgerAction } from "./reasons.ts";

type Known = Pick<Fact, "value" | "cluster" | "workload" | "evacuation" | "message">;
export type KnownFacts = ReadonlyMap<string, Known>;

interface Family {
  readonly begins: LedgerAction | ((value: string) => LedgerAction);
  /** Absent: its end is not recorded. */
  readonly ends?: LedgerAction;
  /** Whether it ends with its object, and stands for all facts of it. */
  readonly isExistence?: true;
}

const FAMILIES: Readonly<Record<string, Family>> = {
  joined: { begins: "Joined", ends: "Left", isExistence: true },
  ready: { begins: (value) => (value === "True" ? "Ready" : "NotReady") },
  taint: { begins: "Tainted", ends: "Untainted" },
  fence: { begins: "Fenced", ends: "FenceLifted" },
  action: { begins: "ActionBegan", ends: "ActionEnded" },
  evacuation: { begins: (value) => (value === "open" ? "EvacuationBegan" : "EvacuationEnded") },
  paused: { begins: "Paused", ends: "Resumed" },
  held: { begins: "Held" },
  out: { begins: "Abandoned" },
  approval: { begins: "Approved" },
  "part-paused": { begins: "PartPaused", ends: "PartResumed" },
  rate: { begins: "RateSet", ends: "RateReset" },
  "fleet-paused": { begins: "AllPaused", ends: "AllResumed" },
  word: { begins: "Agreed" },
  remedy: { begins: "RemedyMade", ends: "RemedyDeleted", isExistence: true },
  place: { begins: "Placed", ends: "Removed", isExistence: true },
};

function familyOf(key: string): Family | undefined {
  const at = key.indexOf(" ");
  const name = at < 0 ? key : key.slice(0, at);
  return Object.hasOwn(FAMILIES, name) ? FAMILIES[name] : undefined;
}

/** The entries of a change that was seen. `old` is absent for an object that is new, `now` for one that is gone. */
export function entriesBetween(
  old: KubeObject | undefined,
  now: KubeObject | undefined,
  at: Instant,
): readonly LedgerEntry[] {
  // A name that was given again to another object: the first one is gone.
  if (old !== undefined && now !== undefined && old.metadata.uid !== now.metadata.uid)
    return [...entriesBetween(old, undefined, at), ...entriesBetween(undefined, now, at)];
  const some = now ?? old;
  if (some === undefined || isSamePlace(old, now)) return [];
  const before = new Map((old === undefined ? [] : factsOf(old)).map((fact) => [fact.key, fact]));
  return compare({
    subject: subjectOf(some),
    before,
    now,
    at,
    ...(old !== undefined && isBinding(old) ? { place: placeOf(old) } : {}),
  });
}

export interface MissingView {
  /** What the history shows, by the uids of objects (see `foldEntries`). */
  readonly known: ReadonlyMap<string, KnownSubject>;
  /** The time of the newest entry; undefined: the history is empty, so nothing is missing. */
  readonly horizon: Instant | undefined;
  /** All objects that the history follows. */
  readonly objects: Iterable<KubeObject>;
}

export interface KnownSubject {
  readonly subject: LedgerEntry["subject"];
  readonly facts: KnownFacts;
}

/** Times on objects are whole seconds, and clocks of two leaders differ a little. */
const SLACK_MS = 10_000;

/** The entries by which the history differs from the objects, oldest first. */
export function missingEntries(view: MissingView, at: Instant): readonly LedgerEntry[] {
  const { known, horizon } = view;
  if (horizon === undefined) return [];
  const seen = new Set<string>();
  const found: LedgerEntry[] = [];
  for (const object of view.objects) {
    const { uid } = object.metadata;
    seen.add(uid);
    const before = known.get(uid)?.facts ?? NO_FACTS;
    found.push(
      ...compare({
        subject: subjectOf(object),
        before,
        now: object,
        at,
        notBefore: horizon - SLACK_MS,
      }),
    );
  }
  for (const [uid, { subject, facts }] of known)
    if (!seen.has(uid)) found.push(...compare({ subject, before: facts, now: undefined, at }));
  return found.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

const NO_FACTS: KnownFacts = new Map();

/** What a list of entries shows of each object that is there, by uid. */
export function foldEntries(
  entries: Iterable<LedgerEntry>,
): ReadonlyMap<string, KnownSubject & { readonly facts: KnownFacts }> {
  const found = new Map<string, { subject: LedgerEntry["subject"]; facts: Map<string, Known> }>();
  for (const entry of entries) {
    const { subject, fact, value } = entry;
    if (value === undefined && familyOf(fact)?.isExistence) {
      found.delete(subject.uid);
      continue;
    }
    const known = found.get(subject.uid) ?? { subject, facts: new Map<string, Known>() };
    found.set(subject.uid, known);
    if (value === undefined) known.facts.delete(fact);
    else known.facts.set(fact, { ...entry, value });
  }
  return found;
}

interface Comparison {
  readonly subject: LedgerEntry["subject"];
  readonly before: KnownFacts;
  readonly now: KubeObject | undefined;
  readonly at: Instant;
  /** Unknown facts that are older are not recorded. */
  readonly notBefore?: number;
  /** Of a binding before; absent: as its fact shows. */
  readonly place?: Place;
}

function compare(view: Comparison): readonly LedgerEntry[] {
  const { subject, before, now, at } = view;
  if (now === undefined) return endOfObject(view);
  const act = readAct(now);
  const after = factsOf(now);
  const keys = new Set(after.map(({ key }) => key));
  const begun = after.flatMap((fact): readonly LedgerEntry[] => {
    const known = before.get(fact.key);
    if (known?.value === fact.value) return [];
    if (known === undefined && isTooOld(fact, view, act)) return [];
    const when = formatMicroTime(momentOf(fact, view));
    const from = { ...told(fact), ...actPart(act, fact.key, fact.value) };
    const base = { at: when, subject, fact: fact.key, value: fact.value, ...from };
    if (fact.key === "place") return placeEntries(base, known, now as ResourceBinding, view);
    const family = familyOf(fact.key);
    if (family === undefined) return [];
    const { begins } = family;
    return [{ ...base, action: typeof begins === "string" ? begins : begins(fact.value) }];
  });
  const ended = [...before].flatMap(([key, known]): readonly LedgerEntry[] => {
    const action = keys.has(key) ? undefined : familyOf(key)?.ends;
    if (action === undefined) return [];
    const when = formatMicroTime(at);
    if (key === "place") {
      const { workload } = known;
      const told = { ...(workload === undefined ? {} : { workload }), message: NO_CLUSTER };
      const base = { at: when, subject, fact: key, ...told, ...actPart(act, key, "") };
      return placeEntries(base, known, now as ResourceBinding, view);
    }
    return [{ at: when, action, subject, fact: key, ...told(known), ...actPart(act, key, "") }];
  });
  return [...ended, ...begun];
}

/** An object that is gone: its existence ended, and nothing else is recorded. */
function endOfObject({ subject, before, at }: Comparison): readonly LedgerEntry[] {
  return [...before].flatMap(([key, known]): readonly LedgerEntry[] => {
    const family = familyOf(key);
    if (family?.isExistence === undefined || family.ends === undefined) return [];
    const { message: _former, ...about } = told(known);
    return [{ at: formatMicroTime(at), action: family.ends, subject, fact: key, ...about }];
  });
}

function isTooOld(fact: Fact, { notBefore }: Comparison, act: Act | undefined): boolean {
  if (notBefore === undefined) return false;
  const acted = didAct(act, fact.key, fact.value) ? parseTime(act?.at ?? "") : undefined;
  const at = fact.at ?? acted;
  return at !== undefined && at < notBefore;
}

/** What was seen happened now; what is missing has its own time. */
function momentOf(fact: Fact, { notBefore, at }: Comparison): Instant {
  return notBefore === undefined || fact.at === undefined || fact.at > at ? at : fact.at;
}

function placeEntries(
  base: Omit<LedgerEntry, "action">,
  known: Known | undefined,
  binding: ResourceBinding,
  view: Comparison,
): readonly LedgerEntry[] {
  const is = placeOf(binding);
  const was = view.place ?? (known === undefined ? NOWHERE : readPlace(known.value)) ?? is;
  const left = [...is.leaving].filter((name) => !was.leaving.has(name));
  const over = [...was.leaving].filter((name) => !is.leaving.has(name));
  const isOn = (name: string): boolean =>
    [...is.shares].some((share) => share === name || share.startsWith(`${name}:`));
  const gained = [...is.shares].filter((share) => !was.shares.has(share));
  const back = over.filter(isOn);
  const entries: LedgerEntry[] = [
    ...left.map((cluster) => ({ ...base, ...evicted(binding, cluster) })),
    // No object shows when that was.
    ...over.map((cluster) => ({
      ...base,
      at: formatMicroTime(view.at),
      action: isOn(cluster) ? "TakenBack" : "Cleared",
      cluster,
    })),
  ];
  const isNews = gained.some((share) => !back.some((name) => share.startsWith(name)));
  // A result that only shrank, and not by an eviction, is a decision too.
  if (isNews || entries.length === 0) entries.push({ ...base, action: "Placed" });
  return entries;
}

const NOWHERE: Place = { shares: new Set(), leaving: new Set() };

function evicted(
  binding: ResourceBinding,
  cluster: string,
): Pick<LedgerEntry, "action" | "cluster" | "message" | "evacuation"> {
  const task = taskOf(binding, cluster);
  if (task === undefined) return { action: "Evicted", cluster };
  const state = Object.entries(task.preservedLabelState ?? {})
    .slice(0, 5)
    .map(([key, value]) => `${key}=${value}`);
  const carrying = state.length === 0 ? "" : `, with ${state.join(", ")}`;
  const message = `${task.reason}, ${modeOf(task)}${carrying}`.slice(0, MAX_MESSAGE);
  const [evacuation = ""] = (evictionMarks(binding)[cluster] ?? "").split(" ");
  // An eviction for the workload's own health leaves an older mark as it is.
  const isMarked = evacuation !== "" && task.producer === FOR_TAINTS;
  return { action: "Evicted", cluster, message, ...(isMarked ? { evacuation } : {}) };
}

/** The producer of tasks for taints. */
const FOR_TAINTS = "TaintManager";

const MAX_MESSAGE = 512;

function told({ cluster, workload, evacuation, message }: Partial<Known>): Partial<Known> {
  return {
    ...(cluster === undefined ? {} : { cluster }),
    ...(workload === undefined ? {} : { workload }),
    ...(evacuation === undefined ? {} : { evacuation }),
    ...(message === undefined ? {} : { message: message.slice(0, MAX_MESSAGE) }),
  };
}

function actPart(
  act: Act | undefined,
  key: string,
  value: string,
): Pick<LedgerEntry, "by" | "reason"> {
  if (act === undefined || !didAct(act, key, value)) return {};
  return { by: act.by, ...(act.reason === "" ? {} : { reason: act.reason }) };
}

function subjectOf({ kind, metadata }: KubeObject): LedgerEntry["subject"] {
  const { namespace, name, uid } = metadata;
  return { kind, ...(namespace === undefined ? {} : { namespace }), name, uid };
}

/** Most changes of bindings are reports of their copies, which the history does not record. */
function isSamePlace(old: KubeObject | undefined, now: KubeObject | undefined): boolean {
  if (old === undefined || now === undefined || !isBinding(now)) return false;
  const { generation } = now.metadata;
  return generation !== undefined && generation === old.metadata.generation;
}

function isBinding(object: KubeObject): object is ResourceBinding {
  return object.kind === "ResourceBinding" || object.kind === "ClusterResourceBinding";
}
