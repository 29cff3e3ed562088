/** Directories are made or refused with a sentence; nothing hangs (17.16). */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "./environment.ts";
import { CommandFailed } from "./failure.ts";

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "lifeboat-environment-"));
});
afterAll(() => rmSync(base, { recursive: true }));

describe("makeDirectory", () => {
  it("makes those above it too, for their owner alone, and again", () => {
    const directory = join(base, "a", "b", "c");
    makeDirectory(directory);
    makeDirectory(directory);
    expect(statSync(directory).isDirectory()).toBe(true);
    expect(statSync(join(base, "a")).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["a file system that makes none", () => "/proc/lifeboat/data"],
    ["a file in the way", () => join(base, "file", "data")],
    ["a file of that name", () => join(base, "file")],
  ])("refuses %s with a sentence", (_name, path) => {
    writeFileSync(join(base, "file"), "");
    expect(() => makeDirectory(path())).toThrow(CommandFailed);
    expect(() => makeDirectory(path())).toThrow(/^cannot make the directory .*: /);
  });
});
