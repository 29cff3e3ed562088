/** What a drain would do, in words. */
import { addMs, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { drainPlanLines, leavingOf, promptLines } from "./drain-plan.ts";

const now = instantOf(0);

describe("leavingOf", () => {
  it("counts a workload of two clusters once, and what is held apart", () => {
    const targets = [{ name: "m3", replicas: 2 }];
    const both = { workload: "Deployment shop/a", targets };
    const held = { workload: "Deployment shop/b", targets: [], held: "NoTarget: no room" };
    const plans = [
      ["m1", [both, held]],
      ["m2", [both]],
    ] as const;
    expect(leavingOf(plans, "will")).toBe(
      "1 workload will leave m1, m2, 1 will be held until a target exists",
    );
  });
});

describe("drainPlanLines", () => {
  it("says what would leave, where it would run, and what would be held", () => {
    const steps = [
      { workload: "Deployment shop/a", targets: [{ name: "m2", replicas: 2 }] },
      { workload: "Deployment shop/b", targets: [], held: "NoTarget: no room" },
    ];
    expect(drainPlanLines("m1", steps, now)).toEqual([
      "1 workload would leave m1, 1 would be held until a target exists:",
      "",
      "WORKLOAD           WOULD RUN ON",
      "Deployment shop/a  m2:2",
      "Deployment shop/b  held, NoTarget: no room",
    ]);
  });

  it("says what waits for an approval", () => {
    const targets = [{ name: "m2", replicas: 2 }];
    const steps = [{ workload: "Deployment shop/a", targets, awaitsApproval: true }];
    const lines = drainPlanLines("m1", steps, now);
    expect(lines[0]).toBe("0 workloads would leave m1, 1 would wait for an approval:");
    expect(lines.at(-1)).toBe("Deployment shop/a  m2:2, once approved");
  });

  it("says what never leaves", () => {
    const steps = [{ workload: "StatefulSet shop/store", targets: [], exempt: "It never moves." }];
    expect(drainPlanLines("m1", steps, now)).toEqual([
      "0 workloads would leave m1, 1 would stay:",
      "",
      "WORKLOAD                WOULD RUN ON",
      "StatefulSet shop/store  stays, It never moves.",
    ]);
  });

  it("says what is tolerated for a while", () => {
    const targets = [{ name: "m2", replicas: 2 }];
    const steps = [{ workload: "Deployment shop/a", targets, leavesAt: addMs(now, 90_000) }];
    expect(drainPlanLines("m1", steps, now).at(-1)).toBe("Deployment shop/a  m2:2 after 90s");
  });

  it("is short above a question", () => {
    const targets = [{ name: "m2", replicas: 2 }];
    const steps = Array.from({ length: 500 }, (_, i) => ({
      workload: `Deployment a/b${i}`,
      targets,
    }));
    const lines = promptLines("m1", steps, now);
    expect(lines.length).toBeLessThan(20);
    expect(lines[0]).toContain("500 workloads");
    expect(lines).toContain("and 490 more: --dry-run shows all");
  });

  it("says so when there is nothing", () => {
    expect(drainPlanLines("m1", [], now)).toEqual(["nothing is on m1"]);
  });
});
