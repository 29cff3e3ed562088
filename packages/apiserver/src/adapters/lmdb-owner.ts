/**
 * Which process has a store directory open: the process's number, when it started and on which boot of the machine, so that a
 * number that was given to another process later is not mistaken for the owner. Nothing needs cleaning up after kill -9.
 *
 * In another container processes cannot be seen; an owner from there counts as gone. It is then fenced off: see
 * lmdb-storage.ts.
 */
import { readFileSync, readlinkSync } from "node:fs";

export interface Owner {
  readonly pid: number;
  /** When the process started, in the machine's own counting; "" where the system does not show it. */
  readonly started: string;
  /** The boot and the process namespace in which `pid` means something; "" where the system does not show it. */
  readonly world: string;
}

export function thisProcess(): Owner {
  return { pid: process.pid, started: statusOf(process.pid).started, world: thisWorld() };
}

export function isAlive(owner: Owner): boolean {
  if (owner.world !== thisWorld()) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM means: it is there, but belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const { state, started } = statusOf(owner.pid);
  return started === owner.started && !DEAD_STATES.has(state);
}

/** A zombie, which only waits for its parent to notice, and a process being taken apart: they will not write again. */
const DEAD_STATES: ReadonlySet<string> = new Set(["Z", "X"]);

/** The third and the 22nd field of the status line; the name in parentheses before them may hold anything. */
function statusOf(pid: number): { readonly state: string; readonly started: string } {
  const line = readOrEmpty(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", started: fields[19] ?? "" };
}

function thisWorld(): string {
  const boot = readOrEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  return `${boot.trim()} ${readOrEmpty(() => readlinkSync("/proc/self/ns/pid"))}`;
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
