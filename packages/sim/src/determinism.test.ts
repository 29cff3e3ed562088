/** The same seed gives the same run to the byte, in processes that know nothing of each other. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("adapters/main.ts", import.meta.url));
const root = fileURLToPath(new URL("../../../", import.meta.url));

async function hashOf(seed: number): Promise<string> {
  const args = ["--import", "tsx", "--conditions=@lifeboat/source", main, "--seed", String(seed)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  return stdout;
}

it("gives one seed one hash in two fresh processes, and another seed another", async () => {
  const hashes = await Promise.all([hashOf(3), hashOf(3), hashOf(4)]);
  expect(hashes[0]).toMatch(/^seed 3 hash [0-9a-f]{8}$/m);
  expect(hashes[0]).toBe(hashes[1]);
  expect(hashes[2]?.split(" ").at(-1)).not.toBe(hashes[0]?.split(" ").at(-1));
}, 120_000);
