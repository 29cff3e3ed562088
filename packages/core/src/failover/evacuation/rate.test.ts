/** The rate by the state of the fleet: the table of the proposal, and the brake when everything looks down. */
import type { Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { DEFAULT_RATES, fleetHealth, rateOf } from "./rate.ts";

type Taints = NonNullable<Cluster["spec"]["taints"]>;
const cluster = (...taints: Taints): Pick<Cluster, "spec"> => ({
  spec: { syncMode: "Push", taints },
});

describe("the rate", () => {
  it.each([
    [0, 3, 0.5, "FleetHealthy"],
    [1, 3, 0.5, "FleetHealthy"],
    [2, 3, 0, "FleetTooUnhealthy"],
    [3, 3, 0, "EverythingFailed"],
    [6, 12, 0.5, "FleetHealthy"],
    [7, 12, 0.1, "FleetUnhealthy"],
    [12, 12, 0, "EverythingFailed"],
    [6, 10, 0, "FleetTooUnhealthy"],
    [11, 20, 0.5, "FleetHealthy"],
    [12, 20, 0.1, "FleetUnhealthy"],
    [1, 1, 0, "EverythingFailed"],
    [0, 0, 0.5, "FleetHealthy"],
  ])("with %i of %i clusters failed is %f (%s)", (failed, counted, perSecond, reason) => {
    expect(rateOf({ failed, counted }, DEFAULT_RATES)).toMatchObject({ perSecond, reason });
  });

  it("is 0 when it is configured so", () => {
    expect(rateOf({ failed: 0, counted: 3 }, { ...DEFAULT_RATES, rate: 0 })).toMatchObject({
      perSecond: 0,
      reason: "RateZero",
    });
    const noSecondary = { ...DEFAULT_RATES, secondaryRate: 0 };
    expect(rateOf({ failed: 9, counted: 12 }, noSecondary)).toMatchObject({
      perSecond: 0,
      reason: "FleetUnhealthy",
    });
  });

  it("counts clusters with an evicting taint as failed, and those that a person drains not at all", () => {
    const fleet = [
      cluster(),
      cluster({ key: "a", effect: "NoSchedule" }),
      cluster({ key: "a", effect: "NoExecute" }),
      cluster({ key: "a", effect: "PreferNoExecute" }),
      cluster({ key: "lifeboat.dev/drain", effect: "NoExecute" }),
    ];
    expect(fleetHealth(fleet)).toEqual({ failed: 2, counted: 4 });
  });
});
