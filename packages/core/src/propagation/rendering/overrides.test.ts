import { describe, expect, it } from "vitest";
import { applyOverriders, OverrideError } from "./overriders.ts";
import { overridesFor } from "./overrides.ts";

const template = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "default", name: "web", labels: { app: "web" } },
  spec: {
    replicas: 2,
    template: {
      spec: {
        initContainers: [{ name: "init", image: "a.io/init:1" }],
        containers: [
          { name: "web", image: "a.io/web:1", command: ["run", "-x"] },
          { name: "side", image: "b.io/side:1", args: ["--a", "--b"] },
        ],
      },
    },
  },
};

describe("applyOverriders", () => {
  const containers = (overriders: object) => {
    const result = applyOverriders(template, { ...overriders });
    return (result["spec"] as typeof template.spec).template.spec;
  };

  it("changes the images of all containers", () => {
    const spec = containers({
      imageOverrider: [{ component: "Registry", operator: "replace", value: "m.io" }],
    });
    expect(spec.containers.map(({ image }) => image)).toEqual(["m.io/web:1", "m.io/side:1"]);
    expect(spec.initContainers[0]?.image).toBe("m.io/init:1");
  });

  it("changes the one image that a path points at", () => {
    const predicate = { path: "/spec/template/spec/containers/1/image" };
    const spec = containers({
      imageOverrider: [{ predicate, component: "Tag", operator: "replace", value: "2" }],
    });
    expect(spec.containers.map(({ image }) => image)).toEqual(["a.io/web:1", "b.io/side:2"]);
  });

  it("adds to and takes from commands and arguments of the named container", () => {
    const spec = containers({
      commandOverrider: [
        { containerName: "web", operator: "add", value: ["-y"] },
        { containerName: "web", operator: "remove", value: ["-x"] },
        { containerName: "nobody", operator: "add", value: ["-z"] },
      ],
      argsOverrider: [{ containerName: "web", operator: "add", value: ["--new"] }],
    });
    expect(spec.containers[0]).toMatchObject({ command: ["run", "-y"], args: ["--new"] });
    expect(spec.containers[1]).toEqual(template.spec.template.spec.containers[1]);
  });

  it("changes labels and annotations: replace and remove only what is there", () => {
    const result = applyOverriders(template, {
      labelsOverrider: [
        { operator: "add", value: { "example.com/tier": "gold" } },
        { operator: "replace", value: { app: "web2", absent: "1" } },
        { operator: "remove", value: { absent: "" } },
      ],
      annotationsOverrider: [
        { operator: "add", value: { a: "1", b: "2" } },
        { operator: "remove", value: { a: "" } },
      ],
    });
    expect(result["metadata"]).toEqual({
      namespace: "default",
      name: "web",
      labels: { app: "web2", "example.com/tier": "gold" },
      annotations: { b: "2" },
    });
  });

  it("changes documents inside text fields", () => {
    const config = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c" },
      data: { "a.json": '{"x":{"y":1}}', "b.yaml": "x:\n  size: 1\n" },
    };
    const result = applyOverriders(config, {
      fieldOverrider: [
        { fieldPath: "/data/a.json", json: [{ subPath: "/x/y", operator: "replace", value: 2 }] },
        { fieldPath: "/data/b.yaml", yaml: [{ subPath: "/z", operator: "add", value: [1] }] },
      ],
    });
    expect(result["data"]).toEqual({
      "a.json": '{"x":{"y":2}}',
      "b.yaml": "x:\n  size: 1\nz:\n- 1\n",
    });
  });

  it("applies plain patches last", () => {
    const result = applyOverriders(template, {
      plaintext: [{ path: "/metadata/labels/app", operator: "replace", value: "last" }],
      labelsOverrider: [{ operator: "replace", value: { app: "first" } }],
    });
    expect(result).toMatchObject({ metadata: { labels: { app: "last" } } });
  });

  it.each([
    ["a path that is not there", { plaintext: [{ path: "/spec/x/y", operator: "remove" }] }],
    ["an operator that is none", { plaintext: [{ path: "/spec/x", operator: "test" }] }],
    [
      "an image that is not there",
      {
        imageOverrider: [{ predicate: { path: "/spec/x" }, component: "Tag", operator: "remove" }],
      },
    ],
    ["a component that is none", { imageOverrider: [{ component: "Port", operator: "remove" }] }],
    [
      "an image without repository",
      { imageOverrider: [{ component: "Repository", operator: "remove" }] },
    ],
    ["a field that is no text", { fieldOverrider: [{ fieldPath: "/spec", json: [] }] }],
    [
      "a document that cannot be read",
      { fieldOverrider: [{ fieldPath: "/metadata/name", json: [] }] },
    ],
    ["a whole that is no object", { plaintext: [{ path: "", operator: "replace", value: [] }] }],
  ])("refuses %s", (_what, overriders) => {
    expect(() => applyOverriders(template, overriders)).toThrow(OverrideError);
  });
});

describe("overridesFor", () => {
  const cluster = { metadata: { name: "eu-1", labels: { region: "eu" } } };
  const kind = { apiVersion: "apps/v1", kind: "Deployment" };
  const policy = (name: string, selectors: readonly object[], rules: readonly object[] = [{}]) => ({
    metadata: { name },
    spec: {
      resourceSelectors: selectors,
      overrideRules: rules.map((rule) => ({ overriders: {}, ...rule })),
    },
  });
  const names = (...policies: ReturnType<typeof policy>[]) =>
    overridesFor(template, cluster, policies).map(({ policyName }) => policyName);

  it("orders policies from the least precise, then by name", () => {
    expect(
      names(
        policy("a-by-name", [{ ...kind, name: "web" }]),
        policy("z-all", []),
        policy("b-by-label", [{ ...kind, labelSelector: { matchLabels: { app: "web" } } }]),
        policy("b-all", [kind]),
        policy("other", [{ ...kind, name: "other" }]),
      ),
    ).toEqual(["b-all", "z-all", "b-by-label", "a-by-name"]);
  });

  it("takes the rules that mean the cluster, in their order", () => {
    const rules = [
      { targetCluster: { clusterNames: ["eu-1"] }, overriders: { n: 1 } },
      { targetCluster: { clusterNames: ["us-1"] }, overriders: { n: 2 } },
      { overriders: { n: 3 } },
    ];
    expect(overridesFor(template, cluster, [policy("p", [], rules)])).toEqual([
      { policyName: "p", overriders: { n: 1 } },
      { policyName: "p", overriders: { n: 3 } },
    ]);
  });

  it("reads the older form with a single rule", () => {
    const old = (clusterNames: string[]) => ({
      metadata: { name: "old" },
      spec: { targetCluster: { clusterNames }, overriders: { n: 1 } },
    });
    expect(overridesFor(template, cluster, [old(["eu-1"])])).toHaveLength(1);
    expect(overridesFor(template, cluster, [old(["us-1"])])).toHaveLength(0);
  });

  it("ignores policies of other namespaces", () => {
    const foreign = { metadata: { name: "p", namespace: "prod" }, spec: { overriders: {} } };
    expect(overridesFor(template, cluster, [foreign])).toEqual([]);
  });
});
