/**
 * Aim: after a full disk, deleting objects lets writes succeed again, without a restart and without more disk; `/readyz`
 * names the disk while writes that grow are refused.
 * Method: a real plane on a small file system of its own, filled and emptied through its API three times.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ONLY_API, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { createLarge, removeLarge } from "./large-objects.ts";

/** The plane keeps 64 MiB in reserve, so there is room for some 25 of the objects below, each three times. */
const DISK_MIB = 144;
const OBJECT_BYTES = 900_000;
const ROUNDS = 3;
const mayMiss = process.env["LIFEBOAT_ALLOW_MISSING"] === "1";
let folder: string;
let disk: string;
let isMounted: boolean;
let plane: RunningLifeboat | undefined;
let client: HttpClient | undefined;

beforeAll(() => {
  folder = temporaryDirectory("hostile-full");
  disk = join(folder, "disk");
  mkdirSync(disk);
  const options = ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", disk];
  isMounted = spawnSync("mount", options).status === 0;
});

afterAll(async () => {
  client?.close();
  await plane?.process.stop("SIGKILL");
  if (isMounted) spawnSync("umount", ["-l", disk]);
  removeDirectory(folder);
});

test("17.5: deletions make room for writes, and /readyz names the disk meanwhile", async ({
  skip,
}) => {
  if (!isMounted && mayMiss) skip("mounting a tmpfs needs root, and LIFEBOAT_ALLOW_MISSING=1");
  expect(isMounted, "mounting a tmpfs needs root; LIFEBOAT_ALLOW_MISSING=1 skips").toBe(true);
  const dataDirectory = join(disk, "data");
  plane = await startLifeboat({ dataDirectory, args: ONLY_API });
  client = await connectByKubeconfig({ paths: [plane.kubeconfig] });
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const names = await fill(client, round);
    counts.push(names.length);
    await expect(client.read("/readyz")).rejects.toThrow();
    expect(await textOf(plane, "/readyz/disk")).toMatch(/the disk of .* is full/);
    expect(await client.read("/readyz?exclude=disk")).toBe("ok");
    expect(await client.read("/livez")).toBe("ok");
    // Half of them are enough for writes to go on.
    const half = names.splice(0, Math.ceil(names.length / 2));
    for (const name of half) await removeLarge(client, name);
    await createLarge(client, `after-${round}`, OBJECT_BYTES);
    await removeLarge(client, `after-${round}`);
    const present = client;
    await eventually(async () => {
      expect(await present.read("/readyz")).toBe("ok");
    }, 30_000);
    for (const name of names) await removeLarge(client, name);
  }
  expect(counts[0]).toBeGreaterThan(10);
  // No round gets less than half of what the first one had: what is freed is used again.
  for (const count of counts) expect(count).toBeGreaterThan((counts[0] ?? 0) / 2);

  // A plane that starts on a full disk takes deletions from the first one on.
  const names = await fill(client, ROUNDS);
  client.close();
  await plane.process.stop("SIGKILL");
  plane = await startLifeboat({ dataDirectory, args: ONLY_API });
  client = await connectByKubeconfig({ paths: [plane.kubeconfig] });
  for (const name of names) await removeLarge(client, name);
  // What it read of its history is trimmed when the first write is refused.
  const last = client;
  await eventually(() => createLarge(last, "at-last", OBJECT_BYTES), 10_000);
});

/**
 * Creates objects until there is no room for another; answers their names. One refusal is not enough: it makes the plane trim
 * its history, which is room for more.
 */
async function fill(api: HttpClient, round: number): Promise<string[]> {
  const names: string[] = [];
  for (let refusals = 0; refusals < 3;) {
    const name = `round-${round}-${names.length}`;
    try {
      await createLarge(api, name, OBJECT_BYTES);
    } catch (error) {
      expect(String(error)).toContain("is full");
      refusals += 1;
      continue;
    }
    refusals = 0;
    names.push(name);
    expect(names.length).toBeLessThan(DISK_MIB);
  }
  return names;
}

/** The whole answer to the administrator, whatever its code: the client quotes only a Status. */
function textOf({ url, dataDirectory }: RunningLifeboat, path: string): Promise<string> {
  const pair = {
    cert: readFileSync(join(dataDirectory, "pki", "client-admin.crt")),
    key: readFileSync(join(dataDirectory, "pki", "client-admin.key")),
  };
  return new Promise((resolve, reject) => {
    const sent = get(`${url}${path}`, { rejectUnauthorized: false, ...pair }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => (text += part));
      answer.once("end", () => resolve(text));
      answer.once("error", reject);
    });
    sent.once("error", reject);
  });
}
