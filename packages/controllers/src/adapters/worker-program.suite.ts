/** The program of the threads as one plain JavaScript file: tests run from the sources, which a thread cannot load. */
import { pathToFileURL } from "node:url";
import { bundleProgram } from "@lifeboat/testkit";

export function bundleWorker(): URL {
  const program = new URL("./script-worker.ts", import.meta.url);
  return pathToFileURL(bundleProgram(program, ["yaml", "re2js"]));
}
