/** How tests run a program under strace: with what makes a trace that trace-calls.ts reads. */
import { spawnSync } from "node:child_process";
import { expect } from "vitest";

const OPENING = "openat";
const RECEIVING = "read,readv,recvfrom,recvmsg";
const SENDING = "write,writev,sendto,sendmsg";
const STORING = "pwrite64,pwritev,pwritev2,fsync,fdatasync,msync,sync_file_range";

/** Fails the test without strace, or skips it where LIFEBOAT_ALLOW_MISSING=1 allows that. */
export function requireStrace(skip: (note: string) => void): void {
  const hasStrace = spawnSync("strace", ["-V"]).status === 0;
  const mayMiss = process.env["LIFEBOAT_ALLOW_MISSING"] === "1";
  if (!hasStrace && mayMiss) skip("strace is not installed, and LIFEBOAT_ALLOW_MISSING=1");
  const help = "strace is not installed (Debian: strace); LIFEBOAT_ALLOW_MISSING=1 skips";
  expect(hasStrace, help).toBe(true);
}

/**
 * The command before the command. The traced program is the process that was started (`-D`), so signals reach it. strace
 * keeps standard error open, so both streams of the process are at their end (`close`) only when the trace is complete.
 */
export function straceInto(file: string): readonly string[] {
  const calls = [OPENING, RECEIVING, SENDING, STORING].join(",");
  return ["strace", "-D", "-f", "-y", "-s", "16", "-o", file, "-e", `trace=${calls}`];
}
