import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type BackupContent, openBackup, writeBackup } from "./backup-file.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lifeboat-backup-"));
  path = join(folder, "one.backup");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const header = { version: "1.2.3", takenAt: "2026-01-01T00:00:00Z", revisionCeiling: 12_345 };
const rows = Array.from({ length: 3000 }, (_, i) => Buffer.from(`row ${i} ${"x".repeat(i)}`));
const files = [
  { name: "ca.key", bytes: Buffer.from("secret\nkey") },
  { name: "client-a%3Ab.crt", bytes: Buffer.alloc(0) },
];
const content: BackupContent = { header, rows, files };

function write(given: Partial<BackupContent> = {}, force = false): void {
  writeBackup(path, { ...content, ...given }, { force });
}

it("gives back what was written, and is readable by its owner alone", () => {
  write();
  const backup = openBackup(path);
  expect(backup.header).toEqual(header);
  expect(backup.counts).toEqual({ objects: 3000, files: 2 });
  expect([...backup.rows].map(String)).toEqual(rows.map(String));
  expect(backup.files.map(({ name, bytes }) => [name, String(bytes)])).toEqual([
    ["ca.key", "secret\nkey"],
    ["client-a%3Ab.crt", ""],
  ]);
  backup.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it("holds nothing, and is a backup all the same", () => {
  write({ rows: [], files: [] });
  const backup = openBackup(path);
  expect([...backup.rows]).toEqual([]);
  backup.close();
});

it("replaces a file only when told to", () => {
  writeFileSync(path, "years of work");
  expect(() => write()).toThrow("exists: choose another name");
  expect(readFileSync(path, "utf8")).toBe("years of work");
  write({}, true);
  openBackup(path).close();
});

it("leaves the former backup, and no draft, when reading the store fails in between", () => {
  write({ rows: [] });
  function* failing(): Iterable<Buffer> {
    yield Buffer.from("one");
    throw new Error("the disk fails");
  }
  expect(() => write({ rows: failing() }, true)).toThrow("the disk fails");
  expect(readdirSync(folder)).toEqual(["one.backup"]);
  openBackup(path).close();
});

it("refuses a backup in which any single byte is another, or that is cut short", () => {
  write({ rows: rows.slice(0, 3) });
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at++) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(path, changed);
    expect(() => openBackup(path), `byte ${at}`).toThrow(/is damaged|is not a backup|newer/);
    writeFileSync(path, whole.subarray(0, at));
    expect(() => openBackup(path), `cut at ${at}`).toThrow(/is damaged|is not a backup/);
  }
});

it("refuses names that lead out of the directory", () => {
  for (const name of ["../ca.key", "/etc/passwd", ".hidden", "", "a/b"]) {
    write({ files: [{ name, bytes: Buffer.from("x") }] }, true);
    expect(() => openBackup(path), name).toThrow("whose name is not allowed");
  }
});

it("says of a newer backup that a newer lifeboat is needed", () => {
  writeFileSync(path, `{"kind":"lifeboat-backup","format":2}\n`);
  expect(() => openBackup(path)).toThrow("written by a newer lifeboat (format 2");
});
