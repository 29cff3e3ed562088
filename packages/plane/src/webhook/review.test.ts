/** Admission reviews get the answers that the embedded API server would give. */
import type { JsonObject } from "@lifeboat/api";
import { createAdmissionChain } from "@lifeboat/apiserver";
import { createSeededIds, createRandom, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { describe, expect, it } from "vitest";
import { agentRules, planeAdmission } from "../plane-admission.ts";
import type { Client } from "@lifeboat/kit";
import { answerReview, patchOf } from "./review.ts";

const clock = new VirtualClock(instantOf(1_800_000_000_000), drainPromises);
const ids = createSeededIds(createRandom(1));
const all = createAdmissionChain(
  planeAdmission(
    { clock, ids },
    {
      controllers: () => ({ statefulFailoverInjection: false }),
      scripts: { check: () => Promise.resolve("this is no Lua") },
    },
    // Nothing is there yet.
    () => ({ list: () => Promise.resolve({ items: [] }) }) as unknown as Client,
  ),
);
const chains = { all, agents: createAdmissionChain(agentRules(clock)) };

const cluster = (spec: JsonObject, name = "m1"): JsonObject => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec: { syncMode: "Push", ...spec },
});

async function ask(
  path: string,
  object: JsonObject | null,
  more: JsonObject = {},
): Promise<JsonObject> {
  const review = {
    request: {
      uid: "u",
      operation: "CREATE",
      kind: { group: "cluster.karmada.io", version: "v1alpha1", kind: "Cluster" },
      resource: { group: "cluster.karmada.io", version: "v1alpha1", resource: "clusters" },
      name: "m1",
      userInfo: { username: "jane", groups: ["system:authenticated"] },
      object,
      ...more,
    },
  };
  const { code, body } = await answerReview(chains, path, JSON.stringify(review));
  expect(code).toBe(200);
  const { response } = body as { readonly response: JsonObject };
  expect(response["uid"]).toBe("u");
  return response;
}

const AGENT = { username: "system:karmada:agent:m1", groups: ["system:karmada:agents"] };

it("restricts an agent to what is its own, and changes nothing", async () => {
  const own = { syncMode: "Pull" };
  const allowed = await ask("/restrict", cluster(own), { userInfo: AGENT });
  expect(allowed).toEqual({ uid: "u", allowed: true });
  const other = await ask("/restrict", cluster(own, "m2"), { userInfo: AGENT, name: "m2" });
  expect(other).toMatchObject({ allowed: false, status: { code: 403 } });
  // A name that the server makes is not its own.
  const generated = { ...cluster(own), metadata: { generateName: "m1" } };
  expect(await ask("/restrict", generated, { userInfo: AGENT, name: "" })).toMatchObject({
    allowed: false,
  });
  // What an API server leaves out is read from the object.
  expect(await ask("/restrict", cluster(own), { userInfo: AGENT, name: "" })).toMatchObject({
    allowed: true,
  });
  const gone = { operation: "DELETE", oldObject: cluster(own, "m2"), name: "m2", userInfo: AGENT };
  expect(await ask("/restrict", null, gone)).toMatchObject({ allowed: false });
  expect(await ask("/restrict", cluster({}))).toEqual({ uid: "u", allowed: true });
});

it("what others wrote since an agent has read is a conflict, and not its doing", async () => {
  const at = (version: string, labels = {}): JsonObject => ({
    ...cluster({ syncMode: "Pull" }),
    metadata: { name: "m1", resourceVersion: version, labels },
  });
  const update = (object: JsonObject): Promise<JsonObject> => {
    const oldObject = at("2", { by: "another" });
    return ask("/restrict", object, { operation: "UPDATE", oldObject, userInfo: AGENT });
  };
  expect(await update(at("1"))).toMatchObject({ allowed: false, status: { code: 409 } });
  expect(await update(at("2"))).toMatchObject({ allowed: false, status: { code: 403 } });
  expect(await update(at("2", { by: "another" }))).toMatchObject({ allowed: true });
});

const patchIn = (response: JsonObject): unknown =>
  JSON.parse(Buffer.from(response["patch"] as string, "base64").toString());

it("fills in what the kind fills in, as a patch", async () => {
  const taints = [{ key: "down", effect: "NoExecute" }];
  const response = await ask("/mutate", cluster({ taints }));
  expect(response).toMatchObject({ allowed: true, patchType: "JSONPatch" });
  expect(patchIn(response)).toMatchObject([
    { op: "add", path: "/metadata/annotations" },
    {
      op: "add",
      path: "/spec",
      value: { taints: [{ key: "down", timeAdded: "2027-01-15T08:00:00Z" }] },
    },
  ]);
});

it("stamps the user that changes something the history tells, and no controller", async () => {
  const before = cluster({ taints: [] });
  const taints = [{ key: "down", effect: "NoExecute" }];
  const change = { operation: "UPDATE", oldObject: before };
  const response = await ask("/mutate", cluster({ taints }), change);
  const [{ value }] = patchIn(response) as [{ value: Readonly<Record<string, string>> }];
  expect(JSON.parse(value["lifeboat.dev/last-act"] ?? "")).toEqual({
    by: "jane",
    at: "2027-01-15T08:00:00Z",
    facts: ["taint down:NoExecute=2027-01-15T08:00:00Z"],
  });
  const userInfo = { username: "system:serviceaccount:lifeboat-system:lifeboat-manager" };
  const other = await ask("/mutate", cluster({ taints }), { ...change, userInfo });
  expect(JSON.stringify(patchIn(other))).not.toContain("last-act");
});

it("keeps the time of a taint that is written again", async () => {
  const stored = { key: "down", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" };
  const response = await ask(
    "/mutate",
    cluster({ taints: [{ key: "down", effect: "NoExecute" }] }),
    { operation: "UPDATE", oldObject: cluster({ taints: [stored] }) },
  );
  expect(patchIn(response)).toMatchObject([{ value: { taints: [stored] } }]);
});

describe("the published backends of an ingress", () => {
  const BACKENDS = "lifeboat.dev/backends";
  const ingress = (backends?: string): JsonObject => ({
    apiVersion: "networking.karmada.io/v1alpha1",
    kind: "MultiClusterIngress",
    metadata: {
      name: "web",
      namespace: "shop",
      annotations: { other: "a", ...(backends !== undefined && { [BACKENDS]: backends }) },
    },
    spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
  });
  const write = (path: string, object: JsonObject, more: JsonObject): Promise<JsonObject> => {
    const group = "networking.karmada.io";
    return ask(path, object, {
      kind: { group, version: "v1alpha1", kind: "MultiClusterIngress" },
      resource: { group, version: "v1alpha1", resource: "multiclusteringresses" },
      namespace: "shop",
      name: "web",
      ...more,
    });
  };
  const update = (oldObject: JsonObject, username = "jane", groups: readonly string[] = []) => ({
    operation: "UPDATE",
    oldObject,
    userInfo: { username, groups: [...groups] },
  });

  it("are changed by the control plane and by masters alone", async () => {
    const isAllowed = async (username: string, groups: readonly string[] = []) => {
      const more = update(ingress("real"), username, groups);
      return (await write("/validate", ingress("forged"), more))["allowed"];
    };
    expect(await isAllowed("system:serviceaccount:lifeboat-system:lifeboat-manager")).toBe(true);
    expect(await isAllowed("system:lifeboat")).toBe(true);
    expect(await isAllowed("root", ["system:masters"])).toBe(true);
    for (const name of [
      "jane",
      "system:lifeboat:gateway",
      "system:serviceaccount:shop:lifeboat-manager",
      "system:serviceaccount:lifeboat-system:default",
      "system:karmada:agent:m1",
    ])
      expect(await isAllowed(name)).toBe(false);
    const refused = await write("/validate", ingress("forged"), update(ingress("real")));
    expect(refused).toMatchObject({ status: { code: 403, reason: "Forbidden" } });
    expect(JSON.stringify(refused)).toContain(`only the control plane writes`);
    // Nor are they removed where an API server did not ask to fill in, or made.
    expect(await write("/validate", ingress(), update(ingress("real")))).toMatchObject({
      allowed: false,
    });
    expect(await write("/validate", ingress("forged"), {})).toMatchObject({ allowed: false });
    expect(await write("/validate", ingress("forged"), update(ingress()))).toMatchObject({
      allowed: false,
    });
  });

  it("stay where a write leaves them as they are, or out", async () => {
    for (const path of ["/mutate", "/validate"]) {
      const same = update(ingress("real"));
      expect(await write(path, ingress("real"), same)).toEqual({ uid: "u", allowed: true });
      expect(await write(path, ingress(), {})).toEqual({ uid: "u", allowed: true });
      expect(await write(path, ingress(), update(ingress()))).toEqual({ uid: "u", allowed: true });
    }
    const replaced = await write("/mutate", ingress(), update(ingress("real")));
    expect(patchIn(replaced)).toEqual([
      { op: "add", path: "/metadata/annotations", value: { other: "a", [BACKENDS]: "real" } },
    ]);
  });

  it("are left out of a new ingress, with a warning", async () => {
    const created = await write("/mutate", ingress("forged"), {});
    expect(patchIn(created)).toEqual([
      { op: "add", path: "/metadata/annotations", value: { other: "a" } },
    ]);
    expect(created["warnings"]).toEqual([expect.stringContaining("left out")]);
  });
});

it("answers without a patch where there is nothing to fill in", async () => {
  const work = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } };
  expect(await ask("/mutate", work)).toEqual({ uid: "u", allowed: true });
});

it("refuses with the Status that the embedded server sends", async () => {
  const response = await ask("/validate", cluster({}, "Not.A.Name"), { name: "Not.A.Name" });
  expect(response).toMatchObject({
    allowed: false,
    status: { code: 422, reason: "Invalid" },
  });
  expect(JSON.stringify(response)).toContain("metadata.name");
});

it("passes on warnings", async () => {
  const response = await ask("/validate", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: {
      name: "p",
      namespace: "default",
      labels: { "propagationpolicy.karmada.io/permanent-id": "p-id" },
    },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "default" }],
      failover: {
        cluster: {
          purgeMode: "Directly",
          statePreservation: {
            rules: [{ aliasLabelName: "failover.karmada.io/replicas", jsonPath: "{ .replicas }" }],
          },
        },
      },
    },
  });
  expect(response["status"]).toBeUndefined();
  expect(JSON.stringify(response["warnings"])).toContain("StatefulFailoverInjection");
});

it("keeps what is protected from deletion", async () => {
  const labels = { "resourcetemplate.karmada.io/deletion-protected": "Always" };
  const oldObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", labels } };
  expect(await ask("/validate", null, { operation: "DELETE", oldObject })).toMatchObject({
    allowed: false,
    status: { code: 403, reason: "Forbidden" },
  });
});

it("leaves status alone", async () => {
  const more = { subResource: "status", operation: "UPDATE" };
  const bad = cluster({}, "Not.A.Name");
  expect(await ask("/validate", bad, { ...more, oldObject: bad })).toEqual({
    uid: "u",
    allowed: true,
  });
});

it.each([
  ["no JSON", "{", 400],
  ["no review", "[]", 400],
  ["no request", "{}", 400],
  ["an unknown operation", '{"request":{"uid":"u","kind":{},"resource":{},"operation":"X"}}', 400],
  [
    "a write without an object",
    '{"request":{"uid":"u","kind":{},"resource":{},"operation":"CREATE"}}',
    400,
  ],
])("refuses %s", async (_name, text, code) => {
  expect((await answerReview(chains, "/validate", text)).code).toBe(code);
});

it("knows two paths", async () => {
  expect((await answerReview(chains, "/", "{}")).code).toBe(404);
});

it("patches metadata field by field, and escapes names", () => {
  expect(
    patchOf(
      { metadata: { name: "a", labels: { x: "1" }, "a/b~": "1" }, spec: { a: 1 }, old: 1 },
      { metadata: { name: "a", labels: { x: "2" }, "a/b~": "2" }, spec: { a: 1 } },
    ),
  ).toEqual([
    { op: "add", path: "/metadata/labels", value: { x: "2" } },
    { op: "add", path: "/metadata/a~1b~0", value: "2" },
    { op: "remove", path: "/old" },
  ]);
});
