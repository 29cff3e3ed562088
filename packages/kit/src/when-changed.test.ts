/** Which changes of an object concern keys when only a part of it counts. */
import { type AnyObject, keyOf } from "@lifeboat/api";
import { expect, it } from "vitest";
import { whenChanged } from "./controller.ts";

const object = (name: string, status: object): AnyObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: {
    name,
    uid: name,
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  status,
});
const keys = whenChanged(
  (one: AnyObject) => (one["status"] as { readonly ready?: unknown }).ready,
  (one) => [keyOf(one)],
);
const a = object("a", { ready: { since: 1 }, count: 1 });

it.each<[string, AnyObject | undefined, AnyObject | undefined, number]>([
  ["it comes", undefined, a, 1],
  ["it goes", a, undefined, 1],
  ["what counts changes", a, object("a", { ready: { since: 2 }, count: 1 }), 1],
  ["what counts goes", a, object("a", { count: 1 }), 1],
  ["something else changes", a, object("a", { ready: { since: 1 }, count: 2 }), 0],
  ["nothing is there", undefined, undefined, 0],
])("when %s", (_what, old, now, count) => {
  expect(keys(old, now)).toHaveLength(count);
});
