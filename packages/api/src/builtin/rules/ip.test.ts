import { describe, expect, it } from "vitest";
import { isStrictSubset, type Network, parseCidr, parseIp, specialAddressProblems } from "./ip.ts";

function network(text: string): Network {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`${text} is not a network`);
  return parsed;
}

describe("parseIp", () => {
  it.each([
    { text: "1.2.3.4", family: 4, bits: 0x01020304n },
    { text: "0.0.0.0", family: 4, bits: 0n },
    { text: "::", family: 6, bits: 0n },
    { text: "::1", family: 6, bits: 1n },
    { text: "fe80::1:2", family: 6, bits: (0xfe80n << 112n) | 0x10002n },
    { text: "::ffff:1.2.3.4", family: 6, bits: 0xffff01020304n },
    { text: "1:2:3:4:5:6:7:8", family: 6, bits: 0x00010002000300040005000600070008n },
  ])("reads $text", ({ text, family, bits }) => {
    expect(parseIp(text)).toEqual({ family, bits });
  });

  it.each([
    "",
    "1.2.3",
    "1.2.3.256",
    "1.2.3.4.5",
    "a.b.c.d",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "g::",
    "12345::",
  ])("refuses %s", (text) => {
    expect(parseIp(text)).toBeUndefined();
  });
});

describe("networks", () => {
  it.each(["", "1.2.3.4", "1.2.3.4/33", "::/129", "1.2.3.4/-1", "1.2.3.4/x", "/8"])(
    "do not include %s",
    (text) => {
      expect(parseCidr(text)).toBeUndefined();
    },
  );

  it("contain the smaller ones inside them only", () => {
    const outer = network("10.0.0.0/8");
    const inside = ["10.1.0.0/16", "10.0.0.0/8", "11.0.0.0/16", "::/16", "0.0.0.0/0"];
    expect(inside.map((text) => isStrictSubset(network(text), outer))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("specialAddressProblems", () => {
  it.each(["0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.1", "::", "::1", "fe80::1", "ff02::1"])(
    "names what is special about %s",
    (text) => {
      const address = parseIp(text);
      expect(address === undefined ? [] : specialAddressProblems(address)).toHaveLength(1);
    },
  );

  it("has nothing against ordinary addresses", () => {
    for (const text of ["10.0.0.1", "192.168.1.1", "2001:db8::1"]) {
      const address = parseIp(text);
      expect(address === undefined ? ["none"] : specialAddressProblems(address)).toEqual([]);
    }
  });
});
