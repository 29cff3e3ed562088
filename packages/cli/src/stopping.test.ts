import { expect, test } from "vitest";
import { isStartedByAnother, PARENT_VARIABLE } from "./stopping.ts";

test.each([
  ["started from a shell", {}, false],
  ["started by npm or npx", { npm_execpath: "/usr/lib/node_modules/npm/bin/npm-cli.js" }, true],
  ["started by a command that must not be outlived", { [PARENT_VARIABLE]: "77" }, true],
  ["started by a child of such a command", { [PARENT_VARIABLE]: "66" }, false],
])("a process %s", (_, environment, want) => {
  expect(isStartedByAnother(environment, 77)).toBe(want);
});
