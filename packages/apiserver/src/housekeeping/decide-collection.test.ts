import type { AnyObject, OwnerReference } from "@lifeboat/api";
import { expect, test } from "vitest";
import {
  type CollectionPlan,
  decideCollection,
  FOREGROUND,
  ORPHAN,
  type OwnerState,
} from "./decide-collection.ts";

function object(metadata: Partial<AnyObject["metadata"]>): AnyObject {
  const identity = { name: "o", uid: "u", resourceVersion: "1", creationTimestamp: "t" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { ...identity, ...metadata } };
}

function owner(uid: string, blockOwnerDeletion?: boolean): OwnerReference {
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: uid, uid };
  return blockOwnerDeletion === undefined ? reference : { ...reference, blockOwnerDeletion };
}

const deletionTimestamp = "2026-01-01T00:00:00Z";
const [a, b] = [owner("a"), owner("b")];
const blocking = object({ uid: "d", ownerReferences: [owner("u", true)] });
const plain = object({ uid: "d", ownerReferences: [owner("u")] });
const leavingDependent = object({
  uid: "d",
  deletionTimestamp,
  finalizers: [FOREGROUND],
  ownerReferences: [owner("u", true)],
});

test.each<{
  name: string;
  metadata: Partial<AnyObject["metadata"]>;
  owners?: OwnerState[];
  dependents?: AnyObject[];
  want: CollectionPlan;
}>([
  { name: "no owners", metadata: {}, want: { kind: "nothing" } },
  {
    name: "a present owner",
    metadata: { ownerReferences: [a] },
    owners: ["present"],
    want: { kind: "nothing" },
  },
  {
    name: "an absent owner",
    metadata: { ownerReferences: [a] },
    owners: ["absent"],
    want: { kind: "delete", policy: "Background" },
  },
  {
    name: "one owner of two is absent",
    metadata: { ownerReferences: [a, b] },
    owners: ["absent", "present"],
    want: { kind: "setOwners", ownerReferences: [b] },
  },
  {
    name: "one owner of two is leaving",
    metadata: { ownerReferences: [a, b] },
    owners: ["present", "leaving"],
    want: { kind: "setOwners", ownerReferences: [a] },
  },
  {
    name: "all owners are absent, and the object asks to orphan",
    metadata: { ownerReferences: [a], finalizers: [ORPHAN] },
    owners: ["absent"],
    want: { kind: "delete", policy: "Orphan" },
  },
  {
    name: "a leaving owner, no dependents",
    metadata: { ownerReferences: [a] },
    owners: ["leaving"],
    want: { kind: "delete", policy: "Background" },
  },
  {
    name: "a leaving owner, and dependents",
    metadata: { ownerReferences: [a] },
    owners: ["leaving"],
    dependents: [plain],
    want: { kind: "delete", policy: "Foreground" },
  },
  {
    name: "a circle of blocking owners",
    metadata: { ownerReferences: [owner("d", true)] },
    owners: ["leaving"],
    dependents: [leavingDependent],
    want: { kind: "setOwners", ownerReferences: [owner("d", false)] },
  },
  {
    name: "a circle that no longer blocks",
    metadata: { ownerReferences: [owner("d", false)] },
    owners: ["leaving"],
    dependents: [leavingDependent],
    want: { kind: "delete", policy: "Foreground" },
  },
  {
    name: "being deleted, held by others",
    metadata: { deletionTimestamp, finalizers: ["x"], ownerReferences: [a] },
    want: { kind: "nothing" },
  },
  {
    name: "in foreground deletion, blocked",
    metadata: { deletionTimestamp, finalizers: [FOREGROUND] },
    dependents: [plain, blocking],
    want: { kind: "nothing" },
  },
  {
    name: "in foreground deletion, no longer blocked",
    metadata: { deletionTimestamp, finalizers: [FOREGROUND] },
    dependents: [plain],
    want: { kind: "release", finalizer: FOREGROUND },
  },
  {
    name: "marked to orphan",
    metadata: { deletionTimestamp, finalizers: [ORPHAN] },
    dependents: [plain],
    want: { kind: "orphan", dependents: [plain] },
  },
  {
    name: "a finalizer alone is no deletion",
    metadata: { finalizers: [ORPHAN, FOREGROUND] },
    want: { kind: "nothing" },
  },
])("$name", ({ metadata, owners = [], dependents = [], want }) => {
  expect(decideCollection({ object: object(metadata), owners, dependents })).toEqual(want);
});
