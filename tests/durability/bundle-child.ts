/** Makes one plain JavaScript file of a TypeScript program, because a child that compiles itself starts five times slower. */
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

/** The bundle is written below node_modules, where Node finds the native packages that stay outside of it. */
export function bundleChild(program: URL): string {
  const entry = fileURLToPath(program);
  const outfile = fileURLToPath(
    new URL(`../../node_modules/.cache/lifeboat/${basename(entry)}.mjs`, import.meta.url),
  );
  // esbuild is tsx's own dependency, so it is asked for from there.
  const requireFromTsx = createRequire(createRequire(import.meta.url).resolve("tsx/package.json"));
  const bundler = requireFromTsx("esbuild") as Bundler;
  bundler.buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@lifeboat/source"],
    external: ["lmdb", "sorted-btree"],
  });
  return outfile;
}
