import { describe, expect, it } from "vitest";
import { createRateLimit, networkOf } from "./rate-limit.ts";

describe("the rate limit", () => {
  it("answers so many per second and network, then truncates every second query and drops the rest", () => {
    const limit = createRateLimit(3);
    const asked = (address: string, at: number) => limit.judge(address, at);
    const verdicts = Array.from({ length: 7 }, (_none, n) => asked(`192.0.2.${n}`, 1000));
    expect(verdicts).toEqual([
      "answer",
      "answer",
      "answer",
      "truncate",
      "drop",
      "truncate",
      "drop",
    ]);
    expect(asked("198.51.100.1", 1000)).toBe("answer");
    expect(asked("192.0.2.1", 2000)).toBe("answer");
  });

  it("is off at 0", () => {
    const limit = createRateLimit(0);
    for (let n = 0; n < 100; n += 1) expect(limit.judge("192.0.2.1", 0)).toBe("answer");
  });

  it.each([
    ["192.0.2.77", "192.0.2"],
    ["::ffff:192.0.2.77", "192.0.2"],
    ["2001:db8:1:2ab::1", "2001:db8:1:02"],
    ["2001:db8:1:2ff:1:2:3:4", "2001:db8:1:02"],
    ["::1", "::00"],
  ])("%s belongs to %s", (address, network) => {
    expect(networkOf(address).replace(/^:*/, "")).toBe(network.replace(/^:*/, ""));
  });
});
