/** The flags of failover: defaults, ranges, gates, and those that are retired. */
import { describe, expect, it } from "vitest";
import { failoverFrom, failoverOptions, readGates, retiredWarnings } from "./failover-options.ts";
import { resolveOptions } from "./options.ts";
import { Settings } from "./settings.ts";

const given = (flags: Record<string, string | true> = {}): Settings =>
  new Settings(resolveOptions(failoverOptions, { flags, environment: {}, file: {} }));

describe("failoverFrom", () => {
  it("is off, slow and graceful when nothing is said", () => {
    expect(failoverFrom(given())).toEqual({
      gatesByFlag: [],
      failover: false,
      statefulFailoverInjection: false,
      evacuationApproval: "Policy",
      evacuationApprovalByFlag: false,
      resourceEvictionRate: 0.5,
      secondaryResourceEvictionRate: 0.1,
      unhealthyClusterThreshold: 0.55,
      largeClusterNumThreshold: 10,
      noExecutePurgeMode: "Gracefully",
      evictPlugins: ["ResourceHealth", "InScheduleResult"],
      trustFencedCondition: false,
      trafficDrainTimeoutMs: 60_000,
      trafficDrainLimitMs: 600_000,
    });
  });

  it.each([
    ["feature-gates", "Failover=true", { failover: true, statefulFailoverInjection: false }],
    ["feature-gates", "StatefulFailoverInjection=1", { statefulFailoverInjection: true }],
    ["feature-gates", "Failover=true, Failover=false", { failover: false }],
    ["resource-eviction-rate", "0", { resourceEvictionRate: 0 }],
    ["resource-eviction-rate", "1000", { resourceEvictionRate: 1000 }],
    ["unhealthy-cluster-threshold", "1", { unhealthyClusterThreshold: 1 }],
    ["no-execute-taint-eviction-purge-mode", "Immediately", { noExecutePurgeMode: "Directly" }],
    ["no-execute-taint-eviction-purge-mode", "Graciously", { noExecutePurgeMode: "Gracefully" }],
    [
      "evacuation-approval",
      "required",
      { evacuationApproval: "Required", evacuationApprovalByFlag: true },
    ],
    ["evict-plugins", "ResourceHealth", { evictPlugins: ["ResourceHealth"] }],
    ["evict-plugins", "none", { evictPlugins: [] }],
  ])("--%s %s is taken", (name, value, expected) => {
    expect(failoverFrom(given({ [name]: value }))).toMatchObject(expected);
  });

  it.each([
    ["feature-gates", "Failovr=true", 'no gate "Failovr"; known are Failover, Stateful'],
    ["feature-gates", "Failover", "GATE=true or GATE=false is needed"],
    ["feature-gates", "Failover=maybe", "GATE=true or GATE=false is needed"],
    ["feature-gates", "Failover=true=true", "GATE=true or GATE=false is needed"],
    ["feature-gates", "constructor=true", 'no gate "constructor"'],
    ["resource-eviction-rate", "-1", "it must be at least 0"],
    ["resource-eviction-rate", "fast", "a number such as 0.5 is needed"],
    ["resource-eviction-rate", "", "a number such as 0.5 is needed"],
    ["resource-eviction-rate", "NaN", "a number such as 0.5 is needed"],
    ["resource-eviction-rate", "Infinity", "a number such as 0.5 is needed"],
    ["resource-eviction-rate", "1e999", "a number such as 0.5 is needed"],
    ["resource-eviction-rate", "0x10", "a number such as 0.5 is needed"],
    ["resource-eviction-rate", "0,5", "a number such as 0.5 is needed"],
    ["secondary-resource-eviction-rate", "-0.1", "it must be at least 0"],
    ["unhealthy-cluster-threshold", "1.1", "it must be at most 1"],
    ["unhealthy-cluster-threshold", "55%", "a number such as 0.5 is needed"],
    ["unhealthy-cluster-threshold", "-0.01", "it must be at least 0"],
    ["large-cluster-num-threshold", "2.5", "a whole number is needed"],
    ["large-cluster-num-threshold", "-1", "it must be at least 0"],
    ["large-cluster-num-threshold", "many", "a whole number is needed"],
    ["no-execute-taint-eviction-purge-mode", "Never", "Gracefully or Directly is needed"],
    ["no-execute-taint-eviction-purge-mode", "toString", "Gracefully or Directly is needed"],
    ["evacuation-approval", "Never", '"Never" is not valid: Policy or Required is needed'],
    ["evict-plugins", "none,ResourceHealth", 'no plugin "none"'],
    ["evict-plugins", "Patience", 'no plugin "Patience"; known are ResourceHealth'],
  ])("--%s %s is refused with a sentence", (name, value, message) => {
    expect(() => failoverFrom(given({ [name]: value }))).toThrow(message);
  });
});

describe("what is retired", () => {
  it("says nothing when nothing of it is given", () => {
    expect(retiredWarnings(given({ "feature-gates": "Failover=true" }))).toEqual([]);
  });

  it.each([
    ["graceful-eviction-timeout", "10m"],
    ["enable-taint-manager", true],
    ["failover-eviction-timeout", "5m"],
    ["default-not-ready-toleration-seconds", "300"],
    ["default-unreachable-toleration-seconds", "300"],
    ["enable-no-execute-taint-eviction", "true"],
    ["allow-no-execute-taint-policy", true],
  ] as const)("--%s %s changes nothing and is warned about once", (name, value) => {
    const settings = given({ [name]: value });
    expect(failoverFrom(settings)).toEqual(failoverFrom(given()));
    expect(retiredWarnings(settings)).toEqual([
      expect.stringContaining(`--${name} does nothing any more: `),
    ]);
  });

  it("covers the gate GracefulEviction, named twice", () => {
    const gates = "GracefulEviction=true,Failover=true,GracefulEviction=false";
    expect(readGates(gates).on).toEqual(new Set(["Failover"]));
    expect(retiredWarnings(given({ "feature-gates": gates }))).toEqual([
      expect.stringContaining("the feature gate GracefulEviction does nothing any more: "),
    ]);
  });
});
