/** Scale and reviews, through the in-process client on a real server. */
import { expect, test } from "vitest";
import type { AnyObject, New, Resource } from "@lifeboat/api";
import type { User } from "@lifeboat/apiserver";
import { createWorld, deployment, newObject, refusalOf, resources } from "@lifeboat/testkit";

const { deployments } = resources;
const key = { namespace: "default", name: "d" };
const scale = { subresource: "scale" };

test("a scale shows three fields of its object", async () => {
  const { client } = await createWorld();
  const created = await client.create(deployments, deployment("d", { replicas: 3 }));
  const { name, namespace, uid, resourceVersion, creationTimestamp } = created.metadata;
  expect(await client.get(deployments, key, scale)).toEqual({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: 3 },
    status: { replicas: 0, selector: "app=d" },
  });
});

test("writing a scale changes the replicas and nothing else", async () => {
  const { client } = await createWorld();
  const created = await client.create(deployments, deployment("d"));
  const shown = await client.get(deployments, key, scale);
  const scaled = await client.update(deployments, { ...shown, spec: { replicas: 4 } }, scale);
  expect(scaled["spec"]).toEqual({ replicas: 4 });
  const patched = await client.patch(
    deployments,
    key,
    { type: "merge", body: { spec: { replicas: 6 } } },
    scale,
  );
  expect(patched).toMatchObject({ kind: "Scale", spec: { replicas: 6 } });
  const after = await client.get(deployments, key);
  expect(after["spec"]).toEqual({ ...(created["spec"] as object), replicas: 6 });
  expect(after.metadata.generation).toBe(3);
});

test("a scale with a stale version is a conflict about the object", async () => {
  const { client } = await createWorld();
  await client.create(deployments, deployment("d"));
  const shown = await client.get(deployments, key, scale);
  const stale = { ...shown, metadata: { ...shown.metadata, resourceVersion: "1" } };
  expect(await refusalOf(client.update(deployments, stale, scale))).toMatchObject({
    code: 409,
    message: expect.stringContaining(
      'on deployments.apps "d": the object has been modified',
    ) as string,
    details: { name: "d", group: "apps", kind: "deployments" },
  });
});

test("a scale below zero is refused", async () => {
  const { client } = await createWorld();
  await client.create(deployments, deployment("d"));
  const shown = await client.get(deployments, key, scale);
  const below = { ...shown, spec: { replicas: -1 } };
  expect(await refusalOf(client.update(deployments, below, scale))).toMatchObject({
    code: 422,
    message:
      'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  });
});

test("users without rights are told which subresource they may not read", async () => {
  const world = await createWorld();
  const bob = world.as({ name: "bob", groups: [] });
  expect(await refusalOf(bob.get(deployments, key, scale))).toMatchObject({
    code: 403,
    message:
      'deployments.apps "d" is forbidden: User "bob" cannot get resource "deployments/scale" in API group "apps" in the namespace "default"',
    details: { name: "d", group: "apps", kind: "deployments" },
  });
});

function review(group: string, plural: string, kind: string): Resource {
  return { group, version: "v1", plural, kind, namespaced: false };
}
const AUTHORIZATION = "authorization.k8s.io";
const AUTHENTICATION = "authentication.k8s.io";
const selfAccess = review(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview");
const access = review(AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview");
const self = review(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview");
const token = review(AUTHENTICATION, "tokenreviews", "TokenReview");
const rules = review(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview");
const bob: User = { name: "bob", uid: "1001", groups: ["dev", "system:authenticated"] };

const resourceAttributes = { namespace: "default", verb: "get", resource: "pods" };
const questions: readonly {
  readonly name: string;
  readonly resource: Resource;
  readonly object: New<AnyObject>;
  readonly as?: User;
  readonly want: object;
}[] = [
  {
    name: "a master may",
    resource: selfAccess,
    object: newObject(selfAccess, {}, { spec: { resourceAttributes } }),
    want: { allowed: true },
  },
  {
    name: "bob asks for himself and may not",
    resource: selfAccess,
    object: newObject(selfAccess, {}, { spec: { resourceAttributes } }),
    as: bob,
    want: { allowed: false },
  },
  {
    name: "a master asks for bob",
    resource: access,
    object: newObject(access, {}, { spec: { user: "bob", resourceAttributes } }),
    want: { allowed: false },
  },
  {
    name: "bob may see discovery",
    resource: selfAccess,
    object: newObject(
      selfAccess,
      {},
      { spec: { nonResourceAttributes: { verb: "get", path: "/apis" } } },
    ),
    as: bob,
    want: { allowed: true },
  },
  {
    name: "bob asks who he is",
    resource: self,
    object: newObject(self, {}),
    as: bob,
    want: { userInfo: { username: "bob", uid: "1001", groups: ["dev", "system:authenticated"] } },
  },
  {
    name: "a token is known",
    resource: token,
    object: newObject(token, {}, { spec: { token: "tok-bob" } }),
    want: {
      authenticated: true,
      user: { username: "bob", uid: "1001", groups: ["dev", "system:authenticated"] },
      audiences: ["https://kubernetes.default.svc"],
    },
  },
  {
    name: "a token is not known",
    resource: token,
    object: newObject(token, {}, { spec: { token: "guess" } }),
    want: { user: {}, error: "invalid bearer token" },
  },
  {
    name: "a master's rules",
    resource: rules,
    object: newObject(rules, {}, { spec: { namespace: "default" } }),
    want: {
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      incomplete: false,
    },
  },
];
for (const { name, resource, object, as, want } of questions) {
  test(`a review is answered and not stored: ${name}`, async () => {
    const world = await createWorld({ tokens: new Map([["tok-bob", bob]]) });
    const client = as === undefined ? world.client : world.as(as);
    const answer = await client.create(resource, object);
    expect(answer.kind).toBe(resource.kind);
    expect(answer["status"]).toMatchObject(want);
    expect(answer.metadata).not.toHaveProperty("resourceVersion");
  });
}
