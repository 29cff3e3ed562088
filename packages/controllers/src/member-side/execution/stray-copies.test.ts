/** Copies with our marks and without a Work: they go when they are provably ours, and only then. */
import { type AnyObject, isRefused, type New, resourceBindings, works } from "@lifeboat/api";
import { afterEach, expect, it } from "vitest";
import { createFleet, type Fleet } from "../../../../../testkit/src/fleet.ts";
import { configMap, namespace, resources } from "../../../../../testkit/src/objects.ts";
import { formatTime } from "@lifeboat/base";
import { changeRecord } from "../../context/fleet-record.ts";
import { holdDeletions } from "../../operating/restored/hold-deletions.ts";
import { createExecution } from "../../propagation/execution/create-execution.ts";
import { ES, marked, workOf } from "./execution.suite.ts";

const BINDING_ID = "resourcebinding.karmada.io/permanent-id";

let fleet: Fleet;
afterEach(() => fleet.close());

/** With a Work of another ConfigMap, so that ConfigMaps of ours are watched in the member. */
async function start(): Promise<void> {
  fleet = await createFleet({ members: ["m1"], services: createExecution });
  await fleet.plane.create(resources.namespaces, namespace(ES));
  await fleet.plane.create(works, workOf(marked(configMap("other"))));
  await fleet.settle();
}

async function createBinding(): Promise<void> {
  const made = await fleet.plane.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { namespace: "default", name: "settings", labels: { [BINDING_ID]: "b1" } },
    spec: {
      resource: { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "settings" },
      clusters: [{ name: "m2" }],
    },
  });
  const aggregatedStatus = [{ clusterName: "m2", applied: true, health: "Healthy" as const }];
  await fleet.plane.update(
    resourceBindings,
    { ...made, status: { ...made.status, aggregatedStatus } },
    { subresource: "status" },
  );
}

/** A copy as an earlier Work left it. */
function stray(id = "b1", es = ES): New<AnyObject> {
  const copy = marked(configMap("settings"), "abort", es);
  const { labels, annotations } = copy.metadata;
  return {
    ...copy,
    metadata: {
      ...copy.metadata,
      labels: { ...labels, [BINDING_ID]: id },
      annotations: {
        ...annotations,
        "resourcebinding.karmada.io/namespace": "default",
        "resourcebinding.karmada.io/name": "settings",
      },
    },
  };
}

async function isThere(): Promise<boolean> {
  try {
    const key = { namespace: "default", name: "settings" };
    await fleet.member("m1").client.get(resources.configMaps, key);
    return true;
  } catch (error) {
    if (isRefused(error, "NotFound")) return false;
    throw error;
  }
}

async function appears(copy: New<AnyObject>): Promise<void> {
  await fleet.member("m1").client.create(resources.configMaps, copy);
  await fleet.advance("1s");
}

it("one whose binding is elsewhere and well goes, and nothing else does", async () => {
  await start();
  await createBinding();
  await appears(stray());
  await fleet.advance("50s");
  expect(await isThere()).toBe(true);
  await fleet.advance("1m");
  expect(await isThere()).toBe(false);
  const key = { namespace: "default", name: "other" };
  await expect(fleet.member("m1").client.get(resources.configMaps, key)).resolves.toBeDefined();
});

it("one stays after a restore of the control plane until a person agrees, whatever its binding", async () => {
  await start();
  await createBinding();
  await holdDeletions(fleet, fleet.plane, "2026-01-01T00:00:00Z");
  await appears(stray());
  await fleet.advance("1h");
  expect(await isThere()).toBe(true);
  await agree();
  await fleet.advance("2m");
  expect(await isThere()).toBe(false);
});

it("the copy of a Work that goes stays after a restore until a person agrees", async () => {
  await start();
  const key = { namespace: "default", name: "other" };
  const [work] = (await fleet.plane.list(works)).items;
  const name = work?.metadata.name ?? "";
  await holdDeletions(fleet, fleet.plane, "2026-01-01T00:00:00Z");
  await fleet.plane.delete(works, { namespace: ES, name });
  await fleet.advance("30m");
  await expect(fleet.member("m1").client.get(resources.configMaps, key)).resolves.toBeDefined();
  const events = (await fleet.plane.list(resources.events)).items as unknown as {
    reason: string;
  }[];
  expect(events.filter(({ reason }) => reason === "RemovalHeld")).toHaveLength(1);
  await agree();
  await fleet.advance("2m");
  expect((await fleet.plane.list(works)).items).toEqual([]);
  await expect(fleet.member("m1").client.get(resources.configMaps, key)).rejects.toThrow();
});

async function agree(): Promise<void> {
  const restoreAgreedAt = formatTime(fleet.clock.now());
  await changeRecord(fleet.plane, (parts) => ({
    ...parts,
    spec: { ...parts.spec, restoreAgreedAt },
  }));
}

it("one that came while no process watched goes at the next start", async () => {
  await start();
  await createBinding();
  fleet.member("m1").link.setFault({ kind: "down" });
  await appears(stray());
  await fleet.restart();
  fleet.member("m1").link.setFault(undefined);
  await fleet.advance("3m");
  expect(await isThere()).toBe(false);
});

it("one goes when its member answers again", async () => {
  await start();
  await createBinding();
  const { link } = fleet.member("m1");
  link.setFault({ kind: "errors" });
  await appears(stray());
  expect(await isThere()).toBe(true);
  link.setFault(undefined);
  await fleet.advance("3m");
  expect(await isThere()).toBe(false);
});

it.each([
  ["of another id", stray("b2")],
  ["that names a Work of another cluster", stray("b1", "karmada-es-m7")],
  ["without our label", { ...configMap("settings") }],
])("one %s stays", async (_what, copy) => {
  await start();
  await createBinding();
  await appears(copy);
  await fleet.advance("5m");
  expect(await isThere()).toBe(true);
});

it("one whose binding is gone stays: its owner is not known", async () => {
  await start();
  await appears(stray());
  await fleet.advance("5m");
  expect(await isThere()).toBe(true);
});

it("one with a Work is that Work's", async () => {
  await start();
  await createBinding();
  await fleet.plane.create(works, workOf(marked(configMap("settings"))));
  await fleet.advance("5m");
  expect(await isThere()).toBe(true);
});
