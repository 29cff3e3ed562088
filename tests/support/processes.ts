/** Child processes of tests: started with a directory of their own, awaited by what they print, ended by pid. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function temporaryDirectory(purpose: string): string {
  return mkdtempSync(join(tmpdir(), `lifeboat-${purpose}-`));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** Below the ports that systems give to outgoing connections (from 32768), which take any of theirs at any moment. */
const PORTS = [15_000, 32_000] as const;

/**
 * A port of the loopback interface that was free a moment ago, for programs that cannot choose one themselves. It is drawn, so
 * that files which run at the same time do not get the same one.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    const server = createServer();
    server.listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

export interface RunningProcess {
  readonly pid: number;
  /** What it has printed so far, both streams together. */
  output(): string;
  /** Resolves when `pattern` appears in the output; rejects with the output when the process ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends the signal and waits for the end; answers the exit code, or the signal's name. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
  readonly ended: Promise<number | string>;
}

export function startProcess(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): RunningProcess {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  let text = "";
  const listeners = new Set<() => void>();
  const collect = (chunk: Buffer): void => {
    text += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const ended = endOf(child);
  void ended.then(() => {
    for (const listener of listeners) listener();
  });
  const name = command.split("/").at(-1) ?? command;
  return {
    pid: child.pid ?? -1,
    output: () => text,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text);
          if (match !== null) resolve(match);
          else if (child.exitCode !== null || child.signalCode !== null) {
            reject(new Error(`${name} ended before it printed ${String(pattern)}:\n${text}`));
          } else return;
          listeners.delete(look);
        };
        listeners.add(look);
        look();
      }),
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
}

function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(-1));
    child.once("close", (code, signal) => resolve(code ?? signal ?? -1));
  });
}
