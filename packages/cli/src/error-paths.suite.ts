/** Every command of the program with arguments that fit, run in this process as a person runs it, and what every error has to be. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, vi } from "vitest";
import { createProgram, main } from "./main.ts";
import { WIDTH } from "./wrap.ts";

export interface Leaf {
  readonly words: readonly string[];
  readonly command: Command;
}

/** Every command that does something. */
function leavesOf(command: Command, words: readonly string[] = []): readonly Leaf[] {
  const below = command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]));
  return below.length === 0 && words.length > 0 ? [{ words, command }] : below;
}

const leaves = leavesOf(createProgram()).filter(({ words }) => words[0] !== "help");
export const named = leaves.map((leaf) => [leaf.words.join(" "), leaf] as const);

/** For all test files of this process, which share this module: it goes with the process, not with the first of them. */
export const directory = mkdtempSync(join(tmpdir(), "lifeboat-errors-"));
for (const end of ["exit", "disconnect"])
  process.once(end, () => rmSync(directory, { recursive: true, force: true }));

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As the command left it: the compiler believes that it is what was set before. */
function exitCode(): number {
  return Number(process.exitCode ?? 0);
}

/** What the program listens to as long as its process lives. */
const LISTENED: readonly (readonly [NodeJS.EventEmitter, string])[] = [
  [process.stdout, "error"],
  [process, "SIGTERM"],
  [process, "SIGINT"],
];

/** What a property was is put back. */
function withTerminal(): () => void {
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  return () => {
    process.stderr.isTTY = isTTY;
  };
}

/** Variables of the shell that started the tests: `run` removes them. */
const OURS: ReadonlyMap<string, string | undefined> = new Map(
  Object.entries(process.env).filter(
    ([name]) => name.startsWith("LIFEBOAT_") || name === "KUBECONFIG",
  ),
);

/** Where a command looks by itself there is nothing. What the variables were is put back. */
function withoutHome(): () => void {
  const before = new Map<string, string | undefined>();
  const set = (name: string, value: string | undefined): void => {
    before.set(name, process.env[name]);
    setOrRemove(name, value);
  };
  for (const [name, value] of OURS) if (process.env[name] === value) set(name, undefined);
  set("XDG_DATA_HOME", join(directory, "nothing"));
  set("HOME", join(directory, "nobody"));
  return () => {
    for (const [name, value] of before) setOrRemove(name, value);
  };
}

function setOrRemove(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

// Other tests of this process run the program as well: Node would take that for a leak, and print so into the errors of a command.
for (const [of] of LISTENED) of.setMaxListeners(0);

/** Runs a command with errors on a terminal, no terminal to answer on, and without variables of this machine. */
export const run = (...args: readonly string[]): Promise<Ended> => runBy(main, ...args);

export async function runBy(program: typeof main, ...args: readonly string[]): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  const out = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
  const err = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
  const before = process.exitCode;
  const backToPipe = withTerminal();
  const backHome = withoutHome();
  const added = LISTENED.map(([of, event]) => [of, event, of.listeners(event)] as const);
  process.exitCode = undefined;
  try {
    await program(args);
    return { code: exitCode(), stdout, stderr };
  } finally {
    process.exitCode = before;
    backToPipe();
    backHome();
    // In a process of its own the program runs once.
    for (const [of, event, before] of added)
      for (const one of of.listeners(event))
        if (!before.includes(one)) of.off(event, one as () => void);
    out.mockRestore();
    err.mockRestore();
  }
}

/** What no person should have to read. */
export const INSIDE =
  /\n\s+at |this is a bug|\[object |\bundefined\b|node_modules|\bNaN\b|\p{Cc}(?<!\n)/u;

/**
 * The first line that is wider than the others may be; undefined: none. What a person copies is never broken: a line that is one long
 * word (an address, a path, a name) has the width that it has.
 */
export function tooWide(text: string): string | undefined {
  return text.split("\n").find((line) => line.length > WIDTH && /\S\s+\S/.test(line));
}

/** The exit codes of docs/commands.md: those of all commands, and those of some. */
export function documentedCodes(): readonly { readonly code: number; readonly of: string[] }[] {
  const page = join(import.meta.dirname, "../../../docs/commands.md");
  return [...readFileSync(page, "utf8").matchAll(/^\| (\d) +\| (.*) \|$/gm)].map(
    ([, code, meaning = ""]) => ({
      code: Number(code),
      of: [...meaning.matchAll(/`([a-z][^`]*)`/g)].map(([, command = ""]) => command),
    }),
  );
}

/** A sentence for a person, and nothing of the program's inside. */
export function expectSentence(ended: Ended, code: number): void {
  expect(ended.stderr).toMatch(/^(lifeboat|error):\s+\S/m);
  expect(ended.stderr).not.toMatch(INSIDE);
  expect(tooWide(ended.stderr)).toBeUndefined();
  expect(ended.code).toBe(code);
}

/** The error in one line, as where there is no terminal. */
export function sentenceOf({ stderr }: Ended): string {
  return stderr.replace(/\n +/g, " ");
}

/** Words that stand for the arguments, of the form that the command wants. */
export const WORDS: Readonly<Record<string, string>> = {
  WORKLOAD: "deployment/web",
  ABOUT: "member1",
  KIND: "clusters",
  SHELL: "bash",
  TAINTS: "a=b:NoSchedule",
  POD: "web-0",
  "ID...": "abcdef",
};

export function argumentsOf({ command }: Leaf): readonly string[] {
  return command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => argument.argChoices?.[0] ?? WORDS[argument.name()] ?? "member1");
}

/** Options without which nothing is tried. */
export const NEEDED: Readonly<Record<string, readonly string[]>> = {
  join: ["--cluster-kubeconfig", "/nowhere/kubeconfig"],
  "member fail": ["--mode", "api-down"],
  simulate: ["--fail", "member1"],
  "evacuations pause": ["--all"],
  "evacuations resume": ["--all"],
  "evacuations approve": ["member1", "--yes"],
  describe: ["member1"],
  failback: ["deployment/web"],
  logs: ["-C", "member1"],
  exec: ["-C", "member1", "--", "true"],
};

/** They run until they are stopped, work on files of this host, or speak to something else than a control plane: see the tests of each. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "manager",
  "members",
  "gateway",
  "dns serve",
  "install",
  "uninstall",
  "adopt",
  "register",
  "unregister",
  "plan",
  "certs rotate-ca",
]);

/** Those that speak to a control plane that a kubeconfig names. */
export const speaking = named.filter(
  ([name, { command }]) =>
    command.options.some(({ long }) => long === "--kubeconfig") && !ELSEWHERE.has(name),
);

export const call = (name: string, leaf: Leaf, ...more: readonly string[]): Promise<Ended> => {
  const needed = NEEDED[name] ?? [];
  const at = needed.indexOf("--");
  const [before, after] = at < 0 ? [needed, []] : [needed.slice(0, at), needed.slice(at)];
  return run(...leaf.words, ...argumentsOf(leaf), ...before, ...more, ...after);
};

export function kubeconfig(server: string, file = join(directory, "plane.kubeconfig")): string {
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "prod",
      clusters: [{ name: "c", cluster: { server } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "prod", context: { cluster: "c", user: "u" } }],
    }),
  );
  return file;
}
