/** What a drain would do, in words. */
import { describe, expect, it } from "vitest";
import { drainPlanLines } from "./drain-plan.ts";

describe("drainPlanLines", () => {
  it("says what would leave, where it would run, and what would be held", () => {
    const steps = [
      { workload: "Deployment shop/a", targets: [{ name: "m2", replicas: 2 }] },
      { workload: "Deployment shop/b", targets: [], held: "NoTarget: no room" },
    ];
    expect(drainPlanLines("m1", steps)).toEqual([
      "1 workload would leave m1, 1 would be held until a target exists:",
      "",
      "WORKLOAD           WOULD RUN ON",
      "Deployment shop/a  m2:2",
      "Deployment shop/b  held, NoTarget: no room",
    ]);
  });

  it("says what never leaves", () => {
    const steps = [{ workload: "StatefulSet shop/store", targets: [], exempt: "It never moves." }];
    expect(drainPlanLines("m1", steps)).toEqual([
      "0 workloads would leave m1, 1 would stay:",
      "",
      "WORKLOAD                WOULD RUN ON",
      "StatefulSet shop/store  stays, It never moves.",
    ]);
  });

  it("says so when there is nothing", () => {
    expect(drainPlanLines("m1", [])).toEqual(["nothing is on m1"]);
  });
});
