/**
 * Puts one seeded bug into the product while its modules are loaded: `node --import this-file --import tsx …`.
 *
 * The environment names the file, what to find in it and what stands there instead. It is a loader of its own, registered
 * before the one that takes types away, so that it sees the source as it was written. Without the variable it does nothing.
 *
 * 1. What is to be found must stand in the file exactly once; otherwise loading fails.
 */
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const bug = env["LIFEBOAT_SIM_MUTANT"];
if (bug !== undefined && isMainThread) register(import.meta.url);

/** The hook of Node's module loader. */
export async function load(url, context, next) {
  const { file, find, replace } = JSON.parse(bug);
  if (!url.split("?")[0].endsWith(`/${file}`)) return next(url, context);
  const source = readFileSync(fileURLToPath(url.split("?")[0]), "utf8");
  const matches = source.split(find).length - 1;
  if (matches !== 1) throw new Error(`does not fit: ${matches} times in ${file}: ${find}`);
  return { format: "module", source: source.replace(find, () => replace), shortCircuit: true };
}
