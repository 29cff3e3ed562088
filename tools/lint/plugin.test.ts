/** The project's own lint rules fire on what they forbid and on nothing else. Run with the real linter, once for all cases. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readText, root } from "../repository.ts";
import { foldersOf } from "./folders.js";

/** Rows of the real tables, so that they may be changed without this test. */
const tables = {
  ...foldersOf("core", readText("packages/core/README.md")),
  ...foldersOf("controllers", readText("packages/controllers/README.md")),
};
const folders = (rows: readonly string[] = []): readonly string[] =>
  rows.filter((row) => row.endsWith("/") && row !== "adapters/");
const ordered = folders(tables["ordered"]);
const upper = ordered.at(0) ?? "";
const lower = ordered.at(-1) ?? "";
const [first = "", second = ""] = folders(tables["apart"]);
const shared = `${tables["shared"]?.[0] ?? ""}shared.ts`;
const up = (folder: string): string => "../".repeat(folder.split("/").length - 1);

const core = `packages/core/src/${upper}a.ts`;
const controller = `packages/controllers/src/${first}a.ts`;
const kit = "packages/kit/src/a.ts";

const refused: readonly (readonly [string, string, string, string])[] = [
  ["a wall clock", core, "export const a = Date.now();", "Date.now is for adapters"],
  ["new Date()", core, "export const a = new Date();", "new Date() is for adapters"],
  ["a timer", core, "setTimeout(() => undefined, 1);", "setTimeout is for adapters"],
  ["randomness", core, "export const a = Math.random();", "Math.random is for adapters"],
  [
    "an upward import",
    core,
    'import { x } from "@lifeboat/kit";\nexport { x };',
    "may not import kit",
  ],
  [
    "a sideways import",
    "packages/apiserver/src/a.ts",
    'export { x } from "@lifeboat/controllers";',
    "may not import controllers",
  ],
  [
    "an import of another package's inside",
    core,
    'export { x } from "@lifeboat/api/src/json.ts";',
    "by its index",
  ],
  ["Node's modules", core, 'import "node:fs";', "node:fs is for adapters"],
  [
    "the testkit in production",
    core,
    'export { x } from "@lifeboat/testkit";',
    "testkit is for tests",
  ],
  [
    "a folder of core that imports one below it",
    core,
    `export { x } from "${up(upper)}${lower}x.ts";`,
    `may not import ${lower}`,
  ],
  [
    "an import on demand of such a folder",
    core,
    `export const x = await import("${up(upper)}${lower}x.ts");`,
    `may not import ${lower}`,
  ],
  [
    "a folder that no table names",
    "packages/core/src/unheard-of/a.ts",
    `export { x } from "../${upper}x.ts";`,
    "is in no table",
  ],
  [
    "a package that imports itself by name",
    core,
    'export { x } from "@lifeboat/core";',
    "by relative paths",
  ],
  [
    "a controller that imports another",
    controller,
    `export { x } from "${up(first)}${second}x.ts";`,
    `may not import ${second}`,
  ],
  [
    "something shared that imports a controller",
    `packages/controllers/src/${shared}`,
    `export { x } from "${up(shared)}${first}x.ts";`,
    "may not import the controller",
  ],
  [
    "an error that is not used",
    kit,
    "export function a(): void {\n  try {\n    b();\n  } catch (error) {\n    b();\n  }\n}\ndeclare const b: () => void;",
    "an error vanishes",
  ],
  [
    "a call whose error is dropped",
    kit,
    "export async function a(): Promise<void> {\n  try {\n    await b();\n  } catch {\n    c();\n  }\n}\ndeclare const b: () => Promise<void>, c: () => void;",
    "an error vanishes",
  ],
  [
    "a promise whose error is dropped",
    kit,
    "export const a = (): Promise<number> => b().catch(() => 1);\ndeclare const b: () => Promise<number>;",
    "an error vanishes",
  ],
];

const allowed: readonly (readonly [string, string, string])[] = [
  ["a conversion of a date", core, "export const a = new Date(0);"],
  ["a wall clock in an adapter", "packages/kit/src/adapters/a.ts", "export const a = Date.now();"],
  ["a downward import", "packages/kit/src/a.ts", 'export { x } from "@lifeboat/api";'],
  [
    "the testkit in a test",
    "packages/core/src/propagation/a.test.ts",
    'export { x } from "@lifeboat/testkit";',
  ],
  [
    "a folder of core that imports one above it",
    `packages/core/src/${lower}a.ts`,
    `export { x } from "${up(lower)}${upper}x.ts";`,
  ],
  ["a file beside it", core, 'export { x } from "./x.ts";'],
  [
    "a test that imports all",
    `packages/core/src/${upper}a.test.ts`,
    `export { x } from "${up(upper)}${lower}x.ts";`,
  ],
  [
    "a controller that imports what is shared",
    controller,
    `export { x } from "${up(first)}${shared}";`,
  ],
  [
    "an adapter that imports a controller",
    "packages/controllers/src/adapters/a.ts",
    `export { x } from "../${first}x.ts";`,
  ],
  [
    "a text that cannot be read",
    kit,
    "export function a(text: string): unknown {\n  try {\n    return JSON.parse(text);\n  } catch {\n    return undefined;\n  }\n}",
  ],
  [
    "an error that is handed on in part",
    kit,
    "export const a = (): Promise<unknown> => b().catch((error: unknown) => ({ error }));\ndeclare const b: () => Promise<number>;",
  ],
  [
    "an error that does not matter, with the reason",
    kit,
    "export const a = (): Promise<unknown> =>\n  b().catch(() => {\n    // Tried again later.\n  });\ndeclare const b: () => Promise<number>;",
  ],
];

/** Each case has a file of its own; `a.ts` gets its number. */
const fileOf = (file: string, number: number): string =>
  file.replace(/\/a(\.test)?\.ts$/, (_all, test: string = "") => `/a${number}${test}.ts`);
const files = new Map([...refused, ...allowed].map(([name, file], at) => [name, fileOf(file, at)]));
const complaints = lint(
  [...refused, ...allowed].map(([name, , text]) => [files.get(name) ?? "", text]),
);
const saidOf = (name: string): readonly string[] =>
  complaints.filter((line) => line.startsWith(`${files.get(name)}:`));

/** One line per complaint, each begins with its file. */
function lint(texts: readonly (readonly [string, string])[]): readonly string[] {
  const directory = mkdtempSync(join(tmpdir(), "lifeboat-lint-"));
  try {
    const config = JSON.parse(readText(".oxlintrc.json"));
    config.jsPlugins = [join(root, "tools/lint/plugin.js")];
    writeFileSync(join(directory, ".oxlintrc.json"), JSON.stringify(config));
    for (const [file, text] of texts) {
      mkdirSync(dirname(join(directory, file)), { recursive: true });
      writeFileSync(join(directory, file), text);
    }
    const options = { cwd: directory, encoding: "utf8" } as const;
    const oxlint = join(root, "node_modules/.bin/oxlint");
    const { stdout } = spawnSync(oxlint, ["--format", "unix"], options);
    return stdout.split("\n");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

it("has a file of its own for each case", () => {
  expect(new Set(files.values()).size).toBe(refused.length + allowed.length);
});

it.each(refused)("refuses %s", (name, _file, _text, message) => {
  expect(saidOf(name).join("\n")).toContain(message);
});

it.each(allowed)("allows %s", (name) => {
  expect(saidOf(name)).toEqual([]);
});
