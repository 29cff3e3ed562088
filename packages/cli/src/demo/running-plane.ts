/** The control plane of the demonstration: `lifeboat up --members 3` as a process of its own, in a directory of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeDirectory } from "../environment.ts";
import { CommandFailed } from "../failure.ts";
import { PARENT_VARIABLE } from "../stopping.ts";

export interface RunningPlane {
  readonly directory: string;
  /** What it had printed when its members had joined. */
  readonly announced: string;
  /** Ends it and its members in order, and removes its directory if nobody asked for it. */
  stop(): Promise<void>;
}

/** Starts it; resolves when its members have joined. */
export async function startPlane(
  flags: readonly string[],
  givenDirectory: string | undefined,
  signal: AbortSignal,
): Promise<RunningPlane> {
  const directory = givenDirectory ?? mkdtempSync(join(tmpdir(), "lifeboat-demo-"));
  if (givenDirectory !== undefined) makeDirectory(directory);
  const args = ["up", "--data-dir", directory, "--listen", "127.0.0.1:0", "--members", "3"];
  // A session of its own: Ctrl-C reaches the demonstration alone, which then ends it in order.
  const child = spawn(
    process.execPath,
    [...process.execArgv, process.argv[1] ?? "", ...args, ...flags],
    {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      env: { ...process.env, [PARENT_VARIABLE]: String(process.pid) },
    },
  );
  const ended = endOf(child);
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await ended;
    if (givenDirectory === undefined) rmSync(directory, { recursive: true, force: true });
  };
  let announced: string;
  try {
    announced = await membersReady(child, ended, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return { directory: resolve(directory), announced, stop };
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    child.once("error", () => done());
    child.once("close", () => done());
  });
}

/** Resolves with what it printed when the members have joined; rejects with what it printed when it ends first. */
function membersReady(
  child: ChildProcess,
  ended: Promise<void>,
  signal: AbortSignal,
): Promise<string> {
  let text = "";
  return new Promise((done, reject) => {
    const collect = (chunk: Buffer): void => {
      text = (text + chunk.toString()).slice(-MAX_TEXT);
      if (/^members ready$/m.test(text)) done(text);
    };
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    signal.addEventListener("abort", () => reject(new CommandFailed("stopped")), { once: true });
    void ended.then(() =>
      reject(new CommandFailed(`the control plane did not start:\n${text.trim()}`)),
    );
  });
}

const MAX_TEXT = 100_000;
