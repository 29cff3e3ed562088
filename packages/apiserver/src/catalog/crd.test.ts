import type { AnyObject } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { servedFromCrd } from "./crd.ts";
import { widgetCrd, widgetSchema, widgetVersion } from "./crd.suite.ts";

function widget(fields: object): AnyObject {
  return {
    apiVersion: "ex.io/v1",
    kind: "Widget",
    metadata: { name: "w" },
    ...fields,
  } as AnyObject;
}

describe("servedFromCrd", () => {
  it("serves every served version with names, verbs and subresources of the CRD", () => {
    const [resource, ...more] = servedFromCrd(widgetCrd());
    expect(more).toEqual([]);
    expect(resource).toMatchObject({
      group: "ex.io",
      version: "v1",
      plural: "widgets",
      singular: "widget",
      kind: "Widget",
      listKind: "WidgetList",
      shortNames: ["wd"],
      categories: ["all"],
      namespaced: true,
      verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
      subresources: {
        status: true,
        scale: {
          specReplicasPath: ".spec.replicas",
          statusReplicasPath: ".status.replicas",
          labelSelectorPath: ".status.selector",
        },
      },
      table: "ex.io/widgets",
      storageVersion: "v1",
      custom: true,
      hasGeneration: true,
      createOnUpdate: false,
      unconditionalUpdate: false,
      openApiSchema: widgetSchema,
    });
  });

  it("serves nothing before the CRD is established", () => {
    expect(servedFromCrd(widgetCrd({}, { conditions: null }))).toEqual([]);
  });

  it("leaves out versions that are not served", () => {
    const versions = [widgetVersion("v1"), widgetVersion("v2", { served: false })];
    expect(servedFromCrd(widgetCrd({ versions })).map(({ version }) => version)).toEqual(["v1"]);
  });

  it("lets objects of a CRD that is being deleted be read and deleted, not written", () => {
    const conditions = [
      { type: "Established", status: "True" },
      { type: "Terminating", status: "True" },
    ] as const;
    const [resource] = servedFromCrd(widgetCrd({}, { conditions }));
    expect(resource?.verbs).toEqual(["delete", "deletecollection", "get", "list", "watch"]);
  });

  it("reads selectable fields as text, empty when absent", () => {
    const [resource] = servedFromCrd(widgetCrd());
    const read = resource?.selectableFields["spec.color"];
    expect(read?.(widget({ spec: { color: "red" } }))).toBe("red");
    expect(read?.(widget({}))).toBe("");
  });

  it("has no status and no scale where the version has none", () => {
    const versions = [widgetVersion("v1", { subresources: undefined })];
    expect(servedFromCrd(widgetCrd({ versions }))[0]?.subresources).toEqual({});
  });
});

describe("versions of a custom resource", () => {
  const versions = [
    widgetVersion("v1"),
    widgetVersion("v2", {
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { spec: { type: "object", properties: { color: { type: "string" } } } },
        },
      },
    }),
  ];
  const [first, second] = servedFromCrd(widgetCrd({ versions }));

  it("share one table and are stored in one version", () => {
    expect([first?.table, second?.table]).toEqual(["ex.io/widgets", "ex.io/widgets"]);
    expect([first?.storageVersion, second?.storageVersion]).toEqual(["v1", "v1"]);
  });

  it("are converted by apiVersion, and lose what the other schema does not know", () => {
    const stored = widget({ spec: { color: "red", replicas: 2 } });
    expect(second?.fromStorage?.(stored)).toEqual({
      ...stored,
      apiVersion: "ex.io/v2",
      spec: { color: "red" },
    });
    const sent = { ...widget({ spec: { color: "red" } }), apiVersion: "ex.io/v2" };
    expect(second?.toStorage?.(sent)).toEqual(widget({ spec: { color: "red" } }));
  });

  it("give a stored object itself when there is nothing to change", () => {
    const stored = widget({ spec: { color: "red", replicas: 2 } });
    expect(first?.fromStorage?.(stored)).toBe(stored);
    expect(first?.toStorage).toBeUndefined();
  });

  it("warn when they are deprecated, and name the version to use", () => {
    const cases = [
      [widgetVersion("v1", { deprecated: true, deprecationWarning: "no more" }), "no more"],
      [
        widgetVersion("v1", { deprecated: true }),
        "ex.io/v1 Widget is deprecated; use ex.io/v2 Widget",
      ],
    ] as const;
    for (const [version, warning] of cases) {
      const [resource] = servedFromCrd(widgetCrd({ versions: [version, widgetVersion("v2")] }));
      expect(resource?.deprecationWarning).toBe(warning);
    }
    const alone = [widgetVersion("v1", { deprecated: true })];
    const [resource] = servedFromCrd(widgetCrd({ versions: alone }));
    expect(resource?.deprecationWarning).toBe("ex.io/v1 Widget is deprecated");
  });
});
