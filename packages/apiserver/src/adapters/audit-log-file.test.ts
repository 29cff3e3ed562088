import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { oldLogs, openAuditLogFile } from "./audit-log-file.ts";

let folder: string;
let path: string;
let told: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lifeboat-audit-"));
  path = join(folder, "log", "audit.log");
  told = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (over: object = {}) =>
  openAuditLogFile(path, {
    mode: "blocking",
    maxBytes: 0,
    maxBackups: 0,
    maxAgeMs: 0,
    warn: (sentence) => told.push(sentence),
    ...over,
  });

const lines = (): readonly string[] => readFileSync(path, "utf8").split("\n").slice(0, -1);

it.each(["batch", "blocking", "blocking-strict"])(
  "writes lines in order, mode %s",
  async (mode) => {
    const log = await open({ mode });
    const texts = Array.from({ length: 500 }, (_, i) => `line ${i}`);
    await Promise.all(texts.map((text) => log.append(text)));
    if (mode !== "batch") expect(lines()).toEqual(texts);
    await log.close();
    expect(lines()).toEqual(texts);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  },
);

it("goes on with a file that is there, on a new line where the last one was cut", async () => {
  let log = await open();
  await log.append("one");
  await log.close();
  appendFileSync(path, "half a li");
  log = await open();
  await log.append("two");
  await log.close();
  expect(lines()).toEqual(["one", "half a li", "two"]);
});

it("puts a full file aside and keeps so many", async () => {
  const log = await open({ maxBytes: 100, maxBackups: 2 });
  for (let i = 0; i < 40; i++) await log.append(`${i} ${"x".repeat(30)}`);
  await log.close();
  const files = readdirSync(join(folder, "log")).sort();
  expect(files).toHaveLength(3);
  for (const file of files) expect(statSync(join(folder, "log", file)).size).toBeLessThan(100);
  expect(lines().at(-1)).toMatch(/^39 /);
});

it("loses lines while they cannot be written, tells why once, and goes on when they can", async () => {
  const log = await open({ maxBytes: 10 });
  await log.append("12345678");
  rmSync(join(folder, "log"), { recursive: true });
  writeFileSync(join(folder, "log"), "in the way");
  await expect(log.append("lost")).rejects.toThrow("ENOTDIR");
  await expect(log.append("lost too")).rejects.toThrow("it is a file");
  expect(told).toEqual([expect.stringContaining("are lost: ENOTDIR")]);
  rmSync(join(folder, "log"));
  await log.append("three");
  await log.close();
  expect(lines()).toEqual(["three"]);
});

it("finds old files by number and age, and leaves others alone", () => {
  const now = Date.parse("2026-01-10T00:00:00Z");
  const names = [
    "audit.log",
    "audit-2026-01-09T00-00-00.000Z.log",
    "audit-2026-01-01T00-00-00.000Z.log",
    "audit-2026-01-05T00-00-00.000Z.log",
    "audit-notes.log",
    "other-2020-01-01T00-00-00.000Z.log",
  ];
  const old = (maxBackups: number, days: number) =>
    oldLogs(names, "/x/audit.log", { maxBackups, maxAgeMs: days * 86_400_000 }, now);
  expect(old(0, 0)).toEqual([]);
  expect(old(1, 0)).toEqual([names[3], names[2]]);
  expect(old(0, 6)).toEqual([names[2]]);
  expect(old(2, 3)).toEqual([names[3], names[2]]);
});
