import { expect, test } from "vitest";
import { soon } from "./soon.ts";

test("callbacks run after the caller, in the order in which they were given, between other microtasks", async () => {
  const seen: string[] = [];
  soon(() => seen.push("first"));
  queueMicrotask(() => seen.push("second"));
  soon(() => seen.push("third"));
  seen.push("caller");
  await Promise.resolve();
  expect(seen).toEqual(["caller", "first", "second", "third"]);
});
