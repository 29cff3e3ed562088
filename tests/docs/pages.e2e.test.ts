/**
 * Pages of the documentation, done as a new user does them: every command of their `console` blocks is run in one shell, in order.
 * What only reads is repeated until the output is what the page shows: things take a moment, and no page asks to count seconds.
 * `…` stands for any text.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { kubernetesBinary } from "../support/kubernetes-binaries.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { freePort, removeDirectory } from "../support/processes.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
const PAGES = [
  "tutorial.md",
  "how-to/failover.md",
  "how-to/drain.md",
  "how-to/unplanned-failure.md",
  "how-to/stateful-failover.md",
  "how-to/traffic.md",
  "how-to/federated-statefulset.md",
];

interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = "", ...shown] = text.trimEnd().split("\n");
        return { command, shown };
      }),
  );
}

/** What changes something is done once. */
const ORDER =
  /^(CLUSTER=|kubectl apply|npx lifeboat (member|drain|fence|uncordon|evacuations (restore|approve)|policy|remedy (un)?block|statefulset) )/;

let plane: RunningLifeboat;
/** The ports that a page names, and free ones in their place. */
let ports: ReadonlyMap<string, number>;
const tools = mkdtempSync(join(tmpdir(), "lifeboat-docs-"));
const variables = join(tools, "variables");

beforeAll(() => {
  symlinkSync(lifeboatCommand, join(tools, "lifeboat"));
  writeFileSync(join(tools, "npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
});
afterAll(() => removeDirectory(tools));

async function startPlane(page: string): Promise<void> {
  const [, command = ""] = /^npx lifeboat (up .*)$/m.exec(page) ?? [];
  const named = [...command.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port = ""]) => port);
  ports = new Map(await Promise.all(named.map(async (port) => [port, await freePort()] as const)));
  const flags = withPorts(command).split(" ").slice(1);
  const given = flags.slice(0, flags.indexOf("--data-dir"));
  // A user waits half a minute for a cluster to turn, the test less.
  const sooner = ["--cluster-failure-threshold=5s", "--cluster-success-threshold=5s"];
  plane = await startLifeboat({ args: [...given, ...sooner] });
  await plane.process.printed(/^members ready$/m);
  writeFileSync(variables, "");
}

function withPorts(text: string): string {
  let changed = text;
  for (const [named, free] of ports) changed = changed.replaceAll(named, String(free));
  return changed;
}

/** Runs a line as the user's shell does, which remembers variables. */
async function type(command: string): Promise<string> {
  const script = `. "${variables}"\n${withPorts(command)}\nset | grep -E '^CLUSTER=' > "${variables}" || true\n`;
  const { stdout, stderr } = await run("bash", ["-c", script], {
    cwd: root,
    env: {
      PATH: `${tools}:${dirname(kubernetesBinary("kubectl"))}:${process.env["PATH"]}`,
      HOME: tools,
      KUBECONFIG: plane.kubeconfig,
      LIFEBOAT_DATA_DIR: plane.dataDirectory,
    },
  });
  return stdout + stderr;
}

/** Whether the shown lines are in the output, in this order; a line of `…` alone stands for any number of lines. */
function agrees(output: string, shown: readonly string[]): boolean {
  const cluster = /CLUSTER=(\S+)/.exec(readFileSync(variables, "utf8"))?.[1] ?? "";
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

describe.each(PAGES)("docs/%s", (name) => {
  const page = readFileSync(join(root, "docs", name), "utf8");
  const steps = stepsOf(page);
  beforeAll(() => startPlane(page));
  afterAll(() => plane?.stop());

  it("has no command that is passed over", () => {
    expect(steps.length).toBeGreaterThan(5);
    expect([...page.matchAll(/^\$ /gm)]).toHaveLength(steps.length);
  });

  it.each(steps)("$command", { timeout: 240_000 }, async ({ command, shown }) => {
    if (ORDER.test(command)) {
      const output = await type(command);
      expect(agrees(output, shown), output).toBe(true);
      return;
    }
    await eventually(async () => {
      const output = await type(command).catch((error: unknown) => String(error));
      expect(agrees(output, shown), output).toBe(true);
    }, 180_000);
  });
});
