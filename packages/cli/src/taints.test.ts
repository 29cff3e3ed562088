import { describe, expect, it } from "vitest";
import { CommandFailed, UsageError } from "./failure.ts";
import { applyTaintOrders, parseTaintOrder, parseTaintOrders, type Taint } from "./taints.ts";

describe("parseTaintOrder", () => {
  it.each([
    ["a=b:NoExecute", { kind: "add", taint: { key: "a", value: "b", effect: "NoExecute" } }],
    ["a:NoSchedule", { kind: "add", taint: { key: "a", effect: "NoSchedule" } }],
    ["a=:NoSchedule", { kind: "add", taint: { key: "a", effect: "NoSchedule" } }],
    [
      "example.com/a:PreferNoExecute",
      { kind: "add", taint: { key: "example.com/a", effect: "PreferNoExecute" } },
    ],
    ["a:NoExecute-", { kind: "remove", key: "a", effect: "NoExecute" }],
    ["a=b:NoExecute-", { kind: "remove", key: "a", effect: "NoExecute" }],
    ["a-b-", { kind: "remove", key: "a-b", effect: undefined }],
  ])("reads %s", (text, expected) => {
    expect(parseTaintOrder(text)).toEqual(expected);
  });

  it.each([
    ["", "the key"],
    ["a", "key:Effect is needed"],
    ["a=b", "key:Effect is needed"],
    ["a=b-", "key:Effect is needed"],
    ["a:PreferNothing", "one of NoSchedule, NoExecute, PreferNoExecute, PreferNoSchedule"],
    ["a:noexecute", "one of NoSchedule"],
    ["a:NoExecute:NoExecute", "key:Effect is needed"],
    ["a=b=c:NoExecute", "key:Effect is needed"],
    ["-", "the key"],
    [":NoExecute", "the key"],
    ["a b:NoExecute", "the key"],
    ["a=!:NoExecute", "the value"],
    [`${"a".repeat(64)}:NoExecute`, "the key"],
  ])("refuses %j", (text, message) => {
    expect(() => parseTaintOrder(text)).toThrow(UsageError);
    expect(() => parseTaintOrder(text)).toThrow(message);
  });

  it.each([[["a:NoExecute", "a:NoExecute-"]], [["a-", "a=b:NoSchedule"]], [["a-", "a-"]]])(
    "refuses %j, which contradict each other",
    (texts) => {
      expect(() => parseTaintOrders(texts)).toThrow("is named twice");
    },
  );
});

describe("applyTaintOrders", () => {
  const old: Taint = {
    key: "a",
    value: "1",
    effect: "NoExecute",
    timeAdded: "2026-01-01T00:00:00Z",
  };
  const other: Taint = { key: "a", effect: "NoSchedule" };
  const apply = (texts: readonly string[], overwrite = false): readonly Taint[] =>
    applyTaintOrders([old, other], parseTaintOrders(texts), overwrite);

  it.each([
    ["adds", ["b:NoSchedule"], [old, other, { key: "b", effect: "NoSchedule" }]],
    ["leaves alone what is there already", ["a=1:NoExecute"], [old, other]],
    ["removes one effect", ["a:NoExecute-"], [other]],
    ["removes every effect of a key", ["a-"], []],
  ] as const)("%s", (_what, texts, expected) => {
    expect(apply(texts)).toEqual(expected);
  });

  it("gives another value, added anew, only with consent", () => {
    expect(() => apply(["a=2:NoExecute"])).toThrow("--overwrite gives it another value");
    expect(apply(["a=2:NoExecute"], true)).toEqual([
      { key: "a", value: "2", effect: "NoExecute" },
      other,
    ]);
  });

  it.each([["b-"], ["a:PreferNoExecute-"]])(
    "says that there is nothing to remove by %s",
    (text) => {
      expect(() => apply([text])).toThrow(CommandFailed);
      expect(() => apply([text])).toThrow("it has a=1:NoExecute, a:NoSchedule");
    },
  );
});
