import { type Clock, type Instant, parseTime } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { servedBuiltins } from "../catalog/builtins.ts";
import { createCatalog, type MutableCatalog } from "../catalog/catalog.ts";
import { servedFromCrd } from "../catalog/crd.ts";
import { widgetCrd } from "../catalog/crd.suite.ts";
import { createOpenApi, type OpenApi, type OpenApiAnswer } from "./create-openapi.ts";

const clock: Clock = {
  now: () => parseTime("2026-01-01T00:00:00Z") as Instant,
  monotonic: () => 0,
  after: () => () => undefined,
};

/** Documents are read as plain data here. */
// oxlint-disable-next-line typescript/no-explicit-any -- a document is a tree of anything
type Data = any;

function setUp(): { catalog: MutableCatalog; openApi: OpenApi } {
  const catalog = createCatalog(servedBuiltins());
  return { catalog, openApi: createOpenApi(catalog, clock) };
}

function read(answer: OpenApiAnswer | undefined): Data {
  return JSON.parse(new TextDecoder().decode(answer?.body));
}

function hashIn(index: Data, path: string): string {
  const url: string = index.paths[path].serverRelativeURL;
  return url.slice(url.indexOf("=") + 1);
}

describe("the index", () => {
  it("names a document for every served version, with its hash", () => {
    const { catalog, openApi } = setUp();
    catalog.setCustom("widgets.ex.io", servedFromCrd(widgetCrd()));
    const { paths } = read(openApi.index());
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(["api/v1", "apis/apps/v1", "apis/ex.io/v1"]),
    );
    expect(paths["apis/apps/v1"].serverRelativeURL).toMatch(
      /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{32}$/,
    );
  });

  it("changes with the catalog, and only where the catalog did", () => {
    const { catalog, openApi } = setUp();
    const before = openApi.index();
    expect(openApi.index()).toBe(before);
    catalog.setCustom("widgets.ex.io", servedFromCrd(widgetCrd()));
    const after = openApi.index();
    expect(after.headers["etag"]).not.toBe(before.headers["etag"]);
    expect(hashIn(read(after), "apis/apps/v1")).toBe(hashIn(read(before), "apis/apps/v1"));
    catalog.removeCustom("widgets.ex.io");
    expect(openApi.index()).toEqual(before);
  });
});

describe("a document", () => {
  const { catalog, openApi } = setUp();
  catalog.setCustom("widgets.ex.io", servedFromCrd(widgetCrd()));
  const hash = hashIn(read(openApi.index()), "apis/apps/v1");

  it("may be kept for ever by whoever asks with its hash", () => {
    const answer = openApi.document("apis/apps/v1", hash);
    expect(answer?.status).toBe(200);
    expect(answer?.headers).toEqual({
      "content-type": "application/json",
      "cache-control": "public, immutable",
      etag: `"${hash}"`,
      expires: "Fri, 01 Jan 2027 00:00:00 GMT",
      vary: "Accept",
    });
  });

  it("is answered without promise when asked for without hash", () => {
    const answer = openApi.document("apis/apps/v1");
    expect(answer?.headers).toEqual({
      "content-type": "application/json",
      etag: `"${hash}"`,
      vary: "Accept",
    });
    expect(answer?.body).toBe(openApi.document("apis/apps/v1", hash)?.body);
  });

  it("sends a wrong hash on to the right one", () => {
    expect(openApi.document("apis/apps/v1", "ABC")).toMatchObject({
      status: 301,
      headers: { location: `/openapi/v3/apis/apps/v1?hash=${hash}` },
    });
  });

  it("does not exist for what is not served", () => {
    for (const path of [
      "apis/apps/v9",
      "apis/none/v1",
      "api",
      "apis",
      "apis/apps",
      "x/y",
      "api/v1/x",
    ])
      expect(openApi.document(path), path).toBeUndefined();
  });

  it("refers to nothing that it does not have", () => {
    for (const path of Object.keys(read(openApi.index()).paths)) {
      const document = read(openApi.document(path));
      const references = JSON.stringify(document).matchAll(
        /"\$ref":"#\/components\/schemas\/([^"]+)"/g,
      );
      for (const [, name = ""] of references)
        expect(Object.hasOwn(document.components.schemas, name), `${path}: ${name}`).toBe(true);
    }
  });

  it("gives every operation an id of its own", () => {
    for (const path of Object.keys(read(openApi.index()).paths)) {
      const { paths } = read(openApi.document(path));
      const ids = Object.values(paths as Record<string, Record<string, Data>>).flatMap((item) =>
        Object.values(item).flatMap((operation) => operation.operationId ?? []),
      );
      expect(new Set(ids).size, path).toBe(ids.length);
    }
  });
});

describe("what kubectl looks for", () => {
  const { catalog, openApi } = setUp();
  catalog.setCustom("widgets.ex.io", servedFromCrd(widgetCrd()));
  const apps = read(openApi.document("apis/apps/v1"));
  const core = read(openApi.document("api/v1"));
  const custom = read(openApi.document("apis/ex.io/v1"));

  it("is a patch operation of the kind that takes fieldValidation", () => {
    const documents = [
      [apps, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "apps", "Deployment"],
      [core, "/api/v1/namespaces/{name}", "", "Namespace"],
      [custom, "/apis/ex.io/v1/namespaces/{namespace}/widgets/{name}", "ex.io", "Widget"],
    ] as const;
    for (const [document, path, group, kind] of documents) {
      const { patch } = document.paths[path];
      expect(patch["x-kubernetes-group-version-kind"]).toEqual({ group, version: "v1", kind });
      expect(patch.parameters).toContainEqual({
        name: "fieldValidation",
        in: "query",
        schema: { type: "string", uniqueItems: true },
      });
    }
  });

  it("is the strategic merge patch, on built-in kinds alone", () => {
    const content = (document: Data, path: string): readonly string[] =>
      Object.keys(document.paths[path].patch.requestBody.content);
    const strategic = "application/strategic-merge-patch+json";
    expect(content(apps, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}")).toContain(
      strategic,
    );
    expect(content(custom, "/apis/ex.io/v1/namespaces/{namespace}/widgets/{name}")).not.toContain(
      strategic,
    );
  });

  it("is how lists merge", () => {
    const { properties } = apps.components.schemas["io.k8s.api.core.v1.PodSpec"];
    expect(properties.containers).toEqual({
      type: "array",
      items: { $ref: "#/components/schemas/io.k8s.api.core.v1.Container" },
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    });
    const spec = apps.components.schemas["io.k8s.api.apps.v1.DeploymentSpec"];
    expect(spec.required).toEqual(["selector", "template"]);
    expect(spec.properties.strategy).toEqual({
      allOf: [{ $ref: "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy" }],
      "x-kubernetes-patch-strategy": "retainKeys",
    });
  });

  it("is the kind of a schema", () => {
    const kinds = (schemas: Data, name: string): Data =>
      schemas[name]["x-kubernetes-group-version-kind"];
    expect(kinds(apps.components.schemas, "io.k8s.api.apps.v1.Deployment")).toEqual([
      { group: "apps", kind: "Deployment", version: "v1" },
    ]);
    expect(kinds(custom.components.schemas, "io.ex.v1.Widget")).toEqual([
      { group: "ex.io", kind: "Widget", version: "v1" },
    ]);
    expect(kinds(custom.components.schemas, "io.ex.v1.WidgetList")).toEqual([
      { group: "ex.io", kind: "WidgetList", version: "v1" },
    ]);
  });

  it("is what a custom resource has beside its schema", () => {
    const widget = custom.components.schemas["io.ex.v1.Widget"];
    const meta = {
      allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }],
    };
    expect(widget.required).toEqual(["spec"]);
    expect(widget.properties).toMatchObject({
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: meta,
    });
    const { properties } = widget.properties.spec;
    expect(properties.port).toEqual({
      anyOf: [{ type: "integer" }, { type: "string" }],
      "x-kubernetes-int-or-string": true,
    });
    expect(properties.template).toEqual({
      type: "object",
      required: ["kind", "apiVersion"],
      properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: meta },
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    });
  });
});
