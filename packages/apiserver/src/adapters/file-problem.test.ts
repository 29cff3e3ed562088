import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fileProblem } from "./file-problem.ts";

const folder = mkdtempSync(join(tmpdir(), "lifeboat-problem-"));
writeFileSync(join(folder, "file"), "");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function problemOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    return fileProblem(error);
  }
  throw new Error("nothing was thrown");
}

test("a call that failed on a file is told with its path and what to do", () => {
  const below = join(folder, "file", "below");
  expect(problemOf(() => mkdirSync(below))).toBe(
    `cannot use ${below} (mkdir: ENOTDIR): part of the path is a file and no directory: choose another directory`,
  );
  const absent = join(folder, "absent");
  expect(problemOf(() => readFileSync(absent))).toBe(
    `cannot use ${absent} (open: ENOENT): it does not exist (any more): restore it, or choose another directory`,
  );
});

test("what is unknown is told in the words of the system", () => {
  const error = Object.assign(new Error("EXDEV: cross-device link not permitted"), {
    code: "EXDEV",
    syscall: "rename",
    path: "/a",
  });
  expect(fileProblem(error)).toBe(
    "cannot use /a (rename: EXDEV): EXDEV: cross-device link not permitted",
  );
});

test.each([
  ["a bug", new TypeError("x is not a function")],
  [
    "a failed connection",
    Object.assign(new Error("no"), { code: "ECONNREFUSED", syscall: "connect" }),
  ],
  ["no error at all", "text"],
])("%s is no problem of a file", (_, error) => {
  expect(fileProblem(error)).toBeUndefined();
});
