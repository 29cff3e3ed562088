import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { auditLine, type AuditView, isSensitive, redact, REDACTED } from "./event.ts";
import type { AuditAttributes, AuditLevel } from "./policy.ts";

const target = (what: string): AuditAttributes["target"] => {
  const [group = "", resource = "", subresource = ""] = what.split("/");
  return { kind: "resource", group, resource, subresource, namespace: "shop", name: "web" };
};

function lineOf(level: AuditLevel, what: string, over: Partial<AuditView> = {}) {
  const view: AuditView = {
    auditId: "a1",
    stage: "ResponseComplete",
    decision: { level, omitStages: new Set(), omitManagedFields: false },
    attributes: { user: "ann", groups: ["devs"], verb: "update", target: target(what) },
    apiVersion: "v1",
    url: "/api/v1/namespaces/shop/x/web?dryRun=All",
    user: { name: "ann", groups: ["devs"] },
    remoteAddress: "10.0.0.1",
    userAgent: "kubectl",
    receivedAt: instantOf(0),
    now: instantOf(1500),
    requestBody: Buffer.from('{"kind":"ConfigMap","data":{"a":"asked"}}'),
    response: { status: 200, body: Buffer.from('{"kind":"ConfigMap","data":{"a":"answered"}}') },
    ...over,
  };
  return JSON.parse(auditLine(view)) as Record<string, unknown>;
}

describe("a line", () => {
  it("is an Event as kube-apiserver writes it", () => {
    expect(lineOf("Metadata", "/configmaps")).toEqual({
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Metadata",
      auditID: "a1",
      stage: "ResponseComplete",
      requestURI: "/api/v1/namespaces/shop/x/web?dryRun=All",
      verb: "update",
      user: { username: "ann", groups: ["devs"] },
      sourceIPs: ["10.0.0.1"],
      userAgent: "kubectl",
      objectRef: { resource: "configmaps", namespace: "shop", name: "web", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 200 },
      requestReceivedTimestamp: "1970-01-01T00:00:00.000000Z",
      stageTimestamp: "1970-01-01T00:00:01.500000Z",
    });
  });

  it.each<[AuditLevel, boolean, boolean]>([
    ["Metadata", false, false],
    ["Request", true, false],
    ["RequestResponse", true, true],
  ])("of level %s has bodies: %s, %s", (level, asked, answered) => {
    const line = lineOf(level, "/configmaps");
    expect(["requestObject" in line, "responseObject" in line]).toEqual([asked, answered]);
  });

  it("names who acts as another, and why something was refused", () => {
    const line = lineOf("Metadata", "apps/deployments/scale", {
      impersonated: { name: "bob", groups: [] },
      response: {
        status: 403,
        body: Buffer.from('{"kind":"Status","reason":"Forbidden","message":"no"}'),
      },
    });
    expect(line).toMatchObject({
      impersonatedUser: { username: "bob" },
      objectRef: { resource: "deployments", apiGroup: "apps", subresource: "scale" },
      responseStatus: { status: "Failure", reason: "Forbidden", message: "no", code: 403 },
    });
  });

  it.each([
    ["no JSON", Buffer.from("kind: ConfigMap")],
    ["empty", Buffer.alloc(0)],
    ["too large", Buffer.from(`"${"x".repeat(300_000)}"`)],
  ])("has no body that is %s", (_, requestBody) => {
    expect(lineOf("RequestResponse", "/configmaps", { requestBody })).not.toHaveProperty(
      "requestObject",
    );
  });
});

describe("secrets", () => {
  it.each([
    "/secrets",
    "/serviceaccounts/token",
    "authentication.k8s.io/tokenreviews",
    "work.karmada.io/works",
    "work.karmada.io/works/status",
    "cluster.karmada.io/clusters/proxy",
    "/pods/exec",
  ])("no body of %s is recorded, whatever the policy asks for", (what) => {
    const line = lineOf("RequestResponse", what);
    expect(line).not.toHaveProperty("requestObject");
    expect(line).not.toHaveProperty("responseObject");
  });

  it("no body of other paths is recorded", () => {
    const attributes = {
      user: "",
      groups: [],
      verb: "get",
      target: { kind: "path" as const, path: "/x" },
    };
    expect(isSensitive(attributes)).toBe(true);
  });

  it("values are replaced in whatever holds a Secret, and in former states", () => {
    const secret = {
      kind: "Secret",
      metadata: {
        name: "db",
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": "canary" },
      },
      data: { password: "canary" },
      stringData: { user: "canary" },
    };
    const list = { kind: "List", items: [secret, { kind: "Other", spec: { deep: [secret] } }] };
    const text = JSON.stringify(redact(list));
    expect(text).not.toContain("canary");
    expect(redact(secret)).toMatchObject({
      metadata: { name: "db" },
      data: { password: REDACTED },
      stringData: { user: REDACTED },
    });
    expect(JSON.stringify(redact({ kind: "Secret", data: "canary" }))).not.toContain("canary");
  });

  it("managed fields are left out when the policy says so, and nothing else changes", () => {
    const object = { metadata: { name: "a", managedFields: [{ manager: "b" }] }, spec: [1, null] };
    expect(redact(object)).toEqual(object);
    expect(redact(object, true)).toEqual({ metadata: { name: "a" }, spec: [1, null] });
  });
});
