/**
 * Reads a control plane that does not run, from its data directory or from a backup: a copy of its store is opened in a temporary
 * directory and served in this process, without controllers. The original is not written.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  encryptedStorage,
  makeStore,
  openBackup,
  openLmdbStorage,
  readStore,
  writeBackup,
} from "@lifeboat/apiserver/adapters";
import { createRandom, formatTime } from "@lifeboat/base";
import { createRealClock, createRealIds, nextTurn } from "@lifeboat/base/adapters";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { createControlPlane } from "@lifeboat/plane";
import { storeDirectory } from "./data-directory.ts";
import { encryptionFrom } from "./encryption.ts";
import { seedFromProcess } from "./environment.ts";
import { CommandFailed } from "./failure.ts";
import type { Settings } from "./settings.ts";
import { version } from "./version.ts";

/** As whom the copy is read. */
const READER = { name: "system:lifeboat", groups: ["system:masters"] } as const;

/** Calls with a client of the copy, and removes the copy whatever happens. */
export async function withMovedPlane(
  from: string,
  settings: Settings,
  use: (source: Client) => Promise<void>,
): Promise<void> {
  // Only the owner may read it: it holds every Secret.
  const directory = mkdtempSync(join(tmpdir(), "lifeboat-migrate-"));
  try {
    const file = statSync(from).isDirectory() ? await backupOf(from, directory) : from;
    const encryption = encryptionFrom(settings, from);
    await copyOut(file, directory);
    const storage = encryptedStorage(await openLmdbStorage(storeDirectory(directory), {}), {
      ...encryption,
      tell: () => undefined,
    });
    const ports = {
      clock: createRealClock(),
      random: createRandom(seedFromProcess()),
      ids: createRealIds(),
      log: silentLog,
      metrics: silentMetrics,
      storage,
      nextTurn,
    };
    const plane = await createControlPlane(ports, { version, tokens: new Map() });
    try {
      await use(plane.server.client(READER));
    } finally {
      await plane.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function backupOf(dataDirectory: string, directory: string): Promise<string> {
  const store = storeDirectory(dataDirectory);
  if (!existsSync(store)) throw new CommandFailed(`${dataDirectory} holds no control plane`);
  const file = join(directory, "plane.backup");
  const takenAt = formatTime(createRealClock().now());
  await readStore(store, ({ revisionCeiling, rows }) =>
    writeBackup(
      file,
      { header: { version, takenAt, revisionCeiling }, rows, files: [] },
      { force: false },
    ),
  );
  return file;
}

async function copyOut(file: string, directory: string): Promise<void> {
  const backup = openBackup(file);
  try {
    await makeStore(storeDirectory(directory), {
      revisionCeiling: backup.header.revisionCeiling,
      rows: backup.rows,
    });
  } finally {
    backup.close();
  }
}
