import { describe, expect, it } from "vitest";
import { isIgnored, isReservedNamespace, readNamespacePatterns, skipsApi } from "./skips.ts";

describe("objects that are no templates", () => {
  const patterns = [/^(?:kube-.*)$/u];
  const config = (metadata: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata });
  const space = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

  it.each<[string, object, boolean]>([
    ["an ordinary one is not ignored", config({ namespace: "default", name: "c" }), false],
    ["what is in a reserved namespace", config({ namespace: "karmada-es-m1", name: "c" }), true],
    [
      "what is in the namespace of clusters",
      config({ namespace: "karmada-cluster", name: "c" }),
      true,
    ],
    ["a reserved namespace itself", space("karmada-es-m1"), true],
    ["an ordinary namespace is not", space("web"), false],
    ["a namespace whose content is skipped is not", space("kube-system"), false],
    ["what is in a skipped namespace", config({ namespace: "kube-system", name: "c" }), true],
    [
      "what another controller takes care of",
      config({
        namespace: "default",
        name: "c",
        labels: { "resourcetemplate.karmada.io/claimed-by": "x" },
      }),
      true,
    ],
    [
      "what is being deleted",
      config({ namespace: "default", name: "c", deletionTimestamp: "2026-01-01T00:00:00Z" }),
      true,
    ],
    ["nonsense is not, and throws nothing", { metadata: 7 }, false],
  ])("%s", (_case, object, ignored) => {
    expect(isIgnored(object as never, patterns)).toBe(ignored);
  });

  it("include the server's own ConfigMap", () => {
    const object = config({ namespace: "kube-system", name: "extension-apiserver-authentication" });
    expect(isIgnored(object as never, [])).toBe(true);
  });

  it("are known by the names of their namespaces", () => {
    expect(["karmada-system", "lifeboat-system", "karmada-es-x"].every(isReservedNamespace)).toBe(
      true,
    );
    expect(["", "default", "karmada", "karmada-esx"].some(isReservedNamespace)).toBe(false);
  });
});

describe("an operator's exceptions", () => {
  it("match whole names of namespaces", () => {
    const read = readNamespacePatterns(["kube-.*", "a|b"]);
    if (read.outcome !== "read") throw new Error(read.text);
    const skips = (name: string) => read.patterns.some((pattern) => pattern.test(name));
    expect([skips("kube-x"), skips("a"), skips("my-kube-x"), skips("ab")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(readNamespacePatterns(["ok", "("])).toEqual({ outcome: "invalid", text: "(" });
  });

  const ingress = { group: "networking.k8s.io", version: "v1", kind: "Ingress" };
  const secret = { group: "", version: "v1", kind: "Secret" };

  it.each<[string, object, boolean]>([
    ["networking.k8s.io", ingress, true],
    ["networking.k8s.io/v1", ingress, true],
    ["networking.k8s.io/v1beta1", ingress, false],
    ["networking.k8s.io/v1/Ingress,NetworkPolicy", ingress, true],
    ["networking.k8s.io/v1/NetworkPolicy", ingress, false],
    ["k8s.io", ingress, false],
    ["v1/Secret", secret, true],
    ["v1/ConfigMap", secret, false],
    ["v1", secret, true],
    ["", secret, false],
    ["v1", ingress, false],
  ])("%j", (exception, resource, skipped) => {
    expect(skipsApi([exception], resource as never)).toBe(skipped);
  });
});
