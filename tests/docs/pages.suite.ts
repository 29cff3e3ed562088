/**
 * A page of the documentation, done as a new user does it. The block that starts things is run as it is typed (in other terminals, so
 * to speak), then every command of the `console` blocks in one shell, in order. What only reads is repeated until the output is what
 * the page shows: things take a moment, and no page asks to count seconds. `…` stands for any text.
 *
 * In the place of what a page names there are: free ports for those on 127.0.0.1, a directory of the test for `/tmp/lifeboat-…` and for the
 * home of the user. `npm install` and the build are left out, for they are done.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { kubernetesBinary } from "../support/kubernetes-binaries.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

export function allPages(): readonly string[] {
  return readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .toSorted();
}

/** The pages of docs/ with commands that are run. */
export const PAGES: readonly string[] = allPages().filter((name) =>
  readPage(name).includes("```console\n"),
);

export function readPage(name: string): string {
  return readFileSync(join(root, "docs", name), "utf8");
}

interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

interface Block {
  readonly language: string;
  readonly text: string;
}

function blocksOf(page: string): readonly Block[] {
  const blocks = page.matchAll(/^```([a-z]*)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, language = "", text = ""]) => ({ language, text }));
}

/** The commands of the `console` blocks, with what they show. */
export function stepsOf(page: string): readonly Step[] {
  const typed = blocksOf(page).filter(({ language }) => language === "console");
  return typed.flatMap((block) =>
    block.text
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = "", ...shown] = text.trimEnd().split("\n");
        return { command, shown };
      }),
  );
}

/** What is typed before the first `console` block: what runs on, and the variables of the terminal in which the rest is typed. */
function setupOf(page: string): { readonly running: readonly string[]; readonly exports: string } {
  const [before = ""] = page.split("```console\n");
  const lines = blocksOf(before)
    .filter(({ language }) => language === "")
    .flatMap(({ text }) => text.trimEnd().split("\n"));
  return {
    running: lines.filter((line) => !line.startsWith("export ")),
    exports: lines.filter((line) => line.startsWith("export ")).join("\n"),
  };
}

/** What changes something is done once. */
const ORDER =
  /^([A-Z]+=|kubectl apply|npx (\$|lifeboat (member|join|unjoin|taint|drain|fence|uncordon|failback|notifications test|policy|remedy (un)?block|statefulset|evacuations (restore|approve|pause|resume|abandon|rate --\w+)) ))/;

export interface PageOptions {
  /** Settings of what the page starts, by the variables of its flags. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What the user has in the home directory. */
  readonly prepare?: (home: string) => Promise<{ readonly stop: () => Promise<void> }>;
}

/** Tests that the page does what it shows. */
export function pageSuite(name: string, options: PageOptions = {}): void {
  const page = readPage(name);
  const steps = stepsOf(page);
  const { running, exports } = setupOf(page);
  let home: string;
  let tools: string;
  let variables: string;
  const started: { readonly stop: () => Promise<unknown> }[] = [];
  let ports: ReadonlyMap<string, number>;

  /** With what stands for the ports and directories of the page. */
  function here(text: string): string {
    let changed = text.replaceAll("/tmp/lifeboat-", `${home}/lifeboat-`);
    for (const [named, free] of ports) changed = changed.replaceAll(named, String(free));
    return changed;
  }

  const environment = (): Record<string, string> => ({
    PATH: `${tools}:${dirname(kubernetesBinary("kubectl"))}:${process.env["PATH"]}`,
    HOME: home,
  });

  async function start(line: string): Promise<void> {
    const done = line.replace(/^npm install && npm start /, "npm --ignore-scripts start ");
    const command = startProcess("bash", ["-c", `cd ${root}\nexec ${here(done)}`], {
      LIFEBOAT_LISTEN: "127.0.0.1:0",
      ...options.environment,
      ...environment(),
    });
    started.push(command);
    await untilItRuns(command, done);
  }

  async function untilItRuns(command: RunningProcess, line: string): Promise<void> {
    await command.printed(line.startsWith("node ") ? /^listening$/m : /^ready$/m);
    if (line.includes("--members ")) await command.printed(/^members ready$/m);
  }

  /**
   * Runs a line as the user's shell does, which remembers variables. Rejects with the output when the command fails, unless the page
   * shows the line that tells why.
   */
  async function type({ command, shown }: Step): Promise<string> {
    const remember = `set | grep -E '^(CLUSTER|REGISTER)=' > "${variables}" || true`;
    const lines = [here(exports), `. "${variables}"`, here(command), "code=$?", remember];
    const script = [...lines, "exit $code"].join("\n");
    const options = { cwd: root, env: environment() };
    const { stdout } = await run("bash", ["-c", `exec 2>&1\n${script}`], options).catch(
      (error: unknown) => {
        const { code, stdout: output } = error as {
          readonly code: unknown;
          readonly stdout: string;
        };
        // These tell by it that something would not run whole.
        const isAnswer = code === 3 && /lifeboat (simulate|plan) /.test(command);
        if (isAnswer || shown.some((line) => line.startsWith("lifeboat: ")))
          return { stdout: output };
        throw new Error(`exit code ${String(code)}:\n${output}`);
      },
    );
    return stdout;
  }

  beforeAll(async () => {
    home = temporaryDirectory("docs");
    tools = join(home, "bin");
    variables = join(home, "variables");
    mkdirSync(tools);
    symlinkSync(lifeboatCommand, join(tools, "lifeboat"));
    writeFileSync(join(tools, "npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
    writeFileSync(variables, "");
    const named = running.flatMap((line) => [...line.matchAll(/127\.0\.0\.1:(\d+)/g)]);
    ports = new Map(
      await Promise.all(named.map(async ([, port = ""]) => [port, await freePort()] as const)),
    );
    const prepared = await options.prepare?.(home);
    if (prepared !== undefined) started.push(prepared);
    for (const line of running) await start(line);
  });
  afterAll(async () => {
    for (const one of started.toReversed()) await one.stop();
    removeDirectory(home);
  });

  it("has no command that is passed over", () => {
    expect(steps.length).toBeGreaterThan(3);
    expect([...page.matchAll(/^\$ /gm)]).toHaveLength(steps.length);
    for (const line of running)
      expect(line).toMatch(/^(npx lifeboat up|npm install && npm start|node) /);
  });

  it.each(steps)("$command", { timeout: 240_000 }, async (step) => {
    const { command, shown } = step;
    const cluster = (): string => /CLUSTER=(\S+)/.exec(readFileSync(variables, "utf8"))?.[1] ?? "";
    if (ORDER.test(command)) {
      const output = await type(step);
      expect(agrees(output, shown.map(here), cluster()), output).toBe(true);
      return;
    }
    await eventually(async () => {
      const output = await type(step).catch((error: unknown) => String(error));
      expect(agrees(output, shown.map(here), cluster()), output).toBe(true);
    }, 180_000);
  });
}

/** Whether the shown lines are in the output, in this order; a line of `…` alone stands for any number of lines. */
function agrees(output: string, shown: readonly string[], cluster: string): boolean {
  const lines = output.split("\n");
  let at = 0;
  return shown
    .filter((line) => line !== "…")
    .every((line) => {
      const text = line.replaceAll("$CLUSTER", cluster);
      const pattern = new RegExp(
        `^${text
          .split(/ ?… ?/)
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ +/g, "\\s+"))
          .join(".*")}\\s*$`,
      );
      const found = lines.findIndex((candidate, i) => i >= at && pattern.test(candidate));
      at = found + 1;
      return found >= 0;
    });
}
