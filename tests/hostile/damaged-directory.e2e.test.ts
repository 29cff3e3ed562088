/**
 * Aim: a data directory that is damaged or cannot be used ends `lifeboat up` with one sentence that tells what is wrong, where
 * and what to do: no crash, no stack.
 * Method: the store of a real plane, damaged while nothing runs, and a file system that is mounted read-only.
 */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lifeboatCommand, ONLY_API, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";
import { createLarge } from "./large-objects.ts";

const PAGE = 4096;
/** So many pages of each kind are zeroed, one in each start. */
const EACH = 2;
const mayMiss = process.env["LIFEBOAT_ALLOW_MISSING"] === "1";
let folder: string;
/** The data directory of a plane that was stopped in order, and of one that was killed. */
let stopped: string;
let killed: string;
let copies = 0;

beforeAll(async () => {
  folder = temporaryDirectory("damaged");
  stopped = join(folder, "stopped");
  killed = join(folder, "killed");
  for (const [directory, signal] of [
    [stopped, "SIGTERM"],
    [killed, "SIGKILL"],
  ] as const) {
    const plane = await startLifeboat({ dataDirectory: directory, args: ONLY_API });
    const client = await connectByKubeconfig({ paths: [plane.kubeconfig] });
    for (let i = 0; i < 8; i++) await createLarge(client, `map-${i}`, 200_000);
    client.close();
    await plane.process.stop(signal);
  }
});

afterAll(() => removeDirectory(folder));

function copyOf(directory: string): string {
  const copy = join(folder, `copy-${copies++}`);
  cpSync(directory, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

/** How `up` ends on the directory, and what it prints. */
async function up(directory: string): Promise<string> {
  const args = ["up", "--data-dir", directory, "--listen", "127.0.0.1:0"];
  const one = startProcess(lifeboatCommand, args);
  const end = await Promise.race([one.ended, one.printed(/^ready$/m).then(() => "ready")]);
  if (end === "ready") await one.stop("SIGKILL");
  return `${end}: ${one.output().trim()}`;
}

test.each([
  [
    "stopped",
    "cut by 160 KiB",
    (file: string) => truncateSync(file, statSync(file).size - 163_840),
  ],
  ["killed", "cut by 160 KiB", (file: string) => truncateSync(file, statSync(file).size - 163_840)],
  ["stopped", "zeroed in its second half", zeroSecondHalf],
  ["killed", "zeroed in its second half", zeroSecondHalf],
])(
  "17.5: a store of a plane that was %s, %s, is refused with a sentence",
  async (how, _, damage) => {
    const directory = copyOf(how === "stopped" ? stopped : killed);
    const file = join(directory, "store", "data.mdb");
    damage(file);
    const said = await up(directory);
    expect(said).toMatch(
      /^1: lifeboat: [^\n]* is damaged \([^\n]*\): restore the directory from a backup$/,
    );
    expect(said).toContain(file);
  },
);

test("17.5: a store that is whole is served, whether its plane was stopped or killed", async () => {
  expect(existsSync(join(stopped, "store", "clean"))).toBe(true);
  expect(existsSync(join(killed, "store", "clean"))).toBe(false);
  expect(await up(copyOf(stopped))).toMatch(/^ready: /);
  expect(await up(copyOf(killed))).toMatch(/^ready: /);
});

test("17.5: a directory that is mounted read-only is refused with a sentence", async ({ skip }) => {
  const disk = join(folder, "disk");
  mkdirSync(disk);
  const isMounted =
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", disk]).status === 0;
  if (!isMounted && mayMiss) skip("mounting a tmpfs needs root, and LIFEBOAT_ALLOW_MISSING=1");
  expect(isMounted, "mounting a tmpfs needs root; LIFEBOAT_ALLOW_MISSING=1 skips").toBe(true);
  try {
    cpSync(stopped, join(disk, "data"), { recursive: true });
    spawnSync("mount", ["-o", "remount,ro", disk]);
    expect(await up(join(disk, "data"))).toMatch(
      /^1: lifeboat: cannot use [^\n]*disk\/data[^\n]* \(\w+: EROFS\): its file system is mounted read-only: [^\n]*$/,
    );
    expect(await up(join(disk, "new"))).toMatch(/^1: lifeboat: [^\n]*EROFS[^\n]*$/);
  } finally {
    spawnSync("umount", ["-l", disk]);
  }
});

test("17.5: a data directory below a file is refused with a sentence", async () => {
  expect(await up(join(stopped, "store", "format", "below"))).toMatch(
    /^1: lifeboat: cannot make the directory [^\n]*ENOTDIR[^\n]*$/,
  );
});

/** Of lmdb's pages, by what their header holds: a page that continues a large value has none. */
const KINDS = { meta: 8, branch: 1, leaf: 2, overflow: 4 } as const;
/** What lmdb and Node write when they end a process, and what the command writes about a bug of its own. */
const NO_SENTENCE = /^SIG|^null|this is a bug|Segmentation|Assertion/m;

test.each([
  ["stopped", () => stopped],
  ["killed", () => killed],
])(
  "17.5: a store of a plane that was %s, with one page of zeroes, is refused with a sentence or served",
  async (_, base) => {
    const chosen = sampleOf(pagesOf(join(base(), "store", "data.mdb")));
    expect(new Set(chosen.map(({ kind }) => kind)).size).toBe(5);
    const ends: string[] = [];
    const next = async (): Promise<void> => {
      for (let one = chosen.shift(); one !== undefined; one = chosen.shift()) {
        const directory = copyOf(base());
        zero(join(directory, "store", "data.mdb"), one.page, 1);
        const said = await up(directory);
        const where = `${one.kind} page ${one.page}: ${said}`;
        expect(said, where).not.toMatch(NO_SENTENCE);
        expect(said, where).toMatch(
          /^ready: |^1: [^]*lifeboat: [^\n]*: restore the directory from a backup$/,
        );
        ends.push(said.slice(0, 5));
        removeDirectory(directory);
      }
    };
    await Promise.all([next(), next()]);
    // Some pages are of older versions, and nothing reads them any more.
    expect(new Set(ends)).toContain("1: li");
  },
  300_000,
);

interface Page {
  readonly kind: keyof typeof KINDS | "within a value";
  readonly page: number;
}

function pagesOf(file: string): readonly Page[] {
  const data = readFileSync(file);
  const pages: Page[] = [];
  for (let page = 0; page * PAGE < data.length; page++) {
    const at = page * PAGE;
    const isOwn = data.readBigUInt64LE(at) === BigInt(page);
    const flags = isOwn ? data.readUInt16LE(at + 18) : 0;
    const kind = (["meta", "branch", "leaf", "overflow"] as const).find(
      (one) => KINDS[one] === flags,
    );
    pages.push({ kind: kind ?? "within a value", page });
  }
  return pages;
}

/** Of each kind the first, the last and those between at equal distances: what is old lies beside what is new. */
function sampleOf(pages: readonly Page[]): Page[] {
  const kinds = new Set(pages.map(({ kind }) => kind));
  return [...kinds].flatMap((kind) => {
    const all = pages.filter((one) => one.kind === kind);
    return Array.from(
      { length: Math.min(all.length, EACH) },
      (_, i) => all[Math.round((i * (all.length - 1)) / Math.max(1, EACH - 1))],
    ).filter((one) => one !== undefined);
  });
}

function zeroSecondHalf(file: string): void {
  const pages = Math.floor(statSync(file).size / PAGE);
  const half = Math.floor(pages / 2);
  zero(file, half, pages - half);
}

function zero(file: string, page: number, count: number): void {
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(count * PAGE), 0, count * PAGE, page * PAGE);
  closeSync(handle);
}
