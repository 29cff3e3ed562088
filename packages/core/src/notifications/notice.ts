/** What people are called for: one notice for each, and how it reads. */
import { addMs, formatTime, type Instant } from "@lifeboat/base";
import { defineReasons } from "../plan.ts";

/** Everything that can be sent, each as a sentence. */
export const noticeEvents = defineReasons({
  ClusterFailed: "A cluster does not answer, or is not healthy.",
  ClusterRecovered: "A cluster that had failed is healthy again, or left the fleet.",
  EvacuationBegan: "Workloads have to leave a cluster.",
  EvacuationEnded: "Nothing is left to do for an evacuation.",
  DecisionWaits: "Something goes on only after a person has decided.",
  DecisionMade: "What waited for a person waits no more.",
  Test: "A person asked whether notices arrive.",
});

export type NoticeEvent = keyof typeof noticeEvents;

export const NOTICE_EVENTS = Object.keys(noticeEvents) as readonly NoticeEvent[];

export type Severity = "critical" | "warning" | "info";

export interface Notice {
  /** The same for every attempt and every process: receivers know a notice that comes twice by it. */
  readonly id: string;
  readonly event: NoticeEvent;
  /** Whether a state began or ended. */
  readonly status: "firing" | "resolved";
  /** Of the state, the same when it ends: Alertmanager knows an alert by all its labels. */
  readonly severity: Severity;
  /** Groups what begins and ends: `LifeboatClusterFailed`. */
  readonly alert: string;
  /** What it is about: a cluster, an evacuation, a command. With `alert` it names one state. */
  readonly subject: string;
  /** One sentence. */
  readonly summary: string;
  /** What a person runs; "" where there is nothing to run. */
  readonly command: string;
  readonly cluster: string;
  readonly evacuation: string;
  /** When the state began. */
  readonly startsAt: Instant;
  /** When it ended; undefined: it lasts. */
  readonly endsAt: Instant | undefined;
}

/** How long a receiver that forgets alerts keeps one that has not ended. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** The fields that templates name, each as a text. */
export function fieldsOf(notice: Notice, plane: string): Readonly<Record<string, string>> {
  const { startsAt, endsAt, event, ...texts } = notice;
  const ends = endsAt ?? addMs(startsAt, KEPT_MS);
  return {
    ...texts,
    event,
    meaning: noticeEvents[event],
    plane,
    icon: notice.status === "resolved" ? ":white_check_mark:" : ICONS[notice.severity],
    run: notice.command === "" ? "" : `\n→ \`${notice.command}\``,
    at: formatTime(endsAt ?? startsAt),
    startsAt: formatTime(startsAt),
    endsAt: formatTime(ends),
  };
}

const ICONS: Readonly<Record<Severity, string>> = {
  critical: ":rotating_light:",
  warning: ":warning:",
  info: ":information_source:",
};

export function testNotice(now: Instant): Notice {
  return {
    id: `test-${formatTime(now)}`,
    event: "Test",
    status: "firing",
    severity: "info",
    alert: "LifeboatTest",
    subject: "test",
    summary: "this is a test: notices of Lifeboat arrive here",
    command: "",
    cluster: "",
    evacuation: "",
    startsAt: now,
    // An alert that ends by itself.
    endsAt: addMs(now, 60_000),
  };
}
