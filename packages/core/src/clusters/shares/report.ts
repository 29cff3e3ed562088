/**
 * What a replica reports on its own Lease, for the other replicas: whether it can see, what it asks, what it answers.
 *
 * 1. Any text reads as a report: what is missing or of the wrong type is absent. Leases are written by replicas of other versions, too.
 * 2. A report stays small, whatever happens to a fleet: questions that do not fit are asked once earlier ones are settled.
 */
import { isJsonObject, type JsonObject } from "@lifeboat/api";
import { compareText } from "../../fields.ts";

export interface ReplicaReport {
  /** It lost so much of its share that its own network is the likelier cause (sight.ts). */
  readonly isBlind: boolean;
  /** Members that it cannot reach and another replica can. */
  readonly ceded: readonly string[];
  /** By member of its own that does not answer: the question to the second replica, which no other question equals. */
  readonly questions: ReadonlyMap<string, string>;
  /** By member: the answer to a question of another replica. */
  readonly answers: ReadonlyMap<string, SecondAnswer>;
  /** How many members it works on, for people. */
  readonly members: number;
}

export interface SecondAnswer {
  readonly question: string;
  /** Whether the member answered the last probe. */
  readonly isReached: boolean;
}

export const EMPTY_REPORT: ReplicaReport = Object.freeze({
  isBlind: false,
  ceded: Object.freeze([]),
  questions: new Map<string, string>(),
  answers: new Map<string, SecondAnswer>(),
  members: 0,
});

/** The most names in each list of a report: some 20 KB of an annotation. */
export const MOST_NAMES = 100;

/** The report as text; the same report gives the same text. */
export function formatReport(report: ReplicaReport): string {
  const { isBlind, ceded, questions, answers, members } = report;
  return JSON.stringify({
    members,
    ...(isBlind && { isBlind }),
    ...(ceded.length > 0 && { ceded: ceded.toSorted(compareText).slice(0, MOST_NAMES) }),
    ...(questions.size > 0 && { questions: Object.fromEntries(firstNames(questions)) }),
    ...(answers.size > 0 && { answers: Object.fromEntries(firstNames(answers)) }),
  });
}

/** The report that a text holds. */
export function parseReport(text: string | undefined): ReplicaReport {
  const read = objectIn(text);
  if (read === undefined) return EMPTY_REPORT;
  const { isBlind, ceded, questions, answers, members } = read;
  return {
    isBlind: isBlind === true,
    ceded: Array.isArray(ceded) ? ceded.filter((name) => typeof name === "string") : [],
    questions: new Map(
      entriesOf(questions).flatMap(([name, question]) =>
        typeof question === "string" ? [[name, question] as const] : [],
      ),
    ),
    answers: new Map(
      entriesOf(answers).flatMap(([name, answer]) => {
        if (!isJsonObject(answer)) return [];
        const { question, isReached } = answer;
        if (typeof question !== "string" || typeof isReached !== "boolean") return [];
        return [[name, { question, isReached }] as const];
      }),
    ),
    members: typeof members === "number" ? members : 0,
  };
}

function firstNames<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].toSorted(([a], [b]) => compareText(a, b)).slice(0, MOST_NAMES);
}

function objectIn(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const read: unknown = JSON.parse(text);
    return isJsonObject(read) ? read : undefined;
  } catch {
    // What is no JSON is no report.
    return undefined;
  }
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(value) ? Object.entries(value) : [];
}
