/** What an approval lets go, and how it is added to others. */
import type { Evacuation, EvacuationApproval, EvacuationEntry } from "@lifeboat/api";
import { addMs, formatTime, instantOf, plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { letGoBy, withApproval } from "./approve.ts";
import type { ListedEntry } from "./evacuation-entries.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));
const MOMENT = plainMoment(NOW);
const at = formatTime(NOW);
const until = (seconds: number): string => formatTime(addMs(NOW, seconds * 1000));

const entry = (uid: string, namespace: string, state: ListedEntry["state"]): ListedEntry => ({
  entry: {
    binding: { kind: "ResourceBinding", namespace, name: uid, uid },
    resource: { apiVersion: "apps/v1", kind: "Deployment", name: uid },
    lane: "Workload",
  } satisfies EvacuationEntry,
  state,
  binding: undefined,
});
const ENTRIES = [
  entry("web", "shop", "AwaitingApproval"),
  entry("db", "shop", "AwaitingApproval"),
  entry("mail", "post", "AwaitingApproval"),
  entry("gone", "shop", "Done"),
  entry("next", "shop", "Queued"),
];
const evacuation = (approvals?: readonly EvacuationApproval[]): Evacuation => ({
  apiVersion: "lifeboat.dev/v1alpha1",
  kind: "Evacuation",
  metadata: { name: "m-1", uid: "e", resourceVersion: "1", creationTimestamp: "" },
  spec: { cluster: "m", paused: false, ...(approvals && { approvals }) },
});

describe("an approval lets go", () => {
  it.each([
    ["all that waits", { at }, ["web", "db", "mail"]],
    ["a namespace", { at, namespace: "shop" }, ["web", "db"]],
    ["one workload", { at, uid: "db" }, ["db"]],
    ["nothing elsewhere", { at, namespace: "other" }, []],
  ] as const)("%s", (_name, approval, expected) => {
    expect(letGoBy(ENTRIES, approval, MOMENT).map((one) => one.entry.binding.uid)).toEqual(
      expected,
    );
  });
});

describe("an approval is added", () => {
  it.each([
    ["to none", undefined, { at }, [{ at }]],
    ["to one that covers less", [{ at, uid: "a" }], { at }, [{ at, uid: "a" }, { at }]],
    [
      "to one that ends earlier",
      [{ at, expiresAt: until(5) }],
      { at },
      [{ at, expiresAt: until(5) }, { at }],
    ],
    ["in place of what has expired", [{ at, expiresAt: until(-1) }], { at }, [{ at }]],
  ] as const)("%s", (_name, before, approval, expected) => {
    expect(withApproval(evacuation(before), approval, MOMENT)).toEqual(expected);
  });

  it.each([
    [{ at }, { at, uid: "a" }],
    [
      { at, namespace: "shop" },
      { at, namespace: "shop", uid: "a" },
    ],
    [
      { at, expiresAt: until(9) },
      { at, expiresAt: until(5) },
    ],
  ] as const)("not where %j covers it for as long", (known, approval) => {
    const given = evacuation([known]);
    expect(withApproval(given, approval, MOMENT)).toBe(given.spec.approvals);
  });

  it("not beyond what an Evacuation holds", () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ at, uid: String(i) }));
    expect(withApproval(evacuation(many), { at }, MOMENT)).toBeUndefined();
  });
});
