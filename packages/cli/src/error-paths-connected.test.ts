/**
 * Every command that speaks to a control plane: undisturbed it does its work, `--dry-run` changes nothing, without `--yes` nothing hard
 * to take back happens, and when the control plane refuses, breaks, sends something else or goes away in the middle, the command ends
 * soon, with a documented exit code and a sentence of 80 columns. Commands and requests are found, not listed; the world and the calls
 * are in hostile-world.suite.ts and error-calls.suite.ts. All faults at all requests: error-paths.fuzz.test.ts.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { elsewhere } from "./error-elsewhere.suite.ts";
import { named } from "./error-paths.suite.ts";
import {
  ask,
  callsFor,
  connected,
  disturbed,
  expectSentence,
  expectWork,
  FAULTS,
  has,
  planeOf,
  problemOf,
  reasonFor,
  sentenceOf,
  spelled,
} from "./error-table.suite.ts";
import type { Asked, Fault } from "./hostile-plane.suite.ts";

let turn = 0;
/**
 * Of all faults two in turn, and with a write those that commands deal with in their own ways. The faults of the first request are in
 * error-paths.test.ts.
 */
function faultsAt(at: number, request: Asked | undefined): readonly Fault[] {
  if (at === 0) return [];
  const two = [0, 1].map(() => FAULTS[turn++ % FAULTS.length] ?? "closed");
  return request?.isWrite === true ? [...new Set([...two, "forbidden", "conflict"] as const)] : two;
}

/** The first reads, the first writes, and the last of both: those between are of the same kind. */
const FIRST = 4;
const MOST_WRITES = 2;
function chosen(requests: readonly Asked[]): readonly number[] {
  const writes = requests.flatMap(({ isWrite }, at) => (isWrite ? [at] : []));
  const first = requests.slice(0, FIRST).map((_, at) => at);
  const last = [...writes.slice(-1), requests.length - 1];
  return [...new Set([...first, ...writes.slice(0, MOST_WRITES), ...last])];
}

/** What only shows something. Every other command of the table changes something. */
const READERS: ReadonlySet<string> = new Set([
  "get",
  "describe",
  "top",
  "logs",
  "exec",
  "status",
  "watch",
  "history",
  "notifications list",
  "explain",
  "simulate",
  "plan",
  "evacuations list",
  "evacuations show",
  "evacuations watch",
  "brake show",
  "remedy list",
  "traffic",
  "dns records",
  "dns explain",
  "dns stanza",
  "certs list",
  // It changes files, and not before the control plane has told of its agents.
  "certs rotate-ca",
  "token list",
  "users list",
  "version",
]);

const REPOSITORY = join(import.meta.dirname, "../../..");

describe("every command of the program", () => {
  it.each(named)("%s is in the table, or its errors are in a test that there is", (name) => {
    const isInTable = connected.some(([one]) => one === name);
    const files = elsewhere[name] ?? [];
    expect(isInTable || files.length > 0).toBe(true);
    for (const file of files) {
      const path = join(REPOSITORY, file);
      expect(existsSync(path), path).toBe(true);
      // A test that calls the command names its first word.
      if (file.startsWith("tests/")) continue;
      expect(readFileSync(path, "utf8")).toContain(name.split(" ")[0]);
    }
  });

  it("and nothing else is listed", () => {
    const names = named.map(([name]) => name);
    expect([...Object.keys(elsewhere), ...READERS].filter((one) => !names.includes(one))).toEqual(
      [],
    );
  });
});

describe("an older control plane", () => {
  it("is told by the kind that it does not serve", async () => {
    const [, leaf] = connected.find(([name]) => name === "remedy list") ?? [];
    if (leaf === undefined) throw new Error("there is such a command");
    await planeOf().fail(1, "absent");
    const ended = await ask(leaf, []);
    expectSentence(ended, 1);
    expect(sentenceOf(ended)).toMatch(
      /does not serve remedies\.remedy\.karmada\.io in v1alpha1: .*older/,
    );
  });
});

describe("a user without some rights", () => {
  it("sees the rest of the status", async () => {
    const [, leaf] = connected.find(([name]) => name === "status") ?? [];
    if (leaf === undefined) throw new Error("there is such a command");
    await planeOf().behave();
    await ask(leaf, []);
    const count = planeOf().requests.length;
    await planeOf().fail(count - 1, "forbidden");
    const ended = await ask(leaf, []);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain("Hidden ");
  });
});

/** They ask only when something is lost by it, and here nothing is. */
const UNASKED =
  /^(drain pull1|unjoin member3|unregister pull1|taint clusters member1 a=b|evacuations rate --clear)/;

describe.each(connected)("%s", (...one) => {
  const [name, leaf] = one;
  const calls = callsFor(one);

  it("does its work", async () => {
    let isChanged = false;
    for (const call of calls) isChanged = (await expectWork(leaf, call)) || isChanged;
    expect(isChanged).toBe(!READERS.has(name));
  });

  it.runIf(has(leaf, "--dry-run"))("changes nothing with --dry-run", async () => {
    for (const call of calls.filter((words) => !words.includes("--dry-run"))) {
      await planeOf().behave();
      const ended = await ask(leaf, call, "--dry-run");
      expect(problemOf(leaf, call, ended)).toBeUndefined();
      expect([0, reasonFor(leaf, call) === undefined ? 0 : 1], ended.stderr).toContain(ended.code);
      expect(planeOf().isChanged).toBe(false);
    }
  });

  it.runIf(has(leaf, "--yes"))("asks before it does what is hard to take back", async () => {
    for (const call of calls.filter((words) => words.includes("--yes"))) {
      if (UNASKED.test(spelled(leaf, call))) continue;
      const without = call.filter((word) => word !== "--yes");
      await planeOf().behave();
      const ended = await ask(leaf, without);
      expectSentence(ended, 2);
      expect(sentenceOf(ended)).toContain("--yes");
      expect(planeOf().isChanged).toBe(false);
    }
  });

  it("meets faults at its requests", { timeout: 240_000 }, async () => {
    const problems: string[] = [];
    for (const call of calls) problems.push(...(await disturbed(leaf, call, { chosen, faultsAt })));
    expect(problems).toEqual([]);
  });
});
