/** Files that name processes: only a living one counts, and only when it is the very one that was written down. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { thisProcess } from "@lifeboat/apiserver/adapters";
import { afterAll, expect, test } from "vitest";
import { livingOwner, writeOwner } from "./owner-file.ts";

const directory = mkdtempSync(join(tmpdir(), "lifeboat-owner-"));
const file = join(directory, "process.json");

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a living process is found with what was told beside it", () => {
  writeOwner(file, { ...thisProcess(), more: { a: 1 } });
  expect(livingOwner(file)).toEqual({ ...thisProcess(), more: { a: 1 } });
});

test("another process of the same number is not mistaken for it", () => {
  writeOwner(file, { ...thisProcess(), started: "1" });
  expect(livingOwner(file)).toBeUndefined();
});

test.each([
  "",
  "{",
  "null",
  "[]",
  "7",
  '{"pid":"1"}',
  '{"pid":1}',
  '{"pid":1.5,"started":"","world":""}',
])("a file that holds %j names nobody", (text) => {
  writeFileSync(file, text);
  expect(livingOwner(file)).toBeUndefined();
});

test("a missing file names nobody", () => {
  expect(livingOwner(join(directory, "none"))).toBeUndefined();
});
