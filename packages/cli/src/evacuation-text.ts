/** Evacuations as people read them: one line, a table, or everything that is known of one. At most 80 columns. */
import { ageOf, type Evacuation, humanDuration } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { rateReasons, takenOutOf } from "@lifeboat/core/failover/evacuation";
import { formatTaint } from "./taints.ts";
import { columns, hanging, shorten } from "./wrap.ts";

type Status = NonNullable<Evacuation["status"]>;
type Held = NonNullable<Status["held"]>[number];

const BAR = 20;
const LABEL = 12;

/** How many of those that are to move have moved. */
export function movedOf({ status }: Evacuation): { readonly moved: number; readonly of: number } {
  const { total = 0, done = 0, abandoned = 0, exempt = 0 } = status?.entries ?? {};
  return { moved: done, of: Math.max(0, total - abandoned - exempt) };
}

/** `[##########..........]` */
export function bar(part: number, whole: number): string {
  const filled = whole === 0 ? BAR : Math.floor((BAR * part) / whole);
  return `[${"#".repeat(filled)}${".".repeat(BAR - filled)}]`;
}

/** How far an evacuation is, in one line. */
export function progressLine(evacuation: Evacuation): string {
  const { status } = evacuation;
  const { moved, of } = movedOf(evacuation);
  const { evicted = 0, held = 0 } = status?.entries ?? {};
  const left = status?.estimatedSecondsLeft;
  const parts = [
    `${moved}/${of} moved`,
    ...(evicted > 0 ? [`${evicted} moving`] : []),
    ...(held > 0 ? [`${held} held`] : []),
    ...(left === undefined || status?.phase !== "Running" ? [] : [`${humanSeconds(left)} left`]),
  ];
  const phase = status?.phase ?? "Recording";
  return shorten(`${bar(moved, of)} ${phase}: ${parts.join(", ")}`, 79);
}

/** Why an entry waits, on as many lines as that takes. */
export function heldLines({ binding, reason, message = "" }: Held): readonly string[] {
  const where = binding.namespace === undefined ? "" : `${binding.namespace}/`;
  return hanging("  ", `${where}${binding.name} is held, ${reason}: ${message}`);
}

/** The list of all evacuations, those that go on first, then the newest. */
export function listEvacuations(all: readonly Evacuation[], now: Instant): readonly string[] {
  const order = (one: Evacuation): number => (one.status?.finishedAt === undefined ? 0 : 1);
  const newest = (one: Evacuation): string => one.metadata.creationTimestamp;
  const sorted = all.toSorted(
    (a, b) => order(a) - order(b) || (newest(a) < newest(b) ? 1 : newest(a) > newest(b) ? -1 : 0),
  );
  const rows = sorted.map((one) => {
    const { moved, of } = movedOf(one);
    const { phase = "Recording", reason = "", entries, rate } = one.status ?? {};
    return [
      one.metadata.name,
      phase,
      `${moved}/${of}`,
      String(entries?.held ?? 0),
      rate === undefined || one.status?.finishedAt !== undefined ? "" : `${rate.perSecond}/s`,
      ageOf(one.metadata.creationTimestamp, now),
      reason,
    ];
  });
  return columns(["NAME", "PHASE", "MOVED", "HELD", "RATE", "AGE", "REASON"], rows);
}

/** Everything that is known of one evacuation. */
export function showEvacuation(
  evacuation: Evacuation,
  { phases, moves }: { readonly phases: string; readonly moves: readonly string[] },
  now: Instant,
): readonly string[] {
  const { metadata, spec, status = {} } = evacuation;
  const { moved, of } = movedOf(evacuation);
  const line = (label: string, text: string): readonly string[] =>
    text === "" ? [] : hanging(label.padEnd(LABEL), text);
  return [
    ...line("Evacuation", metadata.name),
    ...line("Cluster", spec.cluster),
    ...line("Phase", phaseText(status)),
    ...(status.taints ?? []).flatMap(({ taint, removedAt }) =>
      line("Taint", formatTaint(taint) + (removedAt === undefined ? "" : `, gone ${removedAt}`)),
    ),
    ...line("Started", withAge(status.startedAt ?? metadata.creationTimestamp, now)),
    ...line("Finished", status.finishedAt === undefined ? "" : withAge(status.finishedAt, now)),
    ...line("Phases", phases),
    ...line("Moved", `${bar(moved, of)} ${moved} of ${of}`),
    ...line("Entries", countsText(status)),
    ...line("Rate", rateText(status)),
    ...line(
      "Time left",
      status.estimatedSecondsLeft === undefined
        ? ""
        : `about ${humanSeconds(status.estimatedSecondsLeft)}`,
    ),
    // A table of the workloads has the same, under the names that people gave them.
    ...section(
      "Held for now:",
      moves.length > 0 ? [] : (status.held ?? []).flatMap((held) => heldLines(held)),
    ),
    ...section(
      "Taken out by a person:",
      takenOutOf(evacuation).flatMap(({ namespace, name }) =>
        hanging("  ", namespace === undefined ? name : `${namespace}/${name}`),
      ),
    ),
    ...section("", moves),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return title === "" ? ["", ...lines] : ["", title, ...lines];
}

function phaseText({ phase = "Recording", reason = "", message = "" }: Partial<Status>): string {
  const why = [reason, message].filter((text) => text !== "").join(": ");
  return why === "" ? phase : `${phase}, ${why}`;
}

/** Of an evacuation that is over they are those of its end; the table is of now. */
function countsText({ entries, finishedAt }: Partial<Status>): string {
  if (entries === undefined) return "";
  const counts = Object.entries(entries)
    .filter(([name, count]) => name === "total" || count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
  return finishedAt === undefined ? counts : `${counts} when it finished`;
}

function rateText({ rate, finishedAt }: Partial<Status>): string {
  if (rate === undefined || finishedAt !== undefined) return "";
  const why = Object.entries(rateReasons).find(([name]) => name === rate.reason)?.[1] ?? "";
  return `${rate.perSecond} per second, ${rate.reason}${why === "" ? "" : `: ${why}`}`;
}

function withAge(time: string, now: Instant): string {
  return `${time} (${ageOf(time, now)} ago)`;
}

function humanSeconds(seconds: number): string {
  return humanDuration(seconds * 1000);
}
