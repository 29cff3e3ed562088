/** What a Cluster and its Secret say about reaching it, and what is said when they do not. */
import type { AnyObject, Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { accessOf } from "./access.ts";

const metadata = { name: "m1", uid: "u", resourceVersion: "1", creationTimestamp: "" };
const spec: Cluster["spec"] = {
  syncMode: "Push",
  apiEndpoint: "https://m1:6443//",
  secretRef: { namespace: "karmada-cluster", name: "m1" },
};
const cluster: Cluster = { apiVersion: "a", kind: "Cluster", metadata, spec };

function secretOf(data: unknown): AnyObject {
  return { apiVersion: "v1", kind: "Secret", metadata, data };
}

const { secretRef: _, ...withoutSecret } = spec;

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
    const secret = secretOf({ token: btoa("abc\n"), caBundle: btoa("pem") });
    expect(accessOf(given, () => secret)).toEqual({
      cluster: "m1",
      endpoint: "https://m1:6443",
      token: "abc",
      caBundle: "pem",
      insecureSkipTlsVerification: true,
      proxyUrl: "http://proxy:3128",
      proxyHeaders: { Via: ["a", "b"] },
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
  ])("says what is wrong with %s", (_name, given, secret, message) => {
    expect(accessOf({ ...cluster, spec: given }, () => secret)).toMatch(message);
  });
});
