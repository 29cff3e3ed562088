/** Failover by hand on `lifeboat up --members 3`, and what it says of flags that do nothing or are wrong. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createKubectl } from "../support/kubectl.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { startProcess } from "../support/processes.ts";
import { BY_HAND_FLAGS, byHandSuite } from "./by-hand.suite.ts";

const FLAGS = [
  ...BY_HAND_FLAGS,
  "--members",
  "3",
  "--feature-gates",
  "StatefulFailoverInjection=true,GracefulEviction=true",
  "--graceful-eviction-timeout",
  "10m",
];

let plane: RunningLifeboat;

byHandSuite("on the embedded control plane", async () => {
  plane = await startLifeboat({ args: FLAGS });
  await plane.process.printed(/^members ready$/m);
  const kubectl = createKubectl(plane);
  const stop = async (): Promise<void> => {
    kubectl.close();
    await plane.stop();
  };
  return { kubectl, reach: ["--data-dir", plane.dataDirectory], hasProbes: true, stop };
});

describe("the control plane's flags", () => {
  it("that are retired are accepted, and warned about once each", () => {
    const warnings = plane.process.output().match(/does nothing any more/g);
    expect(warnings).toHaveLength(2);
    expect(plane.process.output()).toContain("--graceful-eviction-timeout does nothing any more");
    expect(plane.process.output()).toContain("the feature gate GracefulEviction does nothing");
  });

  it.each([
    [["--unhealthy-cluster-threshold", "1.5"], "must be at most 1"],
    [["--feature-gates", "Failovr=true"], 'no gate "Failovr"; known are Failover'],
    [["--no-execute-taint-eviction-purge-mode", "Never"], "Gracefully or Directly is needed"],
  ])("%j does not start one", async (flags, message) => {
    const unused = join(plane.dataDirectory, "unused");
    const child = startProcess(lifeboatCommand, ["up", "--data-dir", unused, ...flags]);
    expect(await child.ended).toBe(2);
    expect(child.output()).toContain(message);
    expect(existsSync(unused)).toBe(false);
  });
});
