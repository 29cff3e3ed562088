/** What members serve is found by the names that people use; what they send is shown, and not obeyed. */
import { describe, expect, it } from "vitest";
import { findKind } from "./member-kinds.ts";
import { formatMemberTables, shown } from "./member-table.ts";

const pods = {
  resource: "pods",
  singularResource: "pod",
  shortNames: ["po"],
  scope: "Namespaced",
  responseKind: { group: "", version: "v1", kind: "Pod" },
};
const core = {
  items: [{ metadata: { name: "" }, versions: [{ version: "v1", resources: [pods] }] }],
};
const metrics = { ...pods, responseKind: { kind: "PodMetrics" }, shortNames: null };
const groups = {
  items: [
    {
      metadata: { name: "metrics.k8s.io" },
      versions: [{ version: "v1beta1", resources: [metrics] }],
    },
  ],
};

describe("findKind", () => {
  it.each(["pods", "pod", "po", "Pod", "PODS"])("%s is the kind Pod", (asked) => {
    expect(findKind(asked, [core, groups])).toMatchObject({
      group: "",
      plural: "pods",
      kind: "Pod",
    });
  });

  it("a group is taken by name", () => {
    expect(findKind("pods.metrics.k8s.io", [core, groups])).toMatchObject({ kind: "PodMetrics" });
    expect(findKind("pods.nowhere.io", [core, groups])).toBeUndefined();
  });

  it.each([null, "x", [], {}, { items: 7 }, { items: [null, { versions: [{ resources: [7] }] }] }])(
    "%j names no kind, and harms nothing",
    (document) => {
      expect(findKind("pods", [document as never])).toBeUndefined();
    },
  );
});

describe("formatMemberTables", () => {
  const table = (names: readonly string[], cells: readonly unknown[], namespace = "a") => ({
    columnDefinitions: names.map((name, i) => ({ name, priority: i > 1 ? 1 : 0 })),
    rows: [{ cells, object: { metadata: { namespace } } }],
  });

  it("puts columns together by name, below the cluster", () => {
    const tables = [
      { cluster: "m1", table: table(["Name", "Ready", "Node"], ["p", "1/1", "n"]) as never },
      { cluster: "m2", table: table(["Name", "Age"], ["q", null]) as never },
    ];
    expect(formatMemberTables(tables, { isWide: false, hasNamespace: true })).toBe(
      [
        "CLUSTER   NAMESPACE   NAME   READY   AGE",
        "m1        a           p      1/1",
        "m2        a           q              <none>",
        "",
      ].join("\n"),
    );
    expect(formatMemberTables(tables, { isWide: true, hasNamespace: false })).toContain("NODE");
  });

  it("shows no control characters of a member", () => {
    expect(shown("a\u001b[2Jb\u009bc\nd")).toBe("a [2Jb c d");
  });

  it("is empty without rows", () => {
    expect(
      formatMemberTables([{ cluster: "m", table: 7 }], { isWide: false, hasNamespace: false }),
    ).toBe("");
  });
});
