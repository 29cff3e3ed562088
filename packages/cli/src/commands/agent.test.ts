import { describe, expect, it } from "vitest";
import { resolveOptions } from "../options.ts";
import { Settings } from "../settings.ts";
import { agentOptions, optionsFrom } from "./agent.ts";

const given = (flags: Record<string, string> = {}) =>
  new Settings(resolveOptions(agentOptions, { flags, environment: {}, file: {} }));

describe("the options of an agent", () => {
  it("are those that operators know", () => {
    expect(optionsFrom(given({ "cluster-name": "eu-1" }))).toMatchObject({
      cluster: "eu-1",
      statusUpdateFrequencyMs: 10_000,
      failureThresholdMs: 30_000,
      successThresholdMs: 30_000,
      leaseDurationMs: 40_000,
      leaseRenewFraction: 0.25,
      leaderElect: true,
    });
  });
  it("take a location", () => {
    const flags = { "cluster-name": "a", "cluster-region": "eu", "cluster-zones": "a, b," };
    expect(optionsFrom(given(flags))).toMatchObject({ region: "eu", zones: ["a", "b"] });
  });
  it.each([
    [{}, "--cluster-name is needed"],
    [{ "cluster-name": "a", "leader-elect": "maybe" }, "true or false"],
  ])("%j is refused", (flags, text) => {
    expect(() => optionsFrom(given(flags as Record<string, string>))).toThrow(text);
  });
});
