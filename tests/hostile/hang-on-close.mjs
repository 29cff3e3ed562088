/**
 * Preloaded into a process under test (`NODE_OPTIONS=--import`): once the file that LIFEBOAT_TEST_HANG names exists, the
 * first sync of a file blocks the main thread for ever, as a disk that does not answer any more does.
 */
import fs, { existsSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { fsyncSync } = fs;
fs.fsyncSync = (file) => {
  if (existsSync(process.env["LIFEBOAT_TEST_HANG"] ?? ""))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  fsyncSync(file);
};
syncBuiltinESMExports();
