import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TYPES } from "./constants.ts";
import { dottedName, Malformed, readName, sameName, wireName } from "./names.ts";
import { parseData, type RecordData, readRecord, writeRecord } from "./records.ts";
import { parseKey } from "./tsig.ts";
import { Writer } from "./writer.ts";

const label = fc.stringMatching(/^[a-z0-9_]([-a-z0-9_]{0,20}[a-z0-9_])?$/);
const name = fc.array(label, { maxLength: 8 }).map((labels) => labels.join("."));
const wire = name.map(wireName);
const u16 = fc.integer({ min: 0, max: 0xffff });
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
const texts = fc.array(fc.uint8Array({ maxLength: 255 }), { minLength: 1, maxLength: 3 });

const data: fc.Arbitrary<RecordData> = fc.oneof(
  bytes(4).map((address) => ({ type: TYPES.A, address })),
  bytes(16).map((address) => ({ type: TYPES.AAAA, address })),
  fc.record({ type: fc.constantFrom(TYPES.NS, TYPES.CNAME, TYPES.PTR), target: wire }),
  fc.record({ type: fc.constant(TYPES.SRV), priority: u16, weight: u16, port: u16, target: wire }),
  fc.record({ type: fc.constantFrom(TYPES.TXT, TYPES.HINFO), texts }),
  fc.record({
    type: fc.constant(TYPES.SOA),
    primary: wire,
    mailbox: wire,
    serial: u32,
    refresh: u32,
    retry: u32,
    expire: u32,
    minimum: u32,
  }),
);

describe("records", () => {
  it("are read as they were written, however names were compressed", () => {
    const records = fc.array(fc.tuple(wire, u32, data), { maxLength: 20 });
    fc.assert(
      fc.property(records, (all) => {
        const writer = new Writer();
        for (const [owner, ttl, record] of all) writeRecord(writer, owner, ttl, record);
        const message = writer.bytes();
        let at = 0;
        for (const [owner, ttl, expected] of all) {
          const { record, end } = readRecord(message, at);
          at = end;
          expect(sameName(record.name, owner)).toBe(true);
          expect(record.ttl).toBe(ttl);
          expect(parseData(message, record)).toEqual(expected);
        }
        expect(at).toBe(message.length);
      }),
    );
  });

  it("compress names that end alike", () => {
    const writer = new Writer();
    writer.name(wireName("a.example.com")).name(wireName("b.example.com"));
    expect(writer.length).toBe(15 + 4);
  });

  it("point only to where a pointer reaches", () => {
    const writer = new Writer(0x3ff0);
    writer.name(wireName("a-long-label-that-goes-beyond.example.com"));
    const before = writer.length;
    writer.name(wireName("example.com"));
    expect(writer.length - before).toBe("example.com".length + 2);
  });
});

describe("names", () => {
  it("have one dotted form", () => {
    fc.assert(
      fc.property(name, (text) => {
        expect(dottedName(wireName(text))).toBe(text);
      }),
    );
    expect(dottedName(Uint8Array.from([3, 97, 46, 0, 0]))).toBe("a\\.\\000");
  });

  it.each([
    ["a pointer to itself", [0xc0, 0], 0],
    ["two pointers to each other", [0xc0, 2, 0xc0, 0], 2],
    ["a pointer ahead", [0xc0, 4, 0, 0, 0], 0],
    ["a name that grows by pointing back into itself", [1, 97, 0xc0, 0], 0],
    ["a label that leaves the message", [5, 97], 0],
    ["no end", [1, 97], 0],
    ["half a pointer", [0xc0], 0],
    ["an unknown kind of label", [0x80, 0], 0],
  ])("%s is malformed", (_what, message, at) => {
    expect(() => readName(Uint8Array.from(message), at)).toThrow(Malformed);
  });

  it("longer than 255 bytes are malformed", () => {
    const long = Array.from({ length: 260 }, (_none, at) => (at % 2 === 0 ? 1 : 97));
    expect(() => readName(Uint8Array.from([...long, 0]), 0)).toThrow(Malformed);
    expect(() => wireName("a.".repeat(128))).toThrow(Malformed);
    expect(() => wireName(`${"a".repeat(64)}.b`)).toThrow(Malformed);
  });

  it("whatever the bytes are, reading ends in a name or Malformed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (message, at) => {
        try {
          expect(readName(message, at).name.length).toBeLessThanOrEqual(255);
        } catch (error) {
          expect(error).toBeInstanceOf(Malformed);
        }
      }),
    );
  });
});

describe("keys", () => {
  const decode = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

  it("are written as dig takes them", () => {
    const key = parseKey(`hmac-sha256:Transfer:${Buffer.alloc(16, 1).toString("base64")}`, decode);
    expect(key).toMatchObject({ algorithm: "hmac-sha256", name: wireName("transfer") });
  });

  it.each(["", "hmac-md5:a:AAAA", "hmac-sha256:a:AAAA", "hmac-sha256:a"])("%o is none", (text) => {
    expect(parseKey(text, decode)).toBeUndefined();
  });
});

describe("the wire form of a dotted name", () => {
  it.each([
    ["", [0]],
    [".", [0]],
    ["A.bC.", [1, 97, 2, 98, 99, 0]],
    ["a.bc", [1, 97, 2, 98, 99, 0]],
    ["\u00c4.b", [2, 0xc3, 0xa4, 1, 98, 0]],
    ["b.\u00e4", [1, 98, 2, 0xc3, 0xa4, 0]],
  ])("of %o", (text, bytes) => {
    expect([...wireName(text)]).toEqual(bytes);
  });

  it.each([
    "..",
    "a..b",
    ".a",
    `${"a".repeat(64)}.b`,
    `b.${"\u00e4".repeat(32)}`,
    "a.".repeat(128),
  ])("%o is none", (text) => {
    expect(() => wireName(text)).toThrow("is not a name");
  });

  it("has at most 255 bytes", () => {
    expect(wireName("a.".repeat(127))).toHaveLength(255);
    expect(wireName(`${"a".repeat(63)}.${"b".repeat(63)}.c`)).toHaveLength(131);
  });
});
