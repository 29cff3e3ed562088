import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isAlive, thisProcess } from "./lmdb-owner.ts";

test("this process is alive", () => {
  expect(isAlive(thisProcess())).toBe(true);
});

test("a process of the same number that started at another time is somebody else", () => {
  expect(isAlive({ ...thisProcess(), started: "1" })).toBe(false);
});

test("a process of another boot or container is gone", () => {
  expect(isAlive({ ...thisProcess(), world: "elsewhere" })).toBe(false);
});

test("a process that has ended is gone", async () => {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  expect(isAlive({ ...thisProcess(), pid: child.pid ?? 0 })).toBe(false);
});
