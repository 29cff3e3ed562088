import type { CrdNames, CrdStatus, CustomResourceDefinition } from "@lifeboat/api";
import { addMs, type Instant, parseTime } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { CRD_CLEANUP_FINALIZER, decideCrdStatus, markCrdDeleted } from "./crd-status.ts";
import { widgetCrd } from "./crd.suite.ts";

const NOW = parseTime("2026-01-01T00:00:00Z") as Instant;
const TIME = "2026-01-01T00:00:00Z";
const NEW: CrdStatus = {
  conditions: null,
  acceptedNames: { plural: "", kind: "" },
  storedVersions: ["v1"],
};
const names: CrdNames = widgetCrd().spec.names ?? {};

/** Another CRD that has got these names. */
function other(acceptedNames: CrdNames, group = "ex.io"): CustomResourceDefinition {
  const crd = widgetCrd({ group }, { acceptedNames });
  return { ...crd, metadata: { ...crd.metadata, name: `others.${group}` } };
}

function summary(status: CrdStatus): readonly string[] {
  return (status.conditions ?? []).map(
    ({ type, status: value, reason, message }) => `${type}=${value} ${reason}: ${message}`,
  );
}

describe("decideCrdStatus", () => {
  it("accepts the names of a new CRD and establishes it", () => {
    const status = decideCrdStatus(widgetCrd({}, NEW), [], NOW);
    expect(status).toEqual({
      conditions: [
        {
          type: "NamesAccepted",
          status: "True",
          lastTransitionTime: TIME,
          reason: "NoConflicts",
          message: "no conflicts found",
        },
        {
          type: "Established",
          status: "True",
          lastTransitionTime: TIME,
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
        },
      ],
      acceptedNames: names,
      storedVersions: ["v1"],
    });
  });

  it("has nothing to say the second time", () => {
    const first = widgetCrd({}, decideCrdStatus(widgetCrd({}, NEW), [], NOW));
    expect(decideCrdStatus(first, [first], addMs(NOW, 5000))).toBe(first.status);
  });

  const conflicts: readonly (readonly [what: string, taken: CrdNames, condition: string])[] = [
    ["plural", { plural: "widgets" }, 'PluralConflict: "widgets" is already in use'],
    ["singular", { singular: "widget" }, 'SingularConflict: "widget" is already in use'],
    ["short name", { shortNames: ["wd"] }, 'ShortNamesConflict: "wd" is already in use'],
    ["kind", { kind: "Widget" }, 'KindConflict: "Widget" is already in use'],
    ["list kind", { listKind: "WidgetList" }, 'ListKindConflict: "WidgetList" is already in use'],
  ];
  for (const [what, taken, condition] of conflicts) {
    it(`does not establish a CRD whose ${what} is taken in its group`, () => {
      const status = decideCrdStatus(widgetCrd({}, NEW), [other(taken)], NOW);
      expect(summary(status)).toEqual([
        `NamesAccepted=False ${condition}`,
        "Established=False NotAccepted: not all names are accepted",
      ]);
    });
    it(`does not mind when the ${what} is taken in another group`, () => {
      const status = decideCrdStatus(widgetCrd({}, NEW), [other(taken, "other.io")], NOW);
      expect(status.conditions?.[1]).toMatchObject({ type: "Established", status: "True" });
    });
  }

  it("establishes a CRD as soon as the name that was taken is free", () => {
    const refused = decideCrdStatus(widgetCrd({}, NEW), [other({ kind: "Widget" })], NOW);
    const later = decideCrdStatus(widgetCrd({}, refused), [], addMs(NOW, 60_000));
    expect(later.conditions?.map(({ status }) => status)).toEqual(["True", "True"]);
    expect(later.conditions?.[0]?.lastTransitionTime).toBe("2026-01-01T00:01:00Z");
  });

  it("keeps accepted names, and what is established, when new names are taken", () => {
    const settled = decideCrdStatus(widgetCrd({}, NEW), [], NOW);
    const renamed = widgetCrd({ names: { ...names, shortNames: ["x"] } }, settled);
    const status = decideCrdStatus(renamed, [other({ shortNames: ["x"] })], NOW);
    expect(status.acceptedNames?.shortNames).toEqual(["wd"]);
    expect(summary(status)[0]).toBe(
      'NamesAccepted=False ShortNamesConflict: "x" is already in use',
    );
    expect(summary(status)[1]).toContain("Established=True");
  });
});

describe("a CRD that is deleted", () => {
  const crd = widgetCrd({}, decideCrdStatus(widgetCrd({}, NEW), [], NOW));
  const deleted = markCrdDeleted({
    ...crd,
    metadata: { ...crd.metadata, deletionTimestamp: TIME },
  });

  it("is kept by our finalizer and says that its objects will go", () => {
    expect(deleted.metadata.finalizers).toEqual([CRD_CLEANUP_FINALIZER]);
    expect(deleted.status?.conditions?.[2]).toEqual({
      type: "Terminating",
      status: "True",
      lastTransitionTime: TIME,
      reason: "InstanceDeletionPending",
      message:
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    expect(markCrdDeleted(deleted)).toEqual(deleted);
  });

  it("says that its objects are being deleted, and keeps its names", () => {
    const status = decideCrdStatus(deleted, [], addMs(NOW, 1000));
    expect(status.acceptedNames).toEqual(names);
    expect(status.conditions?.[2]).toMatchObject({
      lastTransitionTime: TIME,
      reason: "InstanceDeletionInProgress",
    });
  });

  it("says nothing once our finalizer is gone", () => {
    const done = { ...deleted, metadata: { ...deleted.metadata, finalizers: ["other"] } };
    expect(decideCrdStatus(done, [], NOW)).toBe(done.status);
  });
});
