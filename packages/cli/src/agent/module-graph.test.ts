/** What the process of an agent loads: neither API server nor store nor simulation nor simulated members. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const PACKAGES = resolve(import.meta.dirname, "../../..");
const FORBIDDEN = ["apiserver/", "sim/", "members/", "plane/src/index.ts", "cli/src/main.ts"];

/** The modules that a file loads when it is imported; types leave nothing behind. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, "utf8");
  const found = text.matchAll(
    /^(?:import|export)\s+(?!type\b)([^;]*?)\bfrom\s+"([^"]+)"|\bimport\(\s*"([^"]+)"/gms,
  );
  return [...found].flatMap(([, names = "", from, lazily]) => {
    const isTypes = /^\{[^}]*\}\s*$/s.test(names) && allTypes(names);
    return isTypes ? [] : [from ?? lazily ?? ""];
  });
}

function allTypes(names: string): boolean {
  const list = names.replaceAll(/[{}\s]+/g, " ").split(",");
  return list.every((name) => name.trim() === "" || name.trim().startsWith("type "));
}

function resolved(from: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return resolve(dirname(from), specifier);
  if (!specifier.startsWith("@lifeboat/")) return undefined;
  const [, name = "", ...path] = specifier.split("/");
  const folder = join(PACKAGES, name);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    exports: Record<string, { "@lifeboat/source": string }>;
  };
  const sub = path.length === 0 ? "." : `./${path.join("/")}`;
  const exact = manifest.exports[sub]?.["@lifeboat/source"];
  const pattern = manifest.exports["./*"]?.["@lifeboat/source"].replace("*", path.join("/"));
  const source = exact ?? pattern;
  if (source === undefined) throw new Error(`${specifier} is not exported`);
  return join(folder, source);
}

function graphFrom(entry: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const queue = [entry];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    expect(existsSync(file), file).toBe(true);
    seen.add(file);
    for (const specifier of importsOf(file)) {
      const next = resolved(file, specifier);
      if (next !== undefined) queue.push(next);
    }
  }
  return seen;
}

function forbiddenIn(entry: string): readonly string[] {
  return [...graphFrom(join(PACKAGES, entry))]
    .map((file) => relative(PACKAGES, file))
    .filter((file) => FORBIDDEN.some((part) => file.startsWith(part)));
}

it("an agent loads neither API server nor store nor simulation", () => {
  expect(forbiddenIn("cli/src/agent/main.ts")).toEqual([]);
  const own = [...graphFrom(join(PACKAGES, "cli/src/agent/main.ts"))];
  expect(own.some((file) => file.endsWith("cluster-execution.ts"))).toBe(true);
});

it("which this test would see", () => {
  expect(forbiddenIn("cli/src/commands/up.ts").length).toBeGreaterThan(20);
});
