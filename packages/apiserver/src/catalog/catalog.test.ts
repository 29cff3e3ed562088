import { expect, test } from "vitest";
import { assert } from "@lifeboat/base";
import { servedBuiltins } from "./builtins.ts";
import { createCatalog } from "./catalog.ts";
import type { ServedResource } from "./served-resource.ts";

const builtins = servedBuiltins();

function custom(group: string, version: string, plural: string): ServedResource {
  const [model] = builtins;
  assert(model !== undefined, "there are built-ins");
  return {
    ...model,
    group,
    version,
    plural,
    kind: plural,
    table: `${group}/${plural}`,
    custom: true,
  };
}

test("built-ins are found by path and by kind", () => {
  const catalog = createCatalog(builtins);
  expect(catalog.find("apps", "v1", "deployments")).toMatchObject({
    kind: "Deployment",
    table: "apps/deployments",
  });
  expect(catalog.findKind("v1", "ConfigMap")).toMatchObject({
    plural: "configmaps",
    table: "/configmaps",
  });
  expect(catalog.find("apps", "v1", "nothing")).toBeUndefined();
});

test("groups are in the order of a real server, versions by preference, custom groups last by name", () => {
  const catalog = createCatalog(builtins);
  catalog.setCustom("z", [custom("z.io", "v1alpha1", "zs"), custom("z.io", "v1", "zs")]);
  catalog.setCustom("a", [custom("a.io", "v1", "as")]);
  const groups = catalog.groups();
  expect(groups.slice(0, 4).map(({ name }) => name)).toEqual([
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
  ]);
  expect(groups.find(({ name }) => name === "autoscaling")?.versions).toEqual(["v2", "v1"]);
  expect(groups.slice(-2)).toEqual([
    { name: "a.io", versions: ["v1"] },
    { name: "z.io", versions: ["v1", "v1alpha1"] },
  ]);
});

test("a change moves the revision and then tells", () => {
  const catalog = createCatalog(builtins);
  const seen: number[] = [];
  catalog.onChange(() => seen.push(catalog.revision));
  catalog.setCustom("x", [custom("x.io", "v1", "xs")]);
  expect(catalog.find("x.io", "v1", "xs")).toBeDefined();
  catalog.removeCustom("x");
  catalog.removeCustom("x");
  expect(catalog.find("x.io", "v1", "xs")).toBeUndefined();
  expect(seen).toEqual([2, 3]);
});

test("a custom resource never takes the place of a built-in one", () => {
  const catalog = createCatalog(builtins);
  catalog.setCustom("evil", [custom("apps", "v1", "deployments")]);
  expect(catalog.find("apps", "v1", "deployments")?.custom).toBe(false);
});

test("events and autoscalers are one table in two versions", () => {
  const catalog = createCatalog(builtins);
  expect(catalog.find("events.k8s.io", "v1", "events")?.table).toBe(
    catalog.find("", "v1", "events")?.table,
  );
  const [v1, v2] = ["v1", "v2"].map((version) =>
    catalog.find("autoscaling", version, "horizontalpodautoscalers"),
  );
  expect(v1?.table).toBe(v2?.table);
  expect(v2?.fromStorage).toBeUndefined();
});
