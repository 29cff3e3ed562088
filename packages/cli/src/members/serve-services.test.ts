import { describe, expect, it } from "vitest";
import { addressPrefix } from "./serve-services.ts";

describe("the load-balancer addresses of a member", () => {
  it("are of its own, for as many members as `up` starts", () => {
    const names = Array.from({ length: 50 }, (_, i) => `member${i + 1}`);
    for (const isServed of [true, false])
      expect(new Set(names.map((name) => addressPrefix(name, isServed))).size).toBe(50);
  });

  it("are on loopback only where they are served", () => {
    expect(addressPrefix("member3", true)).toBe("127.103");
    expect(addressPrefix("member3", false)).toBe("100.67");
    expect(addressPrefix("member50", false)).toBe("100.114");
  });
});
