/** One plain JavaScript file of a TypeScript program, for children and threads: they start faster, and load nothing else. */
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

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

/**
 * Bundles a program and answers the file. It is written below node_modules, where Node finds the packages that stay outside
 * of it (`external`).
 */
export function bundleProgram(program: URL, external: readonly string[]): string {
  const entry = fileURLToPath(program);
  const outfile = fileURLToPath(
    new URL(`../../node_modules/.cache/lifeboat/${basename(entry, ".ts")}.mjs`, import.meta.url),
  );
  // esbuild is tsx's own dependency, so it is asked for from there.
  const requireFromTsx = createRequire(createRequire(import.meta.url).resolve("tsx/package.json"));
  (requireFromTsx("esbuild") as Bundler).buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@lifeboat/source"],
    external,
  });
  return outfile;
}
