/**
 * The backup drill on this machine's disk: `npm run bench:backup -- [objects] [directory]`. A store of 100,000 objects is backed
 * up and restored by the commands themselves, and a control plane is started on the copy. Fails above a minute for both.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openLmdbStorage } from "@lifeboat/apiserver/adapters";

const objects = Number(process.argv[2] ?? 100_000);
const parent = process.argv[3] ?? tmpdir();
const LIMIT_SECONDS = 60;
const AT_ONCE = 1000;
const PADDING = "x".repeat(2200);
const command = fileURLToPath(new URL("../../packages/cli/bin/lifeboat.js", import.meta.url));
const folder = mkdtempSync(join(parent, "lifeboat-bench-backup-"));

try {
  await drill();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function drill(): Promise<void> {
  const [from, to, file] = ["from", "to", "file"].map((name) => join(folder, name));
  if (from === undefined || to === undefined || file === undefined) return;
  await fill(join(from, "store"));
  const backup = await timed("backup", ["backup", file, "--data-dir", from]);
  const restore = await timed("restore", ["restore", file, "--data-dir", to]);
  const ready = await timed("first start", ["up", "--data-dir", to, "--listen", "127.0.0.1:0"]);
  const mib = (statSync(file).size / 1024 / 1024).toFixed(0);
  console.log(
    `${objects} objects, ${mib} MiB: backup ${backup.toFixed(1)} s, restore ${restore.toFixed(1)} s, ` +
      `ready ${ready.toFixed(1)} s after the start`,
  );
  if (backup + restore <= LIMIT_SECONDS) return;
  console.log(`backup and restore took longer than ${LIMIT_SECONDS} s together`);
  process.exitCode = 1;
}

async function fill(directory: string): Promise<void> {
  const storage = await openLmdbStorage(directory);
  await storage.load();
  for (let at = 0; at < objects; at += AT_ONCE) {
    const changes = Array.from({ length: Math.min(AT_ONCE, objects - at) }, (_, i) => {
      const [name, revision] = [`c${at + i}`, at + i + 1];
      const metadata = {
        namespace: "default",
        name,
        uid: `00000000-0000-4000-8000-${String(revision).padStart(12, "0")}`,
        resourceVersion: String(revision),
        creationTimestamp: "2026-01-01T00:00:00Z",
      };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { padding: PADDING } };
      const key = `/configmaps/default/${name}`;
      return { revision, type: "ADDED" as const, key, bytes: Buffer.from(JSON.stringify(object)) };
    });
    await storage.commit({ changes, revisionCeiling: objects + 10_000, trimHistoryBefore: at });
  }
  await storage.close();
}

/** Seconds until the command has ended; `up` is stopped once it is ready. */
async function timed(name: string, args: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let seconds: number | undefined;
  child.stdout.on("data", (chunk: Buffer) => {
    if (args[0] !== "up" || !/^ready$/m.test(chunk.toString())) return;
    seconds = (performance.now() - began) / 1000;
    child.kill();
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${name} ended with code ${code}`);
  return seconds ?? (performance.now() - began) / 1000;
}
