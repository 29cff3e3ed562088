import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createKeyring, isEncrypted, parseKeys } from "./encryption-keys.ts";

const keys = [randomBytes(32), randomBytes(32)] as const;
const row = { key: "/secrets/default/db", revision: 7 };
const plain = Buffer.from('{"data":{"password":"canary"}}');

describe("a key file", () => {
  it.each([
    ["base64", keys[0].toString("base64")],
    ["base64 without padding", keys[0].toString("base64").replace("=", "")],
    ["hex", keys[0].toString("hex")],
    ["comments and empty lines", `# old\n\n  ${keys[0].toString("hex")}  \n`],
  ])("holds a key as %s", (_, text) => {
    expect(parseKeys(text)).toEqual([keys[0]]);
  });

  it("keeps the order of its keys", () => {
    const text = `${keys[1].toString("base64")}\n${keys[0].toString("hex")}\n`;
    expect(parseKeys(text)).toEqual([keys[1], keys[0]]);
  });

  it.each([
    ["", "holds no key"],
    ["# nothing\n", "holds no key"],
    ["password", "line 1 is not a key"],
    [`${"0".repeat(64)}\n${"0".repeat(63)}`, "line 2 is not a key"],
    [randomBytes(31).toString("base64"), "line 1 is not a key"],
    [randomBytes(33).toString("base64"), "line 1 is not a key"],
  ])("is refused when it is %j", (text, why) => {
    expect(() => parseKeys(text)).toThrow(why);
  });
});

describe("an encrypted row", () => {
  const ring = createKeyring(keys);
  const sealed = ring.encrypt(row, plain);

  it("tells nothing of what it holds, and is never the same twice", () => {
    expect(sealed.includes("canary")).toBe(false);
    expect(isEncrypted(sealed)).toBe(true);
    expect(isEncrypted(plain)).toBe(false);
    expect(ring.encrypt(row, plain).equals(sealed)).toBe(false);
    expect(ring.decrypt(row, sealed)).toEqual(plain);
  });

  it("may be empty", () => {
    expect(ring.decrypt(row, ring.encrypt(row, Buffer.alloc(0)))).toHaveLength(0);
  });

  it("opens with the key that encrypted it, wherever it stands in the file", () => {
    const turned = createKeyring([keys[1], keys[0]]);
    expect(turned.decrypt(row, sealed)).toEqual(plain);
    expect([ring.isCurrent(sealed), turned.isCurrent(sealed)]).toEqual([true, false]);
  });

  it("says which key is missing", () => {
    expect(() => createKeyring([keys[1]]).decrypt(row, sealed)).toThrow(
      /^\/secrets\/default\/db is encrypted with the key [0-9a-f]{16}, and none of the given keys is that one/,
    );
    expect(() => createKeyring([]).decrypt(row, sealed)).toThrow("no key was given");
  });

  it("does not open in another place, of another time, or with any byte changed", () => {
    const changed = /was changed on the disk/;
    expect(() => ring.decrypt({ ...row, key: "/secrets/default/other" }, sealed)).toThrow(changed);
    expect(() => ring.decrypt({ ...row, revision: 8 }, sealed)).toThrow(changed);
    for (let at = 1; at < sealed.length; at++) {
      const other = Buffer.from(sealed);
      other[at] = (other[at] ?? 0) ^ 1;
      expect(() => ring.decrypt(row, other), `byte ${at}`).toThrow();
      expect(() => ring.decrypt(row, sealed.subarray(0, at)), `cut at ${at}`).toThrow();
    }
  });
});
