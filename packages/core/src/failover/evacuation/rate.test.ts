/** The rate by the state of the fleet: the table of the proposal, and the brake when everything looks down. */
import type { Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { formatTime, type Instant, instantOf, plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import {
  DEFAULT_RATES,
  fleetHealth,
  overrideOf,
  overrideUntil,
  passiveRateOf,
  rateOf,
} from "./rate.ts";

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

describe("a rate that a person set", () => {
  const rate = (perSecond: number, failed: number, isIsolated = false) =>
    rateOf({ failed, counted: 3, isIsolated, override: { perSecond } }, DEFAULT_RATES);

  it.each([
    ["in a healthy fleet", 2, 0, false, 2, "SetByPerson"],
    ["where the brake is on", 1, 2, false, 1, "SetByPerson"],
    ["where every cluster has failed", 1, 3, false, 1, "SetByPerson"],
    ["of 0", 0, 0, false, 0, "SetByPerson"],
    ["but not while the control plane may be cut off", 1, 0, true, 0, "PlaneMayBeIsolated"],
  ] as const)("counts %s", (_name, set, failed, isIsolated, perSecond, reason) => {
    expect(rate(set, failed, isIsolated)).toMatchObject({ perSecond, reason });
  });

  it.each([
    ["slows a healthy fleet down", 0.25, 0, 3, 0.25, "SetByPerson"],
    ["speeds no healthy fleet up", 2, 0, 3, 0.5, "FleetHealthy"],
    ["leaves the brake of a small fleet on", 0.25, 2, 3, 0, "FleetTooUnhealthy"],
    ["leaves the brake on where every cluster has failed", 0.25, 3, 3, 0, "EverythingFailed"],
    ["leaves the secondary rate of a large fleet", 0.25, 9, 12, 0.1, "FleetUnhealthy"],
    ["slows the secondary rate of a large fleet down", 0.05, 9, 12, 0.05, "SetByPerson"],
    ["stops a healthy fleet at 0", 0, 0, 3, 0, "SetByPerson"],
  ] as const)("D6: as an upper bound %s", (_name, bound, failed, counted, perSecond, reason) => {
    const override = { perSecond: bound, atMost: true };
    expect(rateOf({ failed, counted, override }, DEFAULT_RATES)).toMatchObject({
      perSecond,
      reason,
    });
  });

  it("lets what has no replicas go, also where the configured rate is 0", () => {
    const stopped = { ...DEFAULT_RATES, rate: 0 };
    expect(passiveRateOf(rateOf({ failed: 0, counted: 3 }, stopped), stopped)).toBe(0);
    const set = rateOf({ failed: 0, counted: 3, override: { perSecond: 1 } }, stopped);
    expect(passiveRateOf(set, stopped)).toBe(10);
    expect(passiveRateOf(rate(0.25, 0), DEFAULT_RATES)).toBe(5);
  });

  it("ends at its time, whatever that is, and for ever", () => {
    const start = Date.UTC(2026, 0, 1);
    const at = (seconds: number): Instant => instantOf(start + seconds * 1000);
    fc.assert(
      fc.property(fc.nat(1000), fc.integer({ min: 1, max: 1000 }), fc.nat(3000), (a, b, c) => {
        const override = {
          perSecond: 2,
          setAt: formatTime(at(a)),
          until: formatTime(at(a + b)),
          reason: "r",
        };
        const moment = plainMoment(at(c));
        expect(overrideOf(override, moment)?.perSecond).toBe(c < a + b ? 2 : undefined);
        expect(overrideUntil(override, moment)).toBe(c < a + b ? at(a + b) : undefined);
      }),
    );
    const broken = { perSecond: 9, setAt: "yesterday", until: "tomorrow", reason: "r" };
    expect(overrideOf(broken, plainMoment(at(0)))).toBeUndefined();
    expect(overrideOf(undefined, plainMoment(at(0)))).toBeUndefined();
  });
});
