/**
 * Reads a whole store in a process of its own, so that a damaged file ends this process and not the one that serves. Run as
 * `node lmdb-check-program.js DIRECTORY`; writes what it found in lines of JSON (lmdb-check-end.ts), and writes nothing.
 */
import { writeSync } from "node:fs";
import type { CheckLine } from "./lmdb-check-end.ts";
import { DirectoryRefused } from "./lmdb-directory.ts";
import {
  damaged,
  historyRows,
  objectRows,
  openEnvironment,
  openTables,
  ownerOf,
} from "./lmdb-tables.ts";

const STANDARD_OUTPUT = 1;
const [directory = ""] = process.argv.slice(2);

/** At once: what is in a buffer when the process crashes is lost. */
function tell(line: CheckLine): void {
  writeSync(STANDARD_OUTPUT, `${JSON.stringify(line)}\n`);
}

async function check(): Promise<void> {
  const environment = openEnvironment(directory, true);
  const tables = openTables(environment);
  const owner = ownerOf(tables);
  if (owner !== undefined) tell({ owner });
  let bytes = 0;
  for (const row of objectRows(directory, tables)) bytes += row.bytes.length;
  for (const row of historyRows(directory, tables)) bytes += row.bytes.length;
  for (const { value } of tables.meta.getRange()) bytes += value.length;
  await environment.close();
  tell({ sound: true });
}

try {
  await check();
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  tell({
    refused: error instanceof DirectoryRefused ? why : damaged(directory, why).message,
  });
}
