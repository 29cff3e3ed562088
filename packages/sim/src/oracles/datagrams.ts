/** Asks a DNS server what anyone may ask it: real questions, broken ones, and a flood of them. Its answers are read as bytes. */
import { createRandom } from "@lifeboat/base";
import type { ServedNames } from "./witness.ts";

/** What an answer has at most, and what one without EDNS has. */
const MOST_BYTES = 1232;
const MOST_PLAIN_BYTES = 512;
const HEADER = 12;
const FLOOD = 1000;
const MOST_AMPLIFIED = 4;
/** SRV, A, TXT, SOA and ANY. */
const TYPES = [33, 1, 16, 6, 255];
const GARBAGE = 50;
const TEXT = new TextEncoder();

const judged = new WeakMap<ServedNames, readonly string[]>();

/** What is wrong with how it answers; asked once while it answers by the same names. */
export function datagramProblems(served: ServedNames): readonly string[] {
  const found = judged.get(served) ?? problemsOf(served);
  judged.set(served, found);
  return found;
}

function problemsOf(served: ServedNames): readonly string[] {
  const { names, ask, failures } = served;
  const known = [names.apex, ...names.owners.map(({ name }) => name)];
  const questions = known.flatMap((name) =>
    TYPES.flatMap((type) => [question(name, type), question(name, type, 4096)]),
  );
  const wrong: string[] = [];
  const failed = failures();
  for (const [i, message] of [...questions, ...broken(questions)].entries()) {
    // Each from a network of its own: the limit is judged by the flood.
    const answer = ask(message, `10.${i >> 8}.${i & 255}.1`);
    const hasEdns = message.length > HEADER && message[11] === 1;
    const most = hasEdns ? MOST_BYTES : MOST_PLAIN_BYTES;
    if (answer === undefined) {
      if (i < questions.length) wrong.push("a question of a known name gets no answer");
    } else if (answer.length > Math.max(most, message.length))
      wrong.push(`${message.length} bytes are answered with ${answer.length}`);
    else if (!isWhole(answer)) wrong.push("an answer is not whole");
  }
  wrong.push(...floodProblems(served, questions));
  if (failures() > failed) wrong.push(`${failures() - failed} packets failed`);
  return wrong.slice(0, 5);
}

/** The question with the largest answer, over and over, within one moment. */
function floodProblems({ ask }: ServedNames, questions: readonly Uint8Array[]): readonly string[] {
  let [largest, size] = [questions[0], 0];
  for (const [i, message] of questions.entries()) {
    const { length } = ask(message, `11.${i >> 8}.${i & 255}.1`) ?? [];
    if (length > size) [largest, size] = [message, length];
  }
  if (largest === undefined) return [];
  let answered = 0;
  for (let i = 0; i < FLOOD; i += 1) answered += ask(largest, "12.0.0.1")?.length ?? 0;
  const times = answered / (FLOOD * largest.length);
  return times <= MOST_AMPLIFIED ? [] : [`a flood gets ${times.toFixed(1)} times what it sends`];
}

function question(name: string, type: number, edns?: number): Uint8Array {
  const labels = name.split(".").flatMap((label) => [label.length, ...TEXT.encode(label)]);
  const opt = edns === undefined ? [] : [0, 0, 41, edns >> 8, edns & 255, 0, 0, 0, 0, 0, 0];
  const header = [1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, edns === undefined ? 0 : 1];
  return Uint8Array.from([...header, ...labels, 0, type >> 8, type & 255, 0, 1, ...opt]);
}

/** Questions cut off, overwritten and made longer: the same in every run. */
function broken(questions: readonly Uint8Array[]): readonly Uint8Array[] {
  const random = createRandom(questions.length);
  return Array.from({ length: GARBAGE }, () => {
    const whole = questions[random.below(questions.length)] ?? new Uint8Array();
    const bytes = whole.slice(0, random.below(whole.length + 1));
    const count = random.below(4);
    for (let i = 0; i < count && bytes.length > 0; i += 1)
      bytes[random.below(bytes.length)] = random.below(256);
    return bytes;
  });
}

/** Whether an answer has all the records that its header counts, and nothing behind them. */
function isWhole(answer: Uint8Array): boolean {
  const u16 = (at: number): number => ((answer[at] ?? 0) << 8) | (answer[at + 1] ?? 0);
  if (answer.length < HEADER || (u16(2) & 0x8000) === 0) return false;
  let at = HEADER;
  const skipName = (): void => {
    for (let length = answer[at]; length !== undefined; length = answer[at]) {
      at += length >= 0xc0 ? 2 : length + 1;
      if (length === 0 || length >= 0xc0) return;
    }
  };
  for (let i = 0; i < u16(4); i += 1) {
    skipName();
    at += 4;
  }
  for (let i = 0; i < u16(6) + u16(8) + u16(10); i += 1) {
    skipName();
    at += 10 + u16(at + 8);
  }
  return at === answer.length;
}
