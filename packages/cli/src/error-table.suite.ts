/**
 * The table of faults: every command that speaks to a control plane, each call on a world of its own. Undisturbed the call does its
 * work; then its requests meet faults, one after the other. Which requests and how many faults is the caller's to choose: some in the
 * unit tests, all of them in error-paths.fuzz.test.ts.
 */
import { afterAll, beforeAll, expect } from "vitest";
import { elsewhere } from "./error-elsewhere.suite.ts";
import type { Call } from "./error-calls.suite.ts";
import type { Ended, Leaf } from "./error-paths.suite.ts";
import { loadHostile } from "./hostile-modules.suite.ts";
import type { Asked, Fault, HostilePlane } from "./hostile-plane.suite.ts";

const hostile = await loadHostile();
const {
  callsOf,
  documentedCodes,
  FAULTS,
  INSIDE,
  kubeconfig,
  memberKubeconfig,
  named,
  run,
  tooWide,
  withOptions,
} = hostile;
export const { expectSentence, has, sentenceOf } = hostile;

/** How a command may end, by the table of docs/commands.md: a code that names commands is theirs alone. */
function codesOf(leaf: Leaf, call: Call): readonly number[] {
  const words = [...leaf.words, ...call].join(" ");
  return documentedCodes()
    .filter(
      ({ of }) =>
        of.length === 0 ||
        of.some((one) => one.split(" ").every((word) => words.split(" ").includes(word))),
    )
    .map(({ code }) => code);
}

/** Could not be carried out, called wrongly. */
const FAILED: readonly number[] = [1, 2];

/** The commands of the table. */
export const connected = named.filter(
  ([name, leaf]) => has(leaf, "--kubeconfig") && elsewhere[name] === undefined,
);

let plane: HostilePlane;
export const planeOf = (): HostilePlane => plane;
beforeAll(async () => {
  plane = await hostile.openHostilePlane();
  kubeconfig(plane.memberUrl, memberKubeconfig);
});
afterAll(async () => {
  await plane.close();
  hostile.unload();
});

export type Connected = (typeof connected)[number];

export const callsFor = ([name, leaf]: Connected): readonly Call[] => callsOf(name, leaf);

/** They ask a member once, and could be stopped meanwhile. */
const ONCE: ReadonlySet<string> = new Set(["logs", "exec"]);

export function ask(leaf: Leaf, call: Call, ...more: readonly string[]): Promise<Ended> {
  hostile.endsByItself(ONCE.has(leaf.words.join(" ")));
  return run(...leaf.words, ...withOptions(call, "--kubeconfig", kubeconfig(plane.url), ...more));
}

/** What is no text for people may be as wide as it is. */
const DOCUMENTS = /^(json|yaml|zone)$/;
/** Manifests, configurations, a line for each object; tables of `get` have the columns that the API server gives them, as in kubectl. */
const AS_WIDE_AS_IT_IS = ["dns stanza", "users add", "register", "install", "adopt", "get"];

function isDocument({ words }: Leaf, call: Call): boolean {
  const isCommandLine = call.includes("--print-register-command");
  return isCommandLine || AS_WIDE_AS_IT_IS.includes(words.join(" ")) || call.some(isForm);
}

const isForm = (word: string): boolean => DOCUMENTS.test(word);

/** What is wrong with how a command ended; undefined: nothing. */
export function problemOf(leaf: Leaf, call: Call, ended: Ended): string | undefined {
  const { code, stdout, stderr } = ended;
  if (!codesOf(leaf, call).includes(code)) return `code ${code}`;
  const inside = INSIDE.exec(`${stdout}\n${stderr}`);
  if (inside !== null) return `prints ${JSON.stringify(inside[0])}`;
  const wide = tooWide(stderr) ?? (isDocument(leaf, call) ? undefined : tooWide(stdout));
  if (wide !== undefined) return `prints a line of ${wide.length} columns: ${wide}`;
  if (!FAILED.includes(code)) return undefined;
  return /^lifeboat:\s+\S/m.test(stderr) ? undefined : "no sentence";
}

/** Which right a person has to ask for is part of the sentence; what the fault does to a call that goes on is no error. */
function noHint(fault: Fault, ended: Ended): string | undefined {
  const isRefusal = FAILED.includes(ended.code) && sentenceOf(ended).includes(" cannot do it");
  if (fault !== "forbidden" || !isRefusal) return undefined;
  return sentenceOf(ended).includes("ask an administrator") ? undefined : "no hint";
}

/** Calls that cannot end well in this world, and with which words they end. */
const ENDS_OTHERWISE: readonly (readonly [call: RegExp, why: RegExp])[] = [
  // No controllers run here, so nothing is signed and nothing leaves: tests/registration, tests/rights and tests/failover have them.
  [/^users add/, /issued no certificate within .*does it run its controller/],
  [/^register --detector/, /issued no certificate within .*does it run its controller/],
  [/^drain member2/, /is not empty in this time; the order stands/],
  // No way leads into members here: tests/proxy.
  [/^get pods -C/, /passes no requests on to members/],
  [/^logs/, /passes no requests on to members/],
  [/^exec/, /passes no requests on to members/],
  // Refused for a reason that the call was made for.
  [/^join member9 --cluster-kubeconfig PATH$/, /plain http.*--allow-insecure-http/],
  [/^install --dry-run/, /not installed by Lifeboat.*--force/],
  [/^certs rotate-ca --commit/, /an agent does not trust the next authority yet: pull1/],
];

/** As a person would type it; files of this run have no name. */
export const spelled = (leaf: Leaf, call: Call): string =>
  [...leaf.words, ...call.map((word) => (word.startsWith("/") ? "PATH" : word))].join(" ");

/** Why the call may not have done its work; undefined: it has to. */
export function reasonFor(leaf: Leaf, call: Call): RegExp | undefined {
  const text = spelled(leaf, call);
  return ENDS_OTHERWISE.find(([one]) => one.test(text))?.[1];
}

/** Undisturbed, the call does its work. Answers whether it changed anything. */
export async function expectWork(leaf: Leaf, call: Call): Promise<boolean> {
  await plane.behave();
  const ended = await ask(leaf, call);
  const otherwise = reasonFor(leaf, call);
  expect(problemOf(leaf, call, ended)).toBeUndefined();
  if (otherwise === undefined) expect(FAILED, ended.stderr).not.toContain(ended.code);
  else {
    expect(ended.code).toBe(1);
    expect(sentenceOf(ended)).toMatch(otherwise);
  }
  return plane.isChanged;
}

export interface Disturbance {
  /** Which of the requests of a call meet faults. */
  readonly chosen: (requests: readonly Asked[]) => readonly number[];
  /** The faults of a request, by its number. */
  readonly faultsAt: (at: number, request: Asked | undefined) => readonly Fault[];
}

/** Disturbed, it ends with a documented code and, where it could not do its work, with a sentence. Answers what did not. */
export async function disturbed(
  leaf: Leaf,
  call: Call,
  { chosen, faultsAt }: Disturbance,
): Promise<readonly string[]> {
  await plane.behave();
  await ask(leaf, call);
  const problems: string[] = [];
  const { requests } = plane;
  for (const from of chosen(requests))
    for (const fault of faultsAt(from, requests[from])) {
      // A conflict is over when the object has been read again.
      await plane.fail(from, fault, fault === "conflict");
      const ended = await ask(leaf, call);
      const problem = problemOf(leaf, call, ended) ?? noHint(fault, ended);
      if (problem !== undefined)
        problems.push(
          `${spelled(leaf, call)}: ${fault} from request ${from} on: ${problem}: ${ended.stderr}${ended.stdout}`,
        );
    }
  return problems;
}

export { FAULTS };
