import { describe, expect, it } from "vitest";
import type { Fields } from "../../fields.ts";
import { decideRemove, type RemoveView } from "./remove.ts";

const manifest = {
  kind: "ConfigMap",
  metadata: {
    name: "c",
    annotations: { "work.karmada.io/namespace": "karmada-es-eu-1", "work.karmada.io/name": "c-1" },
  },
};
const observed = (metadata: object = {}): Fields => ({
  kind: "ConfigMap",
  metadata: {
    name: "c",
    uid: "u-1",
    resourceVersion: "5",
    labels: { "karmada.io/managed": "true", "work.karmada.io/permanent-id": "w", theirs: "1" },
    annotations: { ...manifest.metadata.annotations, theirs: "2" },
    ...metadata,
  },
  data: { a: "1" },
});
const decide = (changes: Partial<RemoveView>) =>
  decideRemove({
    manifest,
    observed: observed(),
    preserve: false,
    waitForDependents: false,
    ...changes,
  });

describe("decideRemove", () => {
  it("deletes by uid", () => {
    expect(decide({})).toMatchObject({
      reason: "Deleted",
      commands: [{ kind: "delete", uid: "u-1", propagationPolicy: "Background" }],
    });
    expect(decide({ waitForDependents: true })).toMatchObject({
      commands: [{ kind: "delete", uid: "u-1", propagationPolicy: "Foreground" }],
    });
  });

  it("releases an object that holds a rounded integer by a patch of its marks alone", () => {
    const rounded = { ...observed(), status: { at: 2 ** 60 } };
    expect(decide({ preserve: true, observed: rounded }).commands).toEqual([
      {
        kind: "patch",
        body: {
          metadata: {
            uid: "u-1",
            resourceVersion: "5",
            labels: { "karmada.io/managed": null, "work.karmada.io/permanent-id": null },
            annotations: { "work.karmada.io/namespace": null, "work.karmada.io/name": null },
          },
        },
      },
    ]);
  });

  it("releases an object without our marks, with everything else", () => {
    expect(decide({ preserve: true }).commands).toEqual([
      {
        kind: "update",
        object: {
          kind: "ConfigMap",
          metadata: {
            name: "c",
            uid: "u-1",
            resourceVersion: "5",
            labels: { theirs: "1" },
            annotations: { theirs: "2" },
          },
          data: { a: "1" },
        },
      },
    ]);
  });

  it.each([
    ["Gone", undefined],
    ["NotOurs", observed({ labels: {} })],
    ["NotOurs", observed({ annotations: { "work.karmada.io/namespace": "karmada-es-other" } })],
    ["BeingDeleted", observed({ deletionTimestamp: "t" })],
    ["UidUnknown", observed({ uid: undefined })],
  ])("does nothing: %s", (reason, object) => {
    expect(decide({ observed: object })).toMatchObject({ reason, commands: [] });
  });
});
