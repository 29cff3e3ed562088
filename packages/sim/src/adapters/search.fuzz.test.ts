/** The whole search, as people start it: workers share the seeds, and the sum says what they did. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** The lines of the closing table that do not depend on the machine. */
async function searched(workers: number): Promise<readonly string[]> {
  const order = ["--from", "5", "--seeds", "3", "--workers", String(workers)];
  const args = ["--import", "tsx", "--conditions=@lifeboat/source", main, ...order];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  return stdout
    .split("\n")
    .filter((line) => !/^(workers|wall time|CPU time|times real time|scenarios per)/.test(line));
}

it("does the same whether one worker runs the seeds or two", async () => {
  const alone = await searched(1);
  expect(alone.some((line) => /^scenarios +3$/.test(line))).toBe(true);
  expect(alone.some((line) => /^violations +0$/.test(line))).toBe(true);
  expect(await searched(2)).toEqual(alone);
}, 240_000);
