import { describe, expect, it, test } from "vitest";
import { isFront, requestHeaderRules, userOfHeaders } from "./request-header.ts";

const DATA = {
  "requestheader-client-ca-file": "CA",
  "requestheader-allowed-names": '["front"]',
  "requestheader-username-headers": '["X-Remote-User","X-Second-User"]',
  "requestheader-uid-headers": '["X-Remote-Uid"]',
  "requestheader-group-headers": '["X-Remote-Group"]',
  "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
};
const rules = requestHeaderRules(DATA)!;

test.each<[string, Readonly<Record<string, string>>]>([
  ["no authority", { ...DATA, "requestheader-client-ca-file": "" }],
  ["no header that names a user", { ...DATA, "requestheader-username-headers": "[]" }],
  ["names that cannot be read", { ...DATA, "requestheader-allowed-names": "front" }],
  ["names that are no texts", { ...DATA, "requestheader-allowed-names": "[1]" }],
  ["nothing", {}],
])("with %s no front is believed", (_name, data) => {
  expect(requestHeaderRules(data)).toBeUndefined();
});

it("believes fronts of the allowed names, and every one where none is named", () => {
  expect(isFront(rules, "front")).toBe(true);
  expect(isFront(rules, "admin")).toBe(false);
  const all = requestHeaderRules({ ...DATA, "requestheader-allowed-names": "[]" })!;
  expect(isFront(all, "anything")).toBe(true);
});

describe("the user of a request", () => {
  it("has the name, uid, groups and extra values of the headers", () => {
    const raw = ["X-Remote-User", "ann", "x-remote-uid", "7", "X-Remote-Group", "a", "Host", "h"];
    const extra = [
      "X-Remote-Extra-Example.com%2fscope",
      "s1",
      "x-remote-extra-example.com%2Fscope",
      "s2",
    ];
    expect(userOfHeaders(rules, [...raw, "X-REMOTE-GROUP", "b", ...extra])).toEqual({
      name: "ann",
      uid: "7",
      groups: ["a", "b"],
      extra: { "example.com/scope": ["s1", "s2"] },
    });
  });

  it("keeps a group with a comma whole: it is no second group", () => {
    const raw = ["X-Remote-User", "ann", "X-Remote-Group", "cn=a, system:masters"];
    expect(userOfHeaders(rules, raw)?.groups).toEqual(["cn=a, system:masters"]);
  });

  it("is the one of the first header that has a value, and none without", () => {
    expect(userOfHeaders(rules, ["X-Second-User", "b", "X-Remote-User", ""])?.name).toBe("b");
    expect(userOfHeaders(rules, ["X-Second-User", "b", "X-Remote-User", "a"])?.name).toBe("a");
    expect(userOfHeaders(rules, ["X-Remote-Group", "system:masters"])).toBeUndefined();
    expect(userOfHeaders(rules, [])).toBeUndefined();
  });
});
