/** What a Work reports about its copy: relied on, or spared. */
import type { Work } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { isProtected, isProvenHealthy, mayBeHealthy } from "./copy-health.ts";

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

function graced(one: Work): Work {
  const annotations = { "lifeboat.dev/grace-period-seconds": "60" };
  return { ...one, metadata: { ...one.metadata, annotations } };
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
    ["healthy, with a grace period", graced(work("Healthy", {}, 1)), [false, true, true]],
    [
      "of a failing application that has a grace period, one replica ready",
      graced(work("Unhealthy", { readyReplicas: 1, replicas: 3 })),
      [false, false, false],
    ],
  ])("%s", (_name, given, expected) => {
    expect([isProvenHealthy(given), mayBeHealthy(given), isProtected(given)]).toEqual(expected);
  });
});
