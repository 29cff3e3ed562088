/** `lifeboat demo --fast`: each whole story as a person sees it, and nothing is left behind. */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

/** Processes whose command line names a directory. */
function processesIn(directory: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(directory);
      } catch {
        return false;
      }
    })
    .filter((pid) => Number(pid) !== process.pid);
}

function leftBehind(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("lifeboat-demo-"));
}

it("tells the story to its end within five minutes, and leaves nothing behind", async () => {
  const before = leftBehind();
  const started = Date.now();
  const demo = startProcess(lifeboatCommand, ["demo", "--fast"]);
  expect(await demo.ended, demo.output()).toBe(0);
  expect(Date.now() - started).toBeLessThan(300_000);
  const text = demo.output();
  expect(text).toContain("three members have joined");
  expect(text).toMatch(/ s {2}(member\d) dies\n/);
  expect(text).toMatch(/it gets the taint demo\/unreachable:NoExecute/);
  expect(text).toMatch(/leaves member\d with its state \(demo\/ready=\d\)/);
  expect(text).toMatch(/member\d shows \w+ with the label demo\/ready=\d/);
  expect(text).toMatch(/every workload is whole again, without member\d/);
  expect(text).toMatch(/takes new work again; what has moved stays where it is/);
  const timeline = text.slice(text.indexOf("Timeline"));
  expect(timeline.match(/^ +\d+\.\d s {2}/gm)?.length).toBeGreaterThanOrEqual(10);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(leftBehind()).toEqual(before);
});

it("moves requests away from a sick cluster and back, and none fails", async () => {
  const before = leftBehind();
  const demo = startProcess(lifeboatCommand, ["demo", "--story", "traffic", "--fast"]);
  expect(await demo.ended, demo.output()).toBe(0);
  const text = demo.output();
  expect(text).toMatch(/the ingress web blocks member2/);
  expect(text).toMatch(/member2 +do not resolve +blocked +\d+ +0\n/);
  expect(text).toMatch(/member2 answers requests again/);
  const [, sent = "0"] = /(\d+) requests were sent, and none failed/.exec(text) ?? [];
  expect(Number(sent)).toBeGreaterThan(200);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(leftBehind()).toEqual(before);
});

it("knows its stories", async () => {
  const demo = startProcess(lifeboatCommand, ["demo", "--story", "toString"]);
  expect(await demo.ended).toBe(2);
  expect(demo.output()).toContain("there is no toString; known are failover, traffic");
});

it("ends in order when it is interrupted in the middle", async () => {
  const directory = temporaryDirectory("demo-kept");
  const demo = startProcess(lifeboatCommand, ["demo", "--fast", "--data-dir", directory]);
  await demo.printed(/every replica is ready/);
  expect(await demo.stop("SIGINT")).toBe(1);
  expect(demo.output()).toContain("lifeboat: stopped");
  for (let tries = 0; tries < 50 && processesIn(directory).length > 0; tries++) await wait(200);
  expect(processesIn(directory)).toEqual([]);
  removeDirectory(directory);
});

it("--step is refused without a terminal", async () => {
  const demo = startProcess(lifeboatCommand, ["demo", "--step"]);
  expect(await demo.ended).toBe(2);
  expect(demo.output()).toContain("there is no terminal here");
});
