import type { JsonObject } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { type OidcRules, oidcUser } from "./oidc.ts";

const NOW = Date.UTC(2026, 0, 1);
const RULES: OidcRules = {
  issuer: "https://id.example",
  clientId: "lifeboat",
  usernameClaim: "sub",
  groupsPrefix: "",
  requiredClaims: {},
};
const CLAIMS: JsonObject = {
  iss: "https://id.example",
  aud: "lifeboat",
  sub: "bob",
  exp: NOW / 1000 + 60,
};

describe("the user that claims name", () => {
  it.each<[string, Partial<OidcRules>, JsonObject, string | undefined, readonly string[]]>([
    ["the subject, with the issuer", {}, {}, "https://id.example#bob", []],
    ["a prefix", { usernamePrefix: "oidc:" }, {}, "oidc:bob", []],
    ["no prefix", { usernamePrefix: "-" }, {}, "bob", []],
    [
      "the address has no prefix of itself",
      { usernameClaim: "email" },
      { email: "b@x" },
      "b@x",
      [],
    ],
    [
      "a verified address",
      { usernameClaim: "email" },
      { email: "b@x", email_verified: true },
      "b@x",
      [],
    ],
    [
      "an address that is not verified",
      { usernameClaim: "email" },
      { email: "b@x", email_verified: false },
      undefined,
      [],
    ],
    [
      "groups as a list",
      { groupsClaim: "groups", groupsPrefix: "oidc:" },
      { groups: ["a", "b"] },
      "https://id.example#bob",
      ["oidc:a", "oidc:b"],
    ],
    ["one group as a text", { groupsClaim: "g" }, { g: "a" }, "https://id.example#bob", ["a"]],
    ["groups of a wrong type", { groupsClaim: "g" }, { g: [1] }, undefined, []],
    ["no groups", { groupsClaim: "g" }, {}, "https://id.example#bob", []],
    [
      "groups of the system are passed over",
      { groupsClaim: "g" },
      { g: ["system:masters", "a"] },
      "https://id.example#bob",
      ["a"],
    ],
    ["a user of the system", { usernamePrefix: "-" }, { sub: "system:admin" }, undefined, []],
    ["without a name", {}, { sub: "" }, undefined, []],
    ["a name of a wrong type", {}, { sub: 5 }, undefined, []],
    ["a claim that objects have by birth", { usernameClaim: "constructor" }, {}, undefined, []],
    ["another issuer", {}, { iss: "https://id.example/" }, undefined, []],
    ["another client", {}, { aud: ["other"] }, undefined, []],
    ["several clients", {}, { aud: ["x", "lifeboat"] }, "https://id.example#bob", []],
    ["expired", {}, { exp: NOW / 1000 }, undefined, []],
    ["not yet valid", {}, { nbf: NOW / 1000 + 3600 }, undefined, []],
    [
      "a required claim",
      { requiredClaims: { hd: "x" } },
      { hd: "x" },
      "https://id.example#bob",
      [],
    ],
    ["a required claim that is missing", { requiredClaims: { hd: "x" } }, {}, undefined, []],
  ])("%s", (_name, rules, claims, user, groups) => {
    const proven = oidcUser({ ...RULES, ...rules }, { ...CLAIMS, ...claims }, NOW);
    expect(proven?.user.name).toBe(user);
    if (user !== undefined) expect(proven?.user.groups).toEqual(groups);
  });
});
