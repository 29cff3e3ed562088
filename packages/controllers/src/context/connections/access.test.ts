/** How a Cluster and its Secret describe the way to a member, and what is reported when they do not. */
import type { AnyObject, Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { accessOf, impersonatorAccess } from "./access.ts";

const metadata = { name: "m1", uid: "u", resourceVersion: "1", creationTimestamp: "" };
const spec: Cluster["spec"] = {
  syncMode: "Push",
  apiEndpoint: "https://m1:6443//",
  secretRef: { namespace: "karmada-cluster", name: "m1" },
};
const cluster: Cluster = { apiVersion: "a", kind: "Cluster", metadata, spec };

const BOUND = { "lifeboat.dev/api-endpoint": "https://m1:6443" };

function secretOf(data: unknown, more: object = { annotations: BOUND }): AnyObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { ...metadata, ...more }, data };
}

const { secretRef: _, ...withoutSecret } = spec;
const data = { token: btoa("abc\n"), caBundle: btoa("pem") };

describe("accessOf", () => {
  it("reads everything there is", () => {
    const given: Cluster = {
      ...cluster,
      spec: {
        ...spec,
        insecureSkipTLSVerification: true,
        proxyURL: "http://proxy:3128",
        proxyHeader: { Via: "a,b" },
      },
    };
    expect(accessOf(given, () => secretOf(data))).toEqual({
      kind: "usable",
      access: {
        cluster: "m1",
        endpoint: "https://m1:6443",
        token: "abc",
        caBundle: "pem",
        insecureSkipTlsVerification: true,
        proxyUrl: "http://proxy:3128",
        proxyHeaders: { Via: ["a", "b"] },
      },
    });
  });

  it.each<[string, Cluster["spec"], AnyObject | undefined, RegExp]>([
    ["no endpoint", { ...spec, apiEndpoint: "" }, undefined, /no apiEndpoint/],
    ["no reference", withoutSecret, undefined, /no secretRef/],
    ["no Secret", spec, undefined, /karmada-cluster\/m1 does not exist/],
    ["no data", spec, secretOf(undefined), /has no token/],
    ["null data", spec, secretOf(null), /has no token/],
    ["a token that is no text", spec, secretOf({ token: 7 }), /token .* is not base64/],
    ["a token that is no base64", spec, secretOf({ token: "%%" }), /token .* is not base64/],
    [
      "an authority that is no base64",
      spec,
      secretOf({ token: btoa("a"), caBundle: "%%" }),
      /caBundle .* is not base64/,
    ],
  ])("reports what is wrong with %s", (_name, given, secret, message) => {
    expect(accessOf({ ...cluster, spec: given }, () => secret)).toMatchObject({
      kind: "unusable",
      message: expect.stringMatching(message) as string,
    });
  });
});

describe("17.14: a credential", () => {
  const kube = { namespace: "karmada-cluster" };
  const owned = { namespace: "elsewhere", ownerReferences: [{ kind: "Cluster", uid: "u" }] };
  const foreign = { namespace: "elsewhere", ownerReferences: [{ kind: "Cluster", uid: "v" }] };
  const bound = (...endpoints: string[]) => ({
    annotations: { "lifeboat.dev/api-endpoint": endpoints.join(" ") },
  });
  const http = { annotations: { "lifeboat.dev/api-endpoint": "http://m1" } };
  const allowed = {
    annotations: { ...http.annotations, "lifeboat.dev/allow-insecure-http": "true" },
  };

  it.each<[string, string, object, string]>([
    ["for this endpoint", "https://m1:6443/", bound("https://m1:6443"), "usable"],
    [
      "for this endpoint, spelled otherwise",
      "https://M1:6443",
      bound("https://m1:6443//"),
      "usable",
    ],
    ["for this endpoint among others", "https://m1", bound("https://m0", "https://m1"), "usable"],
    ["for another host", "https://evil", bound("https://m1"), "unusable"],
    ["for another port", "https://m1:6444", bound("https://m1:6443"), "unusable"],
    ["for another path", "https://m1/evil", bound("https://m1"), "unusable"],
    ["for a longer name", "https://m1", bound("https://m1.evil"), "unusable"],
    ["for nothing", "https://m1", bound(""), "unusable"],
    ["for no endpoint, in the namespace for it", "https://m1", kube, "unbound"],
    ["for no endpoint, owned by the Cluster", "https://m1", owned, "unbound"],
    ["for no endpoint, owned by another Cluster", "https://m1", foreign, "unusable"],
    ["for no endpoint, without an owner", "https://m1", { namespace: "elsewhere" }, "unusable"],
    ["over plain http", "http://m1", http, "unusable"],
    ["over plain http, in capitals", "HTTP://m1", http, "unusable"],
    ["over plain http, for no endpoint", "http://m1", kube, "unusable"],
    ["over plain http, which is allowed", "http://m1", allowed, "usable"],
    [
      "for https, which is plain http now",
      "http://m1",
      {
        annotations: {
          ...bound("https://m1").annotations,
          "lifeboat.dev/allow-insecure-http": "true",
        },
      },
      "unusable",
    ],
  ])("%s", (_name, apiEndpoint, more, kind) => {
    const given = { ...cluster, spec: { ...spec, apiEndpoint } };
    const found = accessOf(given, () => secretOf(data, more));
    expect(found.kind).toBe(kind);
    if (found.kind === "unusable") expect(found.message).not.toContain("abc");
  });
});

describe("the way of the proxy", () => {
  const access = {
    cluster: "m1",
    endpoint: "https://m1:6443",
    token: "own",
    insecureSkipTlsVerification: false,
  };
  const reference = { namespace: "karmada-cluster", name: "m1-impersonator" };
  const given: Cluster = { ...cluster, spec: { ...spec, impersonatorSecretRef: reference } };
  const token = { token: btoa("impersonator\n") };
  const owned = { ownerReferences: [{ kind: "Cluster", uid: "u" }] };

  it("has the impersonator's token, and everything else from the access of the control plane", () => {
    expect(impersonatorAccess(given, access, () => secretOf(token))).toEqual({
      kind: "usable",
      access: { ...access, token: "impersonator" },
    });
    // As it is after a join by other tools.
    expect(impersonatorAccess(given, access, () => secretOf(token, owned)).kind).toBe("usable");
  });

  it.each<[string, Cluster, AnyObject | undefined, RegExp]>([
    ["without a reference", cluster, undefined, /no impersonatorSecretRef/],
    ["without a Secret", given, undefined, /does not exist/],
    ["without a token", given, secretOf({}), /no usable token/],
    ["with a token that breaks a header", given, secretOf({ token: btoa("a\r\nb") }), /no usable/],
    [
      "with the control plane's own token",
      given,
      secretOf({ token: btoa("own") }),
      /own, by which/,
    ],
    ["with a token for nothing", given, secretOf(token, {}), /was not given for the endpoint/],
    [
      "with another cluster's token",
      given,
      secretOf(token, {
        annotations: { "lifeboat.dev/api-endpoint": "https://m2:6443" },
        ...owned,
      }),
      /was not given for the endpoint/,
    ],
  ])("is closed %s", (_name, one, secret, message) => {
    expect(impersonatorAccess(one, access, () => secret)).toMatchObject({
      kind: "unusable",
      message: expect.stringMatching(message) as string,
    });
  });
});
