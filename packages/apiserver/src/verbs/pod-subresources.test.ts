/** Bindings and evictions of pods, over HTTP without a socket. The answers are those that a real server gave. */
import { describe, expect, test } from "vitest";
import type { AnyObject, JsonObject, New, Resource } from "@lifeboat/api";
import { createWorld, newObject, resources, type World } from "@lifeboat/testkit";

const { pods } = resources;
const budgets: Resource = {
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
};
const BASE = "/api/v1/namespaces/default";
const SUCCESS = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
const NODE = { kind: "Node", name: "n" };
const ADMIN = { name: "admin", groups: ["system:masters"] };

function pod(name: string, spec: JsonObject = {}): New<AnyObject> {
  const containers = [{ name: "c", image: "i" }];
  return newObject(pods, { name, labels: { app: "a" } }, { spec: { containers, ...spec } });
}

function binding(metadata: JsonObject, target: JsonObject = NODE): JsonObject {
  return { apiVersion: "v1", kind: "Binding", metadata, target };
}

function eviction(metadata: JsonObject, more: JsonObject = {}): JsonObject {
  return { apiVersion: "policy/v1", kind: "Eviction", metadata, ...more };
}

async function post(
  { server }: World,
  path: string,
  body: JsonObject,
  user = ADMIN,
): Promise<JsonObject> {
  const response = await server.handle({
    method: "POST",
    url: `${BASE}/${path}`,
    headers: { accept: "application/json" },
    body: new TextEncoder().encode(JSON.stringify(body)),
    certificateUser: user,
    signal: new AbortController().signal,
  });
  if (!(response.body instanceof Uint8Array)) throw new Error("the answer is one piece");
  const answer = JSON.parse(new TextDecoder().decode(response.body)) as JsonObject;
  expect(answer["code"]).toBe(response.status);
  return answer;
}

const get = ({ client }: World, name: string): Promise<AnyObject> =>
  client.get(pods, { namespace: "default", name });

describe("binding", () => {
  test.each(["pods/p/binding", "bindings"])("%s puts a pod on a node, once", async (path) => {
    const world = await createWorld();
    const before = await world.client.create(pods, pod("p"));
    const given = binding({ name: "p", annotations: { x: "y" }, labels: { l: "m" } });
    expect(await post(world, path, given)).toEqual(SUCCESS);
    const after = await get(world, "p");
    expect(after).toMatchObject({
      metadata: {
        uid: before.metadata.uid,
        generation: before.metadata.generation,
        labels: { app: "a", l: "m" },
        annotations: { x: "y" },
      },
      spec: { nodeName: "n" },
      status: { conditions: [{ type: "PodScheduled", status: "True", lastProbeTime: null }] },
    });
    expect(await post(world, path, given)).toMatchObject({
      reason: "Conflict",
      message:
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
    });
    expect(await get(world, "p")).toEqual(after);
  });

  test("a dry run changes nothing", async () => {
    const world = await createWorld();
    const before = await world.client.create(pods, pod("p"));
    expect(await post(world, "pods/p/binding?dryRun=All", binding({ name: "p" }))).toEqual(SUCCESS);
    expect(await get(world, "p")).toEqual(before);
  });

  const refused: readonly (readonly [string, string, JsonObject, object])[] = [
    [
      "another name than the URL's",
      "pods/p/binding",
      binding({ name: "other" }),
      { code: 400, message: "name in URL does not match name in Binding object" },
    ],
    ["no name", "bindings", binding({}), { code: 400, message: "Name parameter required." }],
    [
      "a target that is no node",
      "pods/p/binding",
      binding({ name: "p" }, { kind: "Pod", name: "n" }),
      {
        code: 500,
        message: 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      },
    ],
    [
      "a target without a name",
      "pods/p/binding",
      binding({ name: "p" }, { kind: "Node" }),
      { code: 500, message: "target.name: Required value" },
    ],
    [
      "the uid of another pod",
      "pods/p/binding",
      binding({ name: "p", uid: "wrong" }),
      { code: 409, reason: "Conflict" },
    ],
    [
      "a pod that is not there",
      "pods/missing/binding",
      binding({ name: "missing" }),
      { code: 404, message: 'pods "missing" not found' },
    ],
    [
      "a pod behind a gate",
      "pods/gated/binding",
      binding({ name: "gated" }),
      {
        code: 409,
        message:
          'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates',
      },
    ],
  ];
  test.each(refused)("refuses %s", async (_what, path, body, want) => {
    const world = await createWorld();
    await world.client.create(pods, pod("p"));
    await world.client.create(pods, pod("gated", { schedulingGates: [{ name: "a.b/c" }] }));
    expect(await post(world, path, body)).toMatchObject(want);
    expect(await get(world, "p")).not.toHaveProperty("spec.nodeName");
  });

  test("a pod under deletion gets no node any more", async () => {
    const world = await createWorld();
    await world.client.create(pods, {
      ...pod("p"),
      metadata: { ...pod("p").metadata, finalizers: ["a.b/c"] },
    });
    await world.client.delete(pods, { namespace: "default", name: "p" });
    expect(await post(world, "pods/p/binding", binding({ name: "p" }))).toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on pods/binding "p": pod p is being deleted, cannot be assigned to a host',
    });
  });

  test("of two at the same moment one wins", async () => {
    const world = await createWorld();
    await world.client.create(pods, pod("p"));
    const answers = await Promise.all(
      ["n1", "n2"].map((name) =>
        post(world, "pods/p/binding", binding({ name: "p" }, { kind: "Node", name })),
      ),
    );
    expect(answers.map((answer) => answer["code"])).toEqual([201, 409]);
    expect(await get(world, "p")).toHaveProperty("spec.nodeName", "n1");
  });

  test("needs the right to create just that", async () => {
    const world = await createWorld();
    await world.client.create(pods, pod("p"));
    const bob = { name: "bob", groups: [] };
    expect(await post(world, "pods/p/binding", binding({ name: "p" }), bob)).toMatchObject({
      code: 403,
      message: expect.stringContaining('cannot create resource "pods/binding"') as string,
    });
  });
});

async function running(world: World, name: string, isReady = true): Promise<void> {
  const created = await world.client.create(
    pods,
    pod(name, { nodeName: "n", terminationGracePeriodSeconds: 0 }),
  );
  const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
  const status = { phase: "Running", conditions };
  await world.client.update(pods, { ...created, status }, { subresource: "status" });
}

async function budget(world: World, name: string, status: JsonObject, spec: JsonObject = {}) {
  const selector = { matchLabels: { app: "a" } };
  const created = await world.client.create(
    budgets,
    newObject(budgets, { name }, { spec: { selector, minAvailable: 1, ...spec } }),
  );
  await world.client.update(budgets, { ...created, status }, { subresource: "status" });
}

const status = (disruptionsAllowed: number, currentHealthy = 1): JsonObject => ({
  observedGeneration: 1,
  disruptionsAllowed,
  currentHealthy,
  desiredHealthy: 1,
  expectedPods: 2,
});

describe("eviction", () => {
  test("deletes a pod that no budget covers", async () => {
    const world = await createWorld();
    await running(world, "p");
    expect(await post(world, "pods/p/eviction", eviction({ name: "p" }))).toEqual(SUCCESS);
    expect(await post(world, "pods/p/eviction", eviction({ name: "p" }))).toMatchObject({
      code: 404,
      message: 'pods "p" not found',
    });
  });

  test("takes the room of a budget, and is told to wait when there is none", async () => {
    const world = await createWorld();
    await running(world, "p");
    await running(world, "q");
    await budget(world, "b", status(1, 2));
    expect(await post(world, "pods/p/eviction?dryRun=All", eviction({ name: "p" }))).toEqual(
      SUCCESS,
    );
    expect(await post(world, "pods/p/eviction", eviction({ name: "p" }))).toEqual(SUCCESS);
    expect(await world.client.get(budgets, { namespace: "default", name: "b" })).toMatchObject({
      status: {
        disruptionsAllowed: 0,
        disruptedPods: { p: expect.any(String) as string },
        conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" }],
      },
    });
    expect(await post(world, "pods/q/eviction", eviction({ name: "q" }))).toMatchObject({
      code: 429,
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          {
            reason: "DisruptionBudget",
            message: "The disruption budget b needs 1 healthy pods and has 2 currently",
          },
        ],
      },
    });
    await get(world, "q");
  });

  test("waits for a budget that nobody has looked at", async () => {
    const world = await createWorld();
    await running(world, "p");
    await budget(world, "b", {});
    expect(await post(world, "pods/p/eviction", eviction({ name: "p" }))).toMatchObject({
      code: 429,
      details: { retryAfterSeconds: 10 },
    });
  });

  test.each([
    ["a pod that waits is not covered", false, status(0), {}],
    ["an unready pod goes when the budget is healthy", true, status(0, 1), {}],
    [
      "an unready pod goes when the budget always lets it",
      true,
      status(0, 0),
      { unhealthyPodEvictionPolicy: "AlwaysAllow" },
    ],
  ])("%s", async (_what, runs, of, spec) => {
    const world = await createWorld();
    if (runs) await running(world, "p", false);
    else await world.client.create(pods, pod("p"));
    await budget(world, "b", of, spec);
    expect(await post(world, "pods/p/eviction", eviction({ name: "p" }))).toEqual(SUCCESS);
  });

  test("an unready pod stays when the budget is short already", async () => {
    const world = await createWorld();
    await running(world, "p", false);
    await budget(world, "b", status(0, 0));
    expect(await post(world, "pods/p/eviction", eviction({ name: "p" }))).toMatchObject({
      code: 429,
    });
  });

  test("two budgets for one pod are refused", async () => {
    const world = await createWorld();
    await running(world, "p");
    await budget(world, "b", status(1));
    await budget(world, "c", status(1));
    expect(await post(world, "pods/p/eviction", eviction({ name: "p" }))).toMatchObject({
      code: 500,
      message:
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    });
  });

  test("respects preconditions, and names that must agree", async () => {
    const world = await createWorld();
    await running(world, "p");
    const deleteOptions = { preconditions: { uid: "wrong" } };
    expect(
      await post(world, "pods/p/eviction", eviction({ name: "p" }, { deleteOptions })),
    ).toMatchObject({ code: 409, reason: "Conflict" });
    expect(await post(world, "pods/p/eviction", eviction({ name: "q" }))).toMatchObject({
      code: 400,
      message: "name in URL does not match name in Eviction object",
    });
    expect(await post(world, "pods/p/eviction", binding({ name: "p" }))).toMatchObject({
      code: 400,
      message:
        'Binding in version "v1" cannot be handled as a Eviction: converting (v1.Binding) to (policy.Eviction): unknown conversion',
    });
    await get(world, "p");
  });
});
