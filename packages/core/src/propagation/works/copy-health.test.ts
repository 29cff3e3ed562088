/** What a Work says about its copy: relied on, spared, or serving in part. */
import type { Work } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { isProvenHealthy, mayBeHealthy, mayServe } from "./copy-health.ts";

function work(health: string | undefined, status: object = {}, observedGeneration = 2): Work {
  const condition = (type: string): object => ({ type, status: "True", observedGeneration });
  return {
    metadata: { name: "w", generation: 2 },
    spec: {},
    status: {
      conditions: [condition("Applied"), condition("StatusObserved")],
      ...(health === undefined ? {} : { manifestStatuses: [{ health, status }] }),
    },
  } as unknown as Work;
}

describe("a copy", () => {
  it.each([
    ["healthy in this generation", work("Healthy"), [true, true, true]],
    ["healthy in an earlier one", work("Healthy", {}, 1), [false, true, true]],
    [
      "scaled up, one replica ready",
      work("Unhealthy", { readyReplicas: 1, replicas: 3 }),
      [false, false, true],
    ],
    ["a DaemonSet that rolls", work("Unhealthy", { numberReady: 2 }), [false, false, true]],
    [
      "not ready at all",
      work("Unhealthy", { readyReplicas: 0, replicas: 3 }),
      [false, false, false],
    ],
    [
      "with a status that is none",
      work("Unhealthy", { readyReplicas: "many" }),
      [false, false, false],
    ],
    ["never heard of", work(undefined), [false, false, false]],
  ])("%s", (_name, given, expected) => {
    expect([isProvenHealthy(given), mayBeHealthy(given), mayServe(given)]).toEqual(expected);
  });
});
