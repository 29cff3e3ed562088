/** Makes one plain JavaScript file of a TypeScript program, because a child that compiles itself starts five times slower. */
import { createRequire } from "node:module";
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

/** The bundle is written beside the program's dependencies, where Node finds the native ones that stay outside. */
export function bundleChild(name: string): string {
  const entry = fileURLToPath(new URL(name, import.meta.url));
  const outfile = fileURLToPath(
    new URL(`../../node_modules/.cache/lifeboat/${name}.mjs`, import.meta.url),
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
