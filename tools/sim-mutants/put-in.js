/**
 * Puts one seeded bug into the product while its modules are loaded: `node --import this-file --import tsx …`.
 *
 * The environment names a file and the source to load in its place, which main.ts has made (tools/seeding). It is a loader of
 * its own, registered before the one that takes types away. Without the variable it does nothing.
 */
import { register } from "node:module";
import { env } from "node:process";
import { isMainThread } from "node:worker_threads";

const bug = env["LIFEBOAT_SIM_MUTANT"];
if (bug !== undefined && isMainThread) register(import.meta.url);

/** The hook of Node's module loader. */
export async function load(url, context, next) {
  const { file, source } = JSON.parse(bug);
  if (!url.split("?")[0].endsWith(`/${file}`)) return next(url, context);
  return { format: "module", source, shortCircuit: true };
}
