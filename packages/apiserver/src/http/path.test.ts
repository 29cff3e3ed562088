import { describe, expect, test } from "vitest";
import { isMemberTarget, type ParsedPath, parsePath } from "./path.ts";

function resource(over: Partial<Extract<ParsedPath, { kind: "resource" }>>): ParsedPath {
  return {
    kind: "resource",
    group: "",
    version: "v1",
    namespace: "",
    plural: "",
    name: "",
    subresource: "",
    watch: false,
    ...over,
  };
}

const APPS = { group: "apps", plural: "deployments" };

const RESOURCES: readonly (readonly [path: string, want: ParsedPath])[] = [
  ["/api/v1/nodes", resource({ plural: "nodes" })],
  ["/api/v1/nodes/", resource({ plural: "nodes" })],
  ["/api/v1/nodes/n1", resource({ plural: "nodes", name: "n1" })],
  ["/api/v1/nodes/n1/status", resource({ plural: "nodes", name: "n1", subresource: "status" })],
  ["/api/v1/namespaces", resource({ plural: "namespaces" })],
  ["/api/v1/namespaces/a", resource({ plural: "namespaces", name: "a" })],
  [
    "/api/v1/namespaces/a/finalize",
    resource({ plural: "namespaces", name: "a", subresource: "finalize" }),
  ],
  [
    "/api/v1/namespaces/a/status",
    resource({ plural: "namespaces", name: "a", subresource: "status" }),
  ],
  ["/api/v1/namespaces/a/configmaps", resource({ namespace: "a", plural: "configmaps" })],
  [
    "/api/v1/namespaces/a/configmaps/c%3Ad",
    resource({ namespace: "a", plural: "configmaps", name: "c:d" }),
  ],
  ["/api/v1/namespaces/a/status/x", resource({ namespace: "a", plural: "status", name: "x" })],
  ["/apis/apps/v1/deployments", resource(APPS)],
  [
    "/apis/apps/v1/namespaces/a/deployments/d/scale",
    resource({ ...APPS, namespace: "a", name: "d", subresource: "scale" }),
  ],
  [
    "/api/v1/watch/namespaces/a/configmaps",
    resource({ namespace: "a", plural: "configmaps", watch: true }),
  ],
  [
    "/apis/apps/v1/watch/namespaces/a/deployments/d",
    resource({ ...APPS, namespace: "a", name: "d", watch: true }),
  ],
  ["/api/v1/watch/nodes/n", resource({ plural: "nodes", name: "n", watch: true })],
];

describe("resource paths", () => {
  test.each(RESOURCES)("%s is read", (path, want) => {
    expect(parsePath(path)).toEqual(want);
  });
});

describe("other paths", () => {
  test.each([
    ["/", "/"],
    ["/api", "/api"],
    ["/api/", "/api"],
    ["/apis", "/apis"],
    ["/api/v1", "/api/v1"],
    ["/apis/apps/v1/", "/apis/apps/v1"],
    ["/api/v1/watch", "/api/v1/watch"],
    ["/version", "/version"],
    ["/openapi/v3/apis/apps/v1", "/openapi/v3/apis/apps/v1"],
    ["//api/v1/nodes", "//api/v1/nodes"],
    ["/api/v1//nodes", "/api/v1//nodes"],
    ["/api/v1/nodes//", "/api/v1/nodes/"],
    ["/api/v1/nodes/n/status/more", "/api/v1/nodes/n/status/more"],
    ["/api/v1/namespaces/a/pods/p/proxy/x", "/api/v1/namespaces/a/pods/p/proxy/x"],
    ["/%61pi", "/api"],
  ])("%s is no resource", (path, text) => {
    expect(parsePath(path)).toMatchObject({ kind: "other", text });
  });
});

describe("malformed paths", () => {
  test.each([
    "",
    "*",
    "api/v1/nodes",
    "https://host/api/v1/nodes",
    "/api/v1/namespaces/../secrets",
    "/api/v1/nodes/..",
    "/api/v1/nodes/.",
    "/api/v1/nodes/%2e%2e",
    "/api/v1/nodes/a%2Fb",
    "/api/v1/nodes/a%2fb",
    "/api/v1/nodes/a%00b",
    "/api/v1/nodes/a\u0000b",
    "/api/v1/nodes/a%0Ab",
    "/api/v1/nodes/%zz",
    "/api/v1/nodes/%",
    "/api/v1/nodes/%ff",
  ])("%j is refused", (path) => {
    expect(parsePath(path).kind).toBe("malformed");
  });
});

describe("paths into members", () => {
  const KARMADA = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy";
  const OWN = "/apis/proxy.lifeboat.dev/v1alpha1/clusters/m1";

  test.each([
    [KARMADA, "/"],
    [`${KARMADA}/`, "/"],
    [`${KARMADA}/api/v1/pods`, "/api/v1/pods"],
    [`${OWN}/proxy/api/v1/pods`, "/api/v1/pods"],
    [
      `${KARMADA}/api/v1/namespaces/a/services/https%3As%3A443/proxy/x/`,
      "/api/v1/namespaces/a/services/https%3As%3A443/proxy/x/",
    ],
    [`${KARMADA}/a%20b/%C3%BC`, "/a%20b/%C3%BC"],
    [`${KARMADA}/%252e%252e/x`, "/%252e%252e/x"],
    [`${KARMADA}/...`, "/..."],
    [`${KARMADA}/%EF%BC%8E%EF%BC%8E/x`, "/%EF%BC%8E%EF%BC%8E/x"],
    [`${KARMADA}/a\\..\\b`, "/a%5C..%5Cb"],
  ])("%s leads to %s", (path, below) => {
    expect(parsePath(path)).toMatchObject({
      kind: "member",
      cluster: "m1",
      subresource: "proxy",
      below,
    });
  });

  test.each([
    ["a step up", "/../m2/proxy/api"],
    ["a step up at the end", "/api/.."],
    ["an encoded step up", "/%2e%2e/m2/proxy"],
    ["a half encoded step up", "/.%2E/m2"],
    ["a dot", "/./api"],
    ["an empty segment", "//api"],
    ["two slashes at the end", "/api//"],
    ["an encoded slash", "/a%2fb"],
    ["an encoded step up in a segment", "/a%2f..%2f..%2fb"],
    ["NUL", "/a%00b"],
    ["a line end", "/a%0d%0ab"],
    ["DEL", "/a%7f"],
    ["broken encoding", "/a%zz"],
    ["overlong UTF-8", "/%c0%ae%c0%ae"],
    ["a bare non-ASCII character", "/\u00fc"],
    ["bare fullwidth dots", "/\uff0e\uff0e/x"],
    ["a space", "/a b"],
    ["64 KB", `/${"a".repeat(65_536)}`],
  ])("%s is malformed", (_name, rest) => {
    expect(parsePath(KARMADA + rest).kind).toBe("malformed");
    expect(parsePath(`${OWN}/proxy${rest}`).kind).toBe("malformed");
  });

  test("a tunnel has nothing below it, and is of our own group alone", () => {
    expect(parsePath(`${OWN}/attach`)).toMatchObject({
      kind: "member",
      subresource: "attach",
      below: "/",
    });
    expect(parsePath(`${OWN}/attach/x`).kind).toBe("malformed");
    expect(parsePath("/apis/cluster.karmada.io/v1alpha1/clusters/m1/attach").kind).toBe("resource");
  });

  test.each([
    "/apis/cluster.karmada.io/v1alpha1/clusters/m1",
    "/apis/cluster.karmada.io/v1alpha1/clusters/m1/status",
    "/apis/cluster.karmada.io/v1beta1/clusters/m1/proxy",
    "/apis/apps/v1alpha1/clusters/m1/proxy",
    "/apis/cluster.karmada.io/v1alpha1/clusters/m1/Proxy",
  ])("%s is none", (path) => {
    expect(parsePath(path).kind).not.toBe("member");
    expect(isMemberTarget(path)).toBe(false);
  });

  test("a target is known by its path, not by its query", () => {
    expect(isMemberTarget(`${KARMADA}/api?x=1`)).toBe(true);
    expect(isMemberTarget(`/api/v1/pods?x=${KARMADA}`)).toBe(false);
  });
});
