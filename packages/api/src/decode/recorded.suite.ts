/** Reads the answers recorded from the real Kubernetes libraries (see tools/api-fixtures). */
import { readFileSync } from "node:fs";

export interface RecordedCase<Question, Answer> {
  readonly question: Question;
  readonly answer: Answer;
}

/** `path` is relative to packages/api/src: `quantity/fixtures/quantity.json`. */
export function recordedCases<Question, Answer>(
  path: string,
): readonly RecordedCase<Question, Answer>[] {
  const file = new URL(`../${path}`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as RecordedCase<Question, Answer>[];
}
