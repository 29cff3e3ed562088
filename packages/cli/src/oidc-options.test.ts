import { expect, it } from "vitest";
import { resolveOptions } from "./options.ts";
import { oidcFrom, oidcOptions } from "./oidc-options.ts";

const settings = (
  values: Readonly<Record<string, string>>,
): { text(name: string): string | undefined } => ({
  text: (name) => values[name],
});
const BOTH = { "oidc-issuer-url": "https://id.example", "oidc-client-id": "c" };

it("has no default that its own table refuses", () => {
  const resolved = resolveOptions(oidcOptions, { flags: {}, environment: {}, file: {} });
  expect([...resolved.keys()]).toEqual(["oidc-username-claim", "oidc-signing-algs"]);
});

it("is off without its flags, and has kube-apiserver's defaults with the two that are needed", () => {
  expect(oidcFrom(settings({}))).toBeUndefined();
  expect(oidcFrom(settings(BOTH))).toMatchObject({
    issuer: "https://id.example",
    usernameClaim: "sub",
    usernamePrefix: undefined,
    algorithms: ["RS256"],
    requiredClaims: {},
  });
  expect(oidcFrom(settings({ ...BOTH, "oidc-required-claim": "a=b,c=d=e" }))).toMatchObject({
    requiredClaims: { a: "b", c: "d=e" },
  });
});

it.each<[Readonly<Record<string, string>>, RegExp]>([
  [{ "oidc-client-id": "c" }, /need each other/],
  [{ "oidc-issuer-url": "https://id.example" }, /need each other/],
  [{ ...BOTH, "oidc-issuer-url": "http://id.example" }, /no https address/],
  [{ ...BOTH, "oidc-signing-algs": "HS256" }, /"HS256" is not one of/],
  [{ ...BOTH, "oidc-signing-algs": "none" }, /"none" is not one of/],
  [{ ...BOTH, "oidc-required-claim": "=b" }, /KEY=VALUE/],
  [{ ...BOTH, "oidc-ca-file": "/nonexistent" }, /cannot be read/],
])("%j is refused", (values, message) => {
  expect(() => oidcFrom(settings(values))).toThrow(message);
});
