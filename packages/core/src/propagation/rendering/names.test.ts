import { expect, it } from "vitest";
import {
  bindingName,
  clusterOfExecutionNamespace,
  dependedByLabel,
  executionNamespace,
  workName,
} from "./names.ts";

it.each([
  ["Deployment", "default", "nginx", "nginx-687f7fb96f"],
  ["StatefulSet", "prod", "web", "web-cdc45f86b"],
  ["ClusterRole", "", "system:foo", "system.foo-5f7d88f69"],
  ["Namespace", "", "team-a", "team-a-5cc7c7959b"],
  ["ConfigMap", "default", "cm1", "cm1-7cfd47b949"],
])("names the Work of %s %s/%s as clients expect", (kind, namespace, name, expected) => {
  expect(workName({ kind, namespace, name })).toBe(expected);
});

it("names bindings after the template and its kind, without colons", () => {
  expect(bindingName("Deployment", "nginx")).toBe("nginx-deployment");
  expect(bindingName("ClusterRole", "system:Foo")).toBe("system.foo-clusterrole");
});

it("labels what a binding depends on with a hash of the binding", () => {
  expect(dependedByLabel("default", "nginx-deployment")).toBe(
    "resourcebinding.karmada.io/depended-by-5bdc5c4dcf",
  );
});

it("finds a cluster from its execution namespace and back", () => {
  expect(executionNamespace("eu-1")).toBe("karmada-es-eu-1");
  expect(clusterOfExecutionNamespace("karmada-es-eu-1")).toBe("eu-1");
  expect(clusterOfExecutionNamespace("karmada-es-")).toBeUndefined();
  expect(clusterOfExecutionNamespace("default")).toBeUndefined();
});
