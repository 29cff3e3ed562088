/** Runs commit-child.ts, under another program if wanted, and speaks its lines. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundleChild } from "./bundle-child.ts";

export interface CommitChild {
  /** Sends one line and answers with the line that comes back. */
  tell(line: string): Promise<string>;
  end(): Promise<void>;
}

export async function startChild(
  directory: string,
  options: { readonly reserveBytes?: number; readonly under?: readonly string[] } = {},
): Promise<CommitChild> {
  const script = bundleChild(new URL("commit-child.ts", import.meta.url));
  const { reserveBytes = 0, under = [] } = options;
  const words = [...under, process.execPath, script, directory, `${reserveBytes}`];
  const child = spawn(words[0] ?? "", words.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const hear = async (): Promise<string> => {
    const { value, done } = (await lines.next()) as IteratorResult<string, undefined>;
    if (done === true) throw new Error("the child has ended");
    return value;
  };
  // Not its exit: the program it runs under may hold its standard error for longer.
  const closed = once(child, "close");
  if ((await hear()) !== "ready") throw new Error("the child did not say ready first");
  return {
    tell: (line) => {
      child.stdin.write(`${line}\n`);
      return hear();
    },
    end: async () => {
      child.stdin.end();
      await closed;
    },
  };
}
