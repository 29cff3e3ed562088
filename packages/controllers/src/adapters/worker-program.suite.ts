/** The program of the threads as one plain JavaScript file: tests run from the sources, which a thread cannot load. */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

interface Bundler {
  buildSync(options: {
    readonly entryPoints: readonly string[];
    readonly outfile: string;
    readonly bundle: true;
    readonly platform: "node";
    readonly format: "esm";
    readonly conditions: readonly string[];
    readonly external: readonly string[];
  }): unknown;
}

/** Written below node_modules, where Node finds the packages that stay outside of it. */
export function bundleWorker(): URL {
  const entry = fileURLToPath(new URL("./script-worker.ts", import.meta.url));
  const outfile = resolve(entry, "../../../../../node_modules/.cache/lifeboat/script-worker.mjs");
  // esbuild is tsx's own dependency, so it is asked for from there.
  const requireFromTsx = createRequire(createRequire(import.meta.url).resolve("tsx/package.json"));
  (requireFromTsx("esbuild") as Bundler).buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@lifeboat/source"],
    external: ["yaml", "re2js"],
  });
  return pathToFileURL(outfile);
}
