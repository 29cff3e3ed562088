/**
 * `lifeboat backup FILE`: everything that the control plane of a data directory keeps, at one moment, in one file.
 *
 * It reads the files of the data directory, not the API: it works while the control plane runs, while it is down, and while it
 * cannot start. The state is that between two commits.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { formatTime } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { type BackedUpFile, readStore, writeBackup } from "@lifeboat/apiserver/adapters";
import type { Command } from "commander";
import { noPlaneIn, pkiDirectory, refuseHalfRestored, storeDirectory } from "../data-directory.ts";
import { defaultDataDirectory } from "../environment.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { version } from "../version.ts";
import { print } from "../with-plane.ts";

export const backupOptions: readonly OptionDefinition[] = [
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    help: "The data directory of `lifeboat up`; default $XDG_DATA_HOME/lifeboat",
  },
  {
    name: "without-keys",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Leave out the certificate authority and all keys",
  },
  {
    name: "force",
    type: "switch",
    commandLineOnly: true,
    help: "Replace FILE if it exists",
  },
];

export function addBackup(program: Command): void {
  const command = program
    .command("backup")
    .description("Write everything that a control plane keeps into a file, also while it runs")
    .argument("<FILE>", "the file to write");
  declareOptions(command, backupOptions).action(async (file: string) => {
    await backup(resolve(file), readSettings(command, backupOptions));
  });
}

async function backup(file: string, settings: Settings): Promise<void> {
  const dataDirectory = settings.text("data-dir") ?? defaultDataDirectory();
  refuseHalfRestored(dataDirectory);
  if (!existsSync(storeDirectory(dataDirectory))) throw noPlaneIn(dataDirectory);
  const files = settings.isOn("without-keys") ? [] : filesOf(pkiDirectory(dataDirectory));
  const takenAt = formatTime(createRealClock().now());
  const force = settings.isOn("force");
  const written = await readStore(storeDirectory(dataDirectory), ({ revisionCeiling, rows }) =>
    writeBackup(file, { header: { version, takenAt, revisionCeiling }, rows, files }, { force }),
  );
  const mib = (written.bytes / 1024 / 1024).toFixed(1);
  print([
    `${file}: ${written.objects} objects and ${written.files} files of ${dataDirectory}, ${mib} MiB`,
  ]);
}

/** Certificates and keys; drafts of files that are just being replaced are passed over. */
function filesOf(directory: string): readonly BackedUpFile[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith(".crt") || name.endsWith(".key"))
    .map((name) => ({ name, bytes: readFileSync(join(directory, name)) }));
}
