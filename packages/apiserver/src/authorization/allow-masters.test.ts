import { expect, test } from "vitest";
import { allowMasters } from "./allow-masters.ts";
import type { Attributes } from "./authorizer.ts";

const master = { name: "admin", groups: ["system:masters"] };
const bob = { name: "bob", groups: ["system:authenticated"] };
const nobody = { name: "system:anonymous", groups: ["system:unauthenticated"] };
const pods = {
  group: "",
  version: "v1",
  plural: "pods",
  subresource: "",
  namespace: "default",
  name: "",
};
const review = { ...pods, group: "authorization.k8s.io", plural: "selfsubjectaccessreviews" };

const rows: readonly {
  readonly name: string;
  readonly attributes: Attributes;
  readonly want: boolean;
}[] = [
  {
    name: "a master deletes pods",
    attributes: { kind: "resource", user: master, verb: "deletecollection", ...pods },
    want: true,
  },
  {
    name: "a master reads any path",
    attributes: { kind: "path", user: master, verb: "get", path: "/metrics" },
    want: true,
  },
  {
    name: "bob lists pods",
    attributes: { kind: "resource", user: bob, verb: "list", ...pods },
    want: false,
  },
  {
    name: "bob asks what he may",
    attributes: { kind: "resource", user: bob, verb: "create", ...review },
    want: true,
  },
  {
    name: "bob reads discovery",
    attributes: { kind: "path", user: bob, verb: "get", path: "/apis/apps/v1" },
    want: true,
  },
  {
    name: "bob reads OpenAPI",
    attributes: { kind: "path", user: bob, verb: "get", path: "/openapi/v3" },
    want: true,
  },
  {
    name: "bob reads metrics",
    attributes: { kind: "path", user: bob, verb: "get", path: "/metrics" },
    want: false,
  },
  {
    name: "bob writes to discovery",
    attributes: { kind: "path", user: bob, verb: "post", path: "/apis" },
    want: false,
  },
  {
    name: "a path only looks like one",
    attributes: { kind: "path", user: bob, verb: "get", path: "/apisx" },
    want: false,
  },
  {
    name: "nobody reads the version",
    attributes: { kind: "path", user: nobody, verb: "get", path: "/version" },
    want: true,
  },
  {
    name: "nobody reads one health check",
    attributes: { kind: "path", user: nobody, verb: "get", path: "/readyz/ping" },
    want: true,
  },
  {
    name: "nobody reads discovery",
    attributes: { kind: "path", user: nobody, verb: "get", path: "/apis" },
    want: false,
  },
  {
    name: "nobody asks what he may",
    attributes: { kind: "resource", user: nobody, verb: "create", ...review },
    want: false,
  },
];
for (const { name, attributes, want } of rows) {
  test(`${name}: ${want ? "allowed" : "not allowed"}`, () => {
    expect(allowMasters.allows(attributes)).toBe(want);
  });
}
