/** What the fleet's record shows after a restore: the hold, the copies without a Work, and that a person agreed. */
import { evacuationBudgets, findCondition, FLEET_BUDGET, works } from "@lifeboat/api";
import { formatTime } from "@lifeboat/base";
import { configMap, createFleet, type Fleet, namespace, resources } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import { changeRecord } from "../../context/fleet-record.ts";
import { ES, marked, workOf } from "../../member-side/execution/execution.suite.ts";
import { createDeletionGate } from "../../propagation/deletion-gate/create-deletion-gate.ts";
import { createRestoredReport } from "./create-restored-report.ts";
import { holdDeletions } from "./hold-deletions.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

async function start(): Promise<void> {
  fleet = await createFleet({
    members: ["m1"],
    services: (context) => [createDeletionGate(context), createRestoredReport(context)],
  });
  await fleet.plane.create(resources.namespaces, namespace(ES));
  const { client } = fleet.member("m1");
  const known = marked(configMap("known"));
  await fleet.plane.create(works, workOf(known));
  for (const copy of [known, marked(configMap("unknown")), configMap("foreign")])
    await client.create(resources.configMaps, copy);
  await fleet.settle();
}

async function condition(type: string): Promise<string | undefined> {
  const { items } = await fleet.plane.list(evacuationBudgets);
  const found = findCondition(items[0]?.status?.conditions, type);
  return found && `${found.status}: ${found.message}`;
}

async function agree(): Promise<void> {
  const restoreAgreedAt = formatTime(fleet.clock.now());
  await changeRecord(fleet.plane, (parts) => ({
    ...parts,
    spec: { ...parts.spec, restoreAgreedAt },
  }));
  await fleet.settle();
}

it("names the copies without a Work until a person agrees, and nothing of other objects", async () => {
  await start();
  await fleet.advance("5m");
  expect((await fleet.plane.list(evacuationBudgets)).items).toEqual([]);
  await holdDeletions(fleet, fleet.plane, "2026-01-01T00:00:00Z");
  await fleet.advance("1s");
  expect(await condition("RestoredFromBackup")).toContain("backup of 2026-01-01T00:00:00Z");
  expect(await condition("UnknownCopies")).toBe(
    "True: 1 copy has no Work in the restored state: ConfigMap default/unknown in m1",
  );
  await fleet.plane.create(works, workOf(marked(configMap("unknown"))));
  await fleet.advance("1m");
  expect(await condition("UnknownCopies")).toMatch(/^False: Every copy/);
  await agree();
  expect(await condition("RestoredFromBackup")).toMatch(/^False: A person agreed/);
  expect(await condition("UnknownCopies")).toMatch(/^False: A person agreed/);
});

it("tells which members could not be read, and writes nothing while nothing changes", async () => {
  await start();
  fleet.member("m1").link.setFault({ kind: "down" });
  await holdDeletions(fleet, fleet.plane, "");
  await fleet.advance("5m");
  expect(await condition("UnknownCopies")).toMatch(/^Unknown: .*not read: m1$/);
  const key = { namespace: "", name: FLEET_BUDGET };
  const { resourceVersion } = (await fleet.plane.get(evacuationBudgets, key)).metadata;
  await fleet.advance("30m");
  expect((await fleet.plane.get(evacuationBudgets, key)).metadata.resourceVersion).toBe(
    resourceVersion,
  );
});

it("holds again after another restore, although a person agreed to the first", async () => {
  await start();
  await holdDeletions(fleet, fleet.plane, "2026-01-01T00:00:00Z");
  await agree();
  expect(await condition("RestoredFromBackup")).toMatch(/^False/);
  await holdDeletions(fleet, fleet.plane, "2026-01-02T00:00:00Z");
  await fleet.advance("1m");
  expect(await condition("RestoredFromBackup")).toContain("True: The control plane was restored");
});
