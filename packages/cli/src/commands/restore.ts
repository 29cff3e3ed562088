/**
 * `lifeboat restore FILE`: makes a data directory from a backup. The next `lifeboat up` on it knows that its state is old.
 *
 * 1. The checksum of the whole file is compared before anything is written.
 * 2. A directory that a living process has open is refused in any case; one that holds a control plane, without --force. What
 *    was there is put aside, not deleted.
 * 3. The new store is complete and durable beside the old one before anything is moved. An interruption leaves the old state,
 *    or a directory on which nothing starts until the restore was repeated; never a mixture that is served.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createRealClock } from "@lifeboat/base/adapters";
import {
  makePrivateDirectory,
  makeStore,
  openBackup,
  ownerOfStore,
  syncFolder,
  writeWhole,
} from "@lifeboat/apiserver/adapters";
import type { Command } from "commander";
import {
  markRestored,
  pkiDirectory,
  restoringDirectory,
  storeDirectory,
} from "../data-directory.ts";
import { defaultDataDirectory } from "../environment.ts";
import { CommandFailed } from "../failure.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print } from "../with-plane.ts";

export const restoreOptions: readonly OptionDefinition[] = [
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    help: "Where to restore to; default $XDG_DATA_HOME/lifeboat",
  },
  {
    name: "force",
    type: "switch",
    commandLineOnly: true,
    help: "Put aside the control plane that the directory holds",
  },
];

export function addRestore(program: Command): void {
  const command = program
    .command("restore")
    .description("Make a data directory from a backup")
    .argument("<FILE>", "a file that `lifeboat backup` wrote")
    .addHelpText(
      "after",
      `
After a restore the control plane does not know what happened since the backup.
It removes nothing from any member until \`lifeboat brake release\`.`,
    );
  declareOptions(command, restoreOptions).action(async (file: string) => {
    await restore(resolve(file), readSettings(command, restoreOptions));
  });
}

async function restore(file: string, settings: Settings): Promise<void> {
  const dataDirectory = settings.text("data-dir") ?? defaultDataDirectory();
  if (!existsSync(file))
    throw new CommandFailed(`there is no ${file}: name a file that \`lifeboat backup\` wrote`);
  const backup = openBackup(file);
  try {
    await refuseUsed(dataDirectory, settings.isOn("force"));
    makePrivateDirectory(dataDirectory);
    const made = restoringDirectory(dataDirectory);
    rmSync(made, { recursive: true, force: true });
    makePrivateDirectory(made);
    await makeStore(storeDirectory(made), {
      revisionCeiling: backup.header.revisionCeiling,
      rows: backup.rows,
    });
    if (backup.files.length > 0) {
      mkdirSync(pkiDirectory(made), { mode: 0o700 });
      for (const { name, bytes } of backup.files)
        writeWhole(pkiDirectory(made), name, `${name}.new`, bytes);
    }
    syncFolder(made);
    // Before the store is moved: a mark on the old state does no harm, a restored state without one would.
    markRestored(dataDirectory, { takenAt: backup.header.takenAt });
    const aside = moveIn(dataDirectory, made);
    const { objects, files } = backup.counts;
    print([
      `${dataDirectory}: ${objects} objects and ${files} files of ${backup.header.takenAt}`,
      ...(aside === undefined ? [] : [`what was there is in ${aside}`]),
      ...(files > 0 ? [] : ["the backup holds no keys: clients get new certificates"]),
      "nothing is removed from members until: lifeboat brake release",
    ]);
  } finally {
    backup.close();
  }
}

async function refuseUsed(dataDirectory: string, force: boolean): Promise<void> {
  const store = storeDirectory(dataDirectory);
  if (!existsSync(store) && !existsSync(pkiDirectory(dataDirectory))) return;
  const owner = existsSync(join(store, "data.mdb")) ? await ownerOfStore(store) : undefined;
  if (owner !== undefined)
    throw new CommandFailed(
      `${dataDirectory} is in use by process ${owner.pid}: stop it first, or use another directory`,
    );
  if (!force)
    throw new CommandFailed(
      `${dataDirectory} holds a control plane: choose another directory, or put it aside with --force`,
    );
}

/** Answers where the former content is; undefined when there was none. */
function moveIn(dataDirectory: string, made: string): string | undefined {
  const aside = join(dataDirectory, `replaced-${createRealClock().now()}`);
  let isUsed = false;
  for (const part of [storeDirectory, pkiDirectory]) {
    const next = part(made);
    // Without keys in the backup those that are there go on being used.
    if (!existsSync(next)) continue;
    const current = part(dataDirectory);
    if (existsSync(current)) {
      makePrivateDirectory(aside);
      renameSync(current, part(aside));
      isUsed = true;
    }
    renameSync(next, current);
    syncFolder(dataDirectory);
  }
  rmSync(made, { recursive: true, force: true });
  syncFolder(dataDirectory);
  return isUsed ? aside : undefined;
}
