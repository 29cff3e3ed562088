/**
 * Which notice is sent next, from the history (clusters and evacuations) and from what waits for a person now.
 *
 * The record is what was sent so far: the number of the last entry of the history that was considered, and the states that receivers
 * believe to last. It is written after each notice, so a process that dies sends the last notice again and no other.
 *
 * 1. A state is sent once when it begins and once when it ends; entries that repeat it are passed over.
 * 2. The end of a state whose beginning was not sent is not sent.
 * 3. Entries are considered in the order of their numbers, before waits. A wait is sent once it has lasted for `SETTLED_MS`: what
 *    is gone before a person could read it needs no person.
 * 4. Entries from before the first start are not sent. What waits at the first start is.
 */
import type { LedgerEntry } from "@lifeboat/api";
import { addMs, type Instant, instantOf, parseTime } from "@lifeboat/base";
import { safeHash } from "../placement/division/hash.ts";
import { entrySentence, type NumberedEntry } from "../history/index.ts";
import type { Wait } from "../operating/index.ts";
import type { Notice, NoticeEvent, Severity } from "./notice.ts";

/** What was sent so far. */
export interface NoticeRecord {
  /** Of the last entry of the history that was considered. */
  readonly number: number;
  /** The states that last, by their keys. */
  readonly open: Readonly<Record<string, OpenState>>;
}

export interface OpenState {
  readonly since: Instant;
  /** What was sent about it. */
  readonly summary: string;
}

/** A wait with the time at which this process first saw it. */
export interface SeenWait extends Wait {
  readonly seenAt: Instant;
}

export interface NoticesView {
  /** In the order of their numbers. */
  readonly entries: readonly NumberedEntry[];
  readonly waits: readonly SeenWait[];
  /** The events that are sent; others change the record only. */
  readonly events: ReadonlySet<NoticeEvent>;
}

export interface NextNotice {
  /** undefined: there is nothing to send now. */
  readonly notice: Notice | undefined;
  /** The record once the notice is sent. */
  readonly record: NoticeRecord;
  /** When a wait has lasted long enough. */
  readonly checkAgainAt?: Instant;
}

/** How long a wait must last. */
export const SETTLED_MS = 10_000;

/** The record of a control plane whose notices begin now. */
export function firstRecord(entries: readonly NumberedEntry[]): NoticeRecord {
  return considered({ number: 0, open: {} }, entries, new Set()).record;
}

/** What to send next, and what the record is then. */
export function nextNotice(record: NoticeRecord, view: NoticesView, now: Instant): NextNotice {
  const newest = view.entries.at(-1)?.number ?? 0;
  // A control plane that was restored from a backup numbers its entries from there again.
  const known = record.number > newest ? { ...record, number: newest } : record;
  const first = considered(known, view.entries, view.events);
  if (first.notice !== undefined) return first;
  return ofWaits(first.record, view, now);
}

/** Considers entries up to the first that is sent. */
function considered(
  from: NoticeRecord,
  entries: readonly NumberedEntry[],
  events: ReadonlySet<NoticeEvent>,
): NextNotice {
  let record = from;
  for (const entry of entries) {
    if (entry.number <= record.number) continue;
    const step = afterEntry(record, entry);
    record = { ...step.record, number: entry.number };
    if (step.notice !== undefined && events.has(step.notice.event))
      return { notice: step.notice, record };
  }
  return { notice: undefined, record };
}

function afterEntry(record: NoticeRecord, entry: NumberedEntry): NextNotice {
  const { action, cluster = "", evacuation = "" } = entry;
  switch (action) {
    case "NotReady":
      return begun(record, entry, {
        key: `cluster ${cluster}`,
        event: "ClusterFailed",
        severity: "critical",
        alert: CLUSTER_FAILED,
        subject: cluster,
        command: "lifeboat status",
      });
    case "Ready":
    case "Left":
      return ended(record, entry, {
        key: `cluster ${cluster}`,
        event: "ClusterRecovered",
        severity: "critical",
        alert: CLUSTER_FAILED,
        subject: cluster,
      });
    case "EvacuationBegan":
      return begun(record, entry, {
        key: `evacuation ${evacuation}`,
        event: "EvacuationBegan",
        severity: "warning",
        alert: EVACUATION,
        subject: evacuation,
        command: `lifeboat evacuations watch ${evacuation}`,
      });
    case "EvacuationEnded":
      return ended(record, entry, {
        key: `evacuation ${evacuation}`,
        event: "EvacuationEnded",
        severity: "warning",
        alert: EVACUATION,
        subject: evacuation,
        command: `lifeboat evacuations show ${evacuation}`,
      });
    default:
      return { notice: undefined, record };
  }
}

const CLUSTER_FAILED = "LifeboatClusterFailed";
const EVACUATION = "LifeboatEvacuation";
const DECISION = "LifeboatDecisionWaits";

interface Begun {
  readonly key: string;
  readonly event: NoticeEvent;
  readonly severity: Severity;
  readonly alert: string;
  readonly subject: string;
  readonly command: string;
}

type Ended = Omit<Begun, "command"> & { readonly command?: string };

function begun(record: NoticeRecord, entry: NumberedEntry, what: Begun): NextNotice {
  const { key, ...named } = what;
  if (record.open[key] !== undefined) return { notice: undefined, record };
  const open: OpenState = { since: timeOf(entry), summary: entrySentence(entry) };
  return {
    notice: noticeOf({ ...named, ...ofEntry(entry) }, open),
    record: withOpen(record, key, open),
  };
}

function ended(record: NoticeRecord, entry: NumberedEntry, what: Ended): NextNotice {
  const { key, ...named } = what;
  const open = record.open[key];
  if (open === undefined) return { notice: undefined, record };
  const over = { ...open, summary: entrySentence(entry) };
  return {
    notice: noticeOf({ ...named, ...ofEntry(entry) }, over, timeOf(entry)),
    record: withoutOpen(record, key),
  };
}

function ofEntry({
  number,
  cluster,
  evacuation,
}: NumberedEntry): Pick<Told, "id" | "cluster" | "evacuation"> {
  return {
    id: `history-${number}`,
    ...(cluster === undefined ? {} : { cluster }),
    ...(evacuation === undefined ? {} : { evacuation }),
  };
}

/** The fields of a notice beside when its state began and ended; what does not apply is empty. */
type Told = Pick<Notice, "id" | "event" | "severity" | "alert" | "subject"> &
  Partial<Pick<Notice, "command" | "cluster" | "evacuation">>;

/** The notice of a state that begins or, with `endsAt`, is over: it never ends before it began, whatever clocks did. */
function noticeOf(told: Told, { since, summary }: OpenState, endsAt?: Instant): Notice {
  return {
    command: "",
    cluster: "",
    evacuation: "",
    ...told,
    status: endsAt === undefined ? "firing" : "resolved",
    summary,
    startsAt: since,
    endsAt: endsAt === undefined || endsAt > since ? endsAt : since,
  };
}

/** Ends first: receivers must not believe in a wait that a person has ended. */
function ofWaits(record: NoticeRecord, view: NoticesView, now: Instant): NextNotice {
  const waits = new Map(view.waits.map((wait) => [waitKey(wait), wait]));
  let known = record;
  for (const [key, open] of Object.entries(record.open)) {
    if (!key.startsWith(WAIT) || waits.has(key)) continue;
    known = withoutOpen(known, key);
    if (view.events.has("DecisionMade"))
      return { notice: waitNotice(key, open, now), record: known };
  }
  let checkAgainAt: Instant | undefined;
  for (const [key, wait] of waits) {
    if (known.open[key] !== undefined) continue;
    const due = addMs(wait.seenAt, SETTLED_MS);
    if (due > now) {
      if (checkAgainAt === undefined || due < checkAgainAt) checkAgainAt = due;
      continue;
    }
    const open: OpenState = { since: wait.seenAt, summary: wait.message };
    known = withOpen(known, key, open);
    if (view.events.has("DecisionWaits"))
      return { notice: waitNotice(key, open, undefined, wait.command), record: known };
  }
  return {
    notice: undefined,
    record: known,
    ...(checkAgainAt === undefined ? {} : { checkAgainAt }),
  };
}

const WAIT = "wait ";

/** One decision, however many workloads wait for it: the message counts them, the command does not. */
export function waitKey({ reason, command }: Wait): string {
  return `${WAIT}${reason} ${command}`;
}

function waitNotice(
  key: string,
  open: OpenState,
  endsAt: Instant | undefined,
  command = "",
): Notice {
  const isOver = endsAt !== undefined;
  const told: Told = {
    id: `wait-${safeHash(`${key} ${open.since}`)}${isOver ? "-over" : ""}`,
    event: isOver ? "DecisionMade" : "DecisionWaits",
    severity: "critical",
    alert: DECISION,
    subject: key.slice(WAIT.length),
    command,
  };
  const summary = isOver ? `waits no more: ${open.summary}` : open.summary;
  return noticeOf(told, { ...open, summary }, endsAt);
}

function withOpen(record: NoticeRecord, key: string, open: OpenState): NoticeRecord {
  return { ...record, open: { ...record.open, [key]: open } };
}

function withoutOpen(record: NoticeRecord, key: string): NoticeRecord {
  const { [key]: _over, ...open } = record.open;
  return { ...record, open };
}

function timeOf({ at }: LedgerEntry): Instant {
  return parseTime(at) ?? instantOf(0);
}
