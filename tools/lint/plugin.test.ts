/** The project's own lint rules fire on what they forbid and on nothing else. Run with the real linter. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readText, root } from "../repository.ts";

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "lifeboat-lint-"));
  const config = JSON.parse(readText(".oxlintrc.json"));
  config.jsPlugins = [join(root, "tools/lint/plugin.js")];
  writeFileSync(join(directory, ".oxlintrc.json"), JSON.stringify(config));
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function lint(file: string, text: string): string {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), text);
  const { stdout } = spawnSync(join(root, "node_modules/.bin/oxlint"), [file], {
    cwd: directory,
    encoding: "utf8",
  });
  rmSync(join(directory, file));
  return stdout;
}

const core = "packages/core/src/propagation/a.ts";

it.each([
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
])("refuses %s", (_name, file, text, message) => {
  expect(lint(file, text)).toContain(message);
});

it.each([
  ["a conversion of a date", core, "export const a = new Date(0);"],
  ["a wall clock in an adapter", "packages/kit/src/adapters/a.ts", "export const a = Date.now();"],
  ["a downward import", "packages/kit/src/a.ts", 'export { x } from "@lifeboat/api";'],
  [
    "the testkit in a test",
    "packages/core/src/propagation/a.test.ts",
    'export { x } from "@lifeboat/testkit";',
  ],
])("allows %s", (_name, file, text) => {
  expect(lint(file, text)).toContain("0 warnings and 0 errors");
});
