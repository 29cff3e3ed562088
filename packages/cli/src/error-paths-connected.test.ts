/**
 * Every request of every command meets every fault: the control plane refuses, breaks, sends something else or goes away in the middle.
 * The command ends soon, with a documented exit code; where it could not do what was asked, with a sentence and no stack. Commands and
 * requests are found, not listed, so a new command is in the table at once.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Ended } from "./error-paths.suite.ts";
import type { Fault, HostilePlane } from "./hostile-plane.suite.ts";

/** Commands that run until a signal are stopped after a moment: no signal is sent in this test. */
vi.doMock("./stopping.ts", async (original) => ({
  ...(await original<object>()),
  stopOnSignal: () => {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 60);
    return {
      signal: stop.signal,
      stop: () => stop.abort(),
      waitFor: () => undefined,
      release: () => clearTimeout(timer),
    };
  },
}));
// Test files share loaded modules: those that have the real one are loaded again, and so they are after this file.
vi.resetModules();
const { call, directory, expectSentence, kubeconfig, named, speaking } =
  await import("./error-paths.suite.ts");
const { openHostilePlane } = await import("./hostile-plane.suite.ts");
afterAll(() => {
  vi.doUnmock("./stopping.ts");
  vi.resetModules();
});

/** Commands deal with these each in its own way, so each request meets them. */
const ALWAYS: readonly Fault[] = ["forbidden", "absent", "conflict"];

/** They are dealt with in one place, so each request meets two of them, in turn. */
const IN_TURN: readonly Fault[] = [
  "busy",
  "broken",
  "slow store",
  "garbage",
  "another document",
  "a page",
  "cut off",
  "closed",
];

/** 0 done, 1 could not be carried out, 2 called wrongly, 3 and 4 as status, simulate and plan document them. */
const CODES = [0, 1, 2, 3, 4];

let plane: HostilePlane;
const manifest = join(directory, "edit.yaml");
beforeAll(async () => {
  plane = await openHostilePlane();
  writeFileSync(
    manifest,
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
  );
});
afterAll(() => plane.close());

const MORE: Readonly<Record<string, readonly string[]>> = {
  plan: ["-f", manifest, "--for", "10s"],
  simulate: ["--for", "10s"],
  drain: ["--timeout", "50ms"],
  unjoin: ["--wait", "50ms"],
  unregister: ["--wait", "50ms"],
};

/** Those that are left out of the cases without a control plane, and end by themselves when there is one. */
const ALSO = ["plan", "unregister", "uninstall", "adopt", "install"];
/** They wait for seconds until the control plane has signed something, which needs its controllers: see token.test.ts, tests/rights. */
const WAITING = ["token create", "users add"];
const connected = named.filter(
  ([name]) =>
    (speaking.some(([one]) => one === name) || ALSO.includes(name)) && !WAITING.includes(name),
);

/** Commands that read or write many objects do the same for each. */
const MOST_REQUESTS = 12;

async function ask([name, leaf]: (typeof connected)[number]): Promise<Ended> {
  const longs = new Set(leaf.command.options.map(({ long }) => long));
  const yes = longs.has("--yes") && name !== "evacuations approve" ? ["--yes"] : [];
  const more = [...(MORE[name] ?? []), ...yes, "--kubeconfig", kubeconfig(plane.url)];
  return call(name, leaf, ...more);
}

/** What is wrong with how a command ended; undefined: nothing. */
function problemOf(ended: Ended): string | undefined {
  const said = `${ended.stdout}\n${ended.stderr}`;
  if (!CODES.includes(ended.code)) return `code ${ended.code}`;
  const inside = /\n\s+at |this is a bug|\[object |\bundefined\b|node_modules|\bNaN\b/.exec(said);
  if (inside !== null) return `prints ${JSON.stringify(inside[0])}`;
  try {
    if (ended.code === 1 || ended.code === 2) expectSentence(ended, ended.code);
  } catch {
    return "no sentence";
  }
  return undefined;
}

let turn = 0;
/** The first request of every command is the same one, and error-paths.test.ts has its faults. */
function faultsAt(request: number): readonly Fault[] {
  const two = [0, 1].map(() => IN_TURN[turn++ % IN_TURN.length] ?? "closed");
  return request === 0 ? two.slice(0, 1) : [...ALWAYS, ...two];
}

it("there are such commands", () => {
  expect(connected.length).toBeGreaterThan(50);
});

describe("an older control plane", () => {
  it("is told by the kind that it does not serve", async () => {
    const remedy = named.find(([name]) => name === "remedy list");
    plane.fail(1, "absent");
    const ended = await ask(remedy as (typeof named)[number]);
    expectSentence(ended, 1);
    expect(ended.stderr).toMatch(
      /does not serve remedies\.remedy\.karmada\.io in v1alpha1: .*older/,
    );
  });
});

describe("a user without some rights", () => {
  it("sees the rest of the status", async () => {
    const status = named.find(([name]) => name === "status");
    plane.behave();
    await ask(status as (typeof named)[number]);
    const count = plane.requests;
    plane.fail(count - 1, "forbidden");
    const ended = await ask(status as (typeof named)[number]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain("Hidden ");
  });
});

describe.each(connected)("%s", (...one) => {
  it("meets every fault at each of its requests", { timeout: 120_000 }, async () => {
    plane.behave();
    await ask(one);
    const count = Math.min(plane.requests, MOST_REQUESTS);
    const problems: string[] = [];
    for (let from = 0; from < count; from++)
      for (const fault of faultsAt(from)) {
        // A conflict is over when the object has been read again.
        plane.fail(from, fault, fault === "conflict");
        const ended = await ask(one);
        const problem = problemOf(ended);
        if (problem !== undefined)
          problems.push(
            `${fault} from request ${from} on: ${problem}: ${ended.stderr}${ended.stdout}`,
          );
      }
    expect(problems).toEqual([]);
  });
});
