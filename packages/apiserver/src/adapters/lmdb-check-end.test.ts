import { expect, test } from "vitest";
import { type CheckEnd, checkLimitMs, judgeCheck } from "./lmdb-check-end.ts";

const FILE = "/data/store/data.mdb";
const done: CheckEnd = { lines: [{ sound: true }], code: 0, signal: null, errors: "" };
const silent: CheckEnd = { ...done, lines: [{ owner: { pid: 7 } }] };

test.each<[string, CheckEnd, object]>([
  ["read to the end", done, { verdict: "sound" }],
  [
    "found damage",
    { ...done, lines: [{ owner: {} }, { refused: "it is damaged (so)" }] },
    { verdict: "refused", why: "it is damaged (so)" },
  ],
  ...(["SIGBUS", "SIGSEGV", "SIGABRT"] as const).map((signal): [string, CheckEnd, object] => [
    `crashed by ${signal}`,
    { ...silent, code: null, signal },
    {
      verdict: "refused",
      why: `${FILE} is damaged (a process that read it was ended by ${signal}): restore the directory from a backup`,
    },
  ]),
  [
    "crashed after it had read everything",
    { ...done, code: null, signal: "SIGSEGV" },
    { verdict: "refused" },
  ],
  [
    "too slow",
    { ...silent, code: null, signal: "SIGKILL", timedOutMs: 15_000 },
    { verdict: "unfinished", why: `${FILE} was not checked: that took longer than 15 s` },
  ],
  [
    "killed from outside, such as for want of memory",
    { ...silent, code: null, signal: "SIGKILL" },
    {
      verdict: "unfinished",
      why: `${FILE} was not checked: the process that checks it was ended by SIGKILL`,
    },
  ],
  [
    "could not be started",
    {
      lines: [],
      code: 1,
      signal: null,
      errors: "node:internal\n\nError: Cannot find module 'x'\n",
    },
    {
      verdict: "unfinished",
      why: `${FILE} was not checked: the process that checks it ended with code 1: Error: Cannot find module 'x'`,
    },
  ],
  ["ended well and told nothing", silent, { verdict: "unfinished" }],
])("a check that was %s", (_, end, want) => {
  expect(judgeCheck(FILE, end)).toMatchObject(want);
});

test("a check may take five seconds for each GB, after ten to start", () => {
  expect(checkLimitMs(0)).toBe(10_000);
  expect(checkLimitMs(1024 ** 3)).toBe(15_000);
  expect(checkLimitMs(10 * 1024 ** 3)).toBe(60_000);
});
