/** What a member answers is believed only if it can be what it was asked for. */
import type { AnyObject } from "@lifeboat/api";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { type Client, OutcomeUnknown, silentMetrics } from "@lifeboat/kit";
import { describe, expect, it } from "vitest";
import { resources } from "../../../../../testkit/src/objects.ts";
import { LateCreates } from "./late-creates.ts";
import { MemberWrites } from "./member-writes.ts";
import { declareExecutionMetrics } from "./metrics.ts";

const SETTINGS = {
  resource: resources.configMaps,
  key: { namespace: "default", name: "settings" },
};
const metadata = { name: "settings", namespace: "default", uid: "u", resourceVersion: "7" };
const signal = new AbortController().signal;

function writesTo(answer: unknown): MemberWrites {
  const answering = { get: () => Promise.resolve(answer), list: () => Promise.resolve(answer) };
  return new MemberWrites(
    "m1",
    answering as unknown as Client,
    declareExecutionMetrics(silentMetrics),
    new LateCreates(new VirtualClock(instantOf(0), drainPromises), () => false),
  );
}

describe("an object that is read", () => {
  it("is the one that was asked for", async () => {
    const found = { apiVersion: "v1", kind: "ConfigMap", metadata } as AnyObject;
    expect(await writesTo(found).read(SETTINGS, signal)).toBe(found);
  });

  it.each([
    ["nothing", undefined],
    ["a text", "settings"],
    ["an object without metadata", {}],
    ["one without a version", { metadata: { ...metadata, resourceVersion: undefined } }],
    ["one whose version is a number", { metadata: { ...metadata, resourceVersion: 7 } }],
    ["one without a uid", { metadata: { ...metadata, uid: undefined } }],
    ["another one", { metadata: { ...metadata, name: "other" } }],
  ])("is a failure if the member answers with %s", async (_what, answer) => {
    await expect(writesTo(answer).read(SETTINGS, signal)).rejects.toThrow(OutcomeUnknown);
  });
});

describe("pods that are asked for", () => {
  const selection = { namespace: "default", labelSelector: "app=web" };

  it("are there or not", async () => {
    expect(await writesTo({ items: [] }).hasPods(selection, signal)).toBe(false);
    expect(await writesTo({ items: [{ metadata }] }).hasPods(selection, signal)).toBe(true);
  });

  it("are not taken for gone when the member answers with no list", async () => {
    await expect(writesTo({ items: {} }).hasPods(selection, signal)).rejects.toThrow(
      OutcomeUnknown,
    );
  });
});
