/**
 * Aim: no write is answered before it is on the disk. Method: the system calls of a process that commits are traced, and
 * the trace must show data, sync, header and only then the answer, for every single write.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "./child.ts";
import { requireStrace, straceInto } from "./strace.ts";
import { judgeTrace } from "./sync-trace.ts";

const WRITES = 30;

test("no write is answered before it is synced", async ({ skip }) => {
  requireStrace(skip);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lifeboat-strace-")));
  const trace = join(folder, "trace");
  try {
    const child = await startChild(join(folder, "store"), { under: straceInto(trace) });
    for (let i = 0; i < WRITES; i++)
      expect(await child.tell(`put ns/name-${i % 7} ${(i * 700) % 9000}`)).toMatch(/^ack \d+$/);
    await child.end();
    const verdict = judgeTrace(readFileSync(trace, "utf8"), join(folder, "store", "data.mdb"));
    expect(verdict).toEqual({ answers: WRITES, violations: [] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const FILE = "/d/data.mdb";
const OPEN = [
  `7 openat(AT_FDCWD</>, "${FILE}", O_RDWR|O_CREAT, 0664) = 19<${FILE}>`,
  `7 openat(AT_FDCWD</>, "${FILE}", O_WRONLY|O_DSYNC|O_CLOEXEC) = 20<${FILE}>`,
  `7 write(1<pipe:[1]>, "ready\\n", 6) = 6`,
];
const DATA = `8 writev(19<${FILE}>, [{iov_base="x"..., iov_len=4096}], 1) = 4096`;
const SYNC = `8 fdatasync(19<${FILE}>)          = 0`;
const HEADER = `8 pwrite64(20<${FILE}>, "x"..., 128, 40) = 128`;
const ACK = `7 write(1<pipe:[1]>, "ack 1\\n", 6) = 6`;

for (const { name, calls, good } of [
  { name: "data, sync, header, answer", calls: [DATA, DATA, SYNC, HEADER, ACK], good: true },
  { name: "an answer before anything", calls: [ACK, DATA, SYNC, HEADER], good: false },
  { name: "an answer before the sync", calls: [DATA, ACK, SYNC, HEADER], good: false },
  { name: "an answer before the header", calls: [DATA, SYNC, ACK, HEADER], good: false },
  { name: "a header before the sync", calls: [DATA, HEADER, SYNC, ACK], good: false },
  { name: "data after the sync", calls: [DATA, SYNC, DATA, HEADER, ACK], good: false },
  {
    name: "a header through an ordinary descriptor",
    calls: [DATA, SYNC, HEADER.replace("20<", "19<"), ACK],
    good: false,
  },
  {
    name: "a sync that failed",
    calls: [DATA, SYNC.replace("= 0", "= -1 EIO (Input/output error)"), HEADER, ACK],
    good: false,
  },
  {
    name: "a sync still running when the answer goes out",
    calls: [
      DATA,
      `8 fdatasync(19<${FILE}> <unfinished ...>`,
      ACK,
      "8 <... fdatasync resumed>)      = 0",
      HEADER,
    ],
    good: false,
  },
  {
    name: "a sync that was interrupted in the trace only",
    calls: [
      DATA,
      `8 fdatasync(19<${FILE}> <unfinished ...>`,
      "8 <... fdatasync resumed>)      = 0",
      HEADER,
      ACK,
    ],
    good: true,
  },
])
  test(`a trace with ${name} is judged ${good ? "good" : "bad"}`, () => {
    const { violations } = judgeTrace([...OPEN, ...calls].join("\n"), FILE);
    expect(violations.length === 0).toBe(good);
  });
