/** The default roles against those of a real server of the same version (real-default-roles.json was read from one). */
import { readFileSync } from "node:fs";
import { createWorld } from "@lifeboat/testkit";
import { describe, expect, test } from "vitest";
import type { AnyObject } from "@lifeboat/api";
import { send } from "../../http/exchange.suite.ts";
import { rbacResource } from "./resources.ts";

interface Kept {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: unknown;
  readonly annotations?: unknown;
  readonly rules?: readonly unknown[];
  readonly aggregationRule?: unknown;
  readonly roleRef?: unknown;
  readonly subjects?: unknown;
}

const real = JSON.parse(
  readFileSync(new URL("./fixtures/real-default-roles.json", import.meta.url), "utf8"),
) as readonly Kept[];
const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";
const KINDS = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
const clusterRoles = rbacResource("ClusterRole");

async function stored(): Promise<readonly AnyObject[]> {
  const world = await createWorld({ authorizer: "RBAC", housekeeping: false });
  const lists = await Promise.all(KINDS.map((kind) => world.client.list(rbacResource(kind))));
  return lists.flatMap((list) => list.items);
}

describe("a new server", () => {
  test("has roles and bindings that a real server has, with the same content", async () => {
    const objects = await stored();
    const known = new Map(
      real.map((one) => [`${one.kind} ${one.namespace ?? ""}/${one.name}`, one]),
    );
    for (const { kind, metadata, rules, ...rest } of objects) {
      const { namespace = "", name, labels, annotations } = metadata;
      const same = known.get(`${kind} ${namespace}/${name}`);
      expect([kind, name, same !== undefined]).toEqual([kind, name, true]);
      expect([name, labels, annotations]).toEqual([name, same?.labels, same?.annotations]);
      const { aggregationRule, roleRef, subjects } = rest;
      expect({ name, aggregationRule, roleRef, subjects }).toEqual({
        name,
        aggregationRule: same?.aggregationRule,
        roleRef: same?.roleRef,
        subjects: same?.subjects,
      });
      if (aggregationRule === undefined && kind.endsWith("Role"))
        expect([name, sorted(rules)]).toEqual([name, sorted(same?.rules)]);
    }
    expect(objects.length).toBeGreaterThan(25);
  });

  test("has gathered the rules of admin, edit and view before housekeeping runs", async () => {
    const objects = await stored();
    const rulesOf = (name: string): readonly unknown[] =>
      (objects.find((one) => one.kind === "ClusterRole" && one.metadata.name === name)?.["rules"] ??
        []) as readonly unknown[];
    const parts = (...names: string[]) =>
      names.flatMap((name) => rulesOf(`system:aggregate-to-${name}`));
    expect(sorted(rulesOf("view"))).toEqual(sorted(parts("view")));
    expect(sorted(rulesOf("edit"))).toEqual(sorted(parts("view", "edit")));
    expect(sorted(rulesOf("admin"))).toEqual(sorted(parts("view", "edit", "admin")));
  });
});

function sorted(rules: unknown): readonly string[] {
  return ((rules ?? []) as readonly object[])
    .map((rule) => JSON.stringify(Object.entries(rule).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted();
}

describe("a server that starts again", () => {
  test("puts back what is missing, keeps what was added, and leaves alone what is marked so", async () => {
    const world = await createWorld({ authorizer: "RBAC" });
    const { client } = world;
    const key = (name: string) => ({ namespace: "", name });
    await client.delete(clusterRoles, key("system:discovery"));
    await client.delete(rbacResource("ClusterRoleBinding"), key("cluster-admin"));
    const extra = { verbs: ["get"], apiGroups: ["x"], resources: ["y"] };
    const basic = await client.get(clusterRoles, key("system:basic-user"));
    await client.update(clusterRoles, { ...basic, rules: [extra] } as AnyObject);
    const monitoring = await client.get(clusterRoles, key("system:monitoring"));
    const { metadata } = monitoring;
    const annotations = { [AUTO_UPDATE]: "false" };
    await client.update(clusterRoles, {
      ...monitoring,
      metadata: { ...metadata, annotations },
      rules: [],
    } as AnyObject);
    await world.restart();
    const rules = async (name: string) =>
      (await world.client.get(clusterRoles, key(name)))["rules"] as readonly unknown[];
    expect((await rules("system:discovery")).length).toBe(1);
    expect(await rules("system:basic-user")).toHaveLength(3);
    expect(await rules("system:basic-user")).toContainEqual(extra);
    expect(await rules("system:monitoring")).toBeNull();
    await world.client.get(rbacResource("ClusterRoleBinding"), key("cluster-admin"));
    const { resourceVersion } = (await world.client.list(clusterRoles)).metadata;
    await world.restart();
    for (const { metadata: meta } of (await world.client.list(clusterRoles)).items)
      expect(Number(meta.resourceVersion)).toBeLessThanOrEqual(Number(resourceVersion));
  });

  test("replaces a default binding that was made again for another role", async () => {
    const world = await createWorld({ authorizer: "RBAC" });
    const bindings = rbacResource("ClusterRoleBinding");
    const key = { namespace: "", name: "system:discovery" };
    const found = await world.client.get(bindings, key);
    await world.client.delete(bindings, key);
    await world.client.create(bindings, {
      ...found,
      metadata: { name: key.name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    });
    await world.restart();
    const bob = { name: "bob", groups: ["system:authenticated"] };
    const answer = await send(world.server.handle, "GET", "/apis", { user: bob });
    expect(answer.status).toBe(200);
    expect((await world.client.get(bindings, key))["roleRef"]).toMatchObject({ name: key.name });
  });
});

test("an aggregated role follows the roles that it gathers", async () => {
  const world = await createWorld({ authorizer: "RBAC" });
  const rule = { verbs: ["get"], apiGroups: ["shop.io"], resources: ["carts"] };
  const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
  const part = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "carts", labels },
    rules: [rule],
  } as unknown as AnyObject;
  await world.client.create(clusterRoles, part);
  await world.advance("1s");
  for (const name of ["view", "edit", "admin"])
    expect((await world.client.get(clusterRoles, { namespace: "", name }))["rules"]).toContainEqual(
      rule,
    );
  await world.client.delete(clusterRoles, { namespace: "", name: "carts" });
  await world.advance("1s");
  for (const name of ["view", "edit", "admin"])
    expect(
      (await world.client.get(clusterRoles, { namespace: "", name }))["rules"],
    ).not.toContainEqual(rule);
});
