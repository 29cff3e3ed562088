import { expect, test } from "vitest";
import type { AnyObject } from "@lifeboat/api";
import { createWorld, newObject, refusalOf, resources } from "@lifeboat/testkit";

const { services } = resources;

function service(name: string, spec: object = {}) {
  return newObject(services, { name }, { spec: { ports: [{ port: 80 }], ...spec } });
}
const ipOf = (object: AnyObject): string => (object["spec"] as { clusterIP: string }).clusterIP;

test("a Service gets an address of its own, with what goes with it", async () => {
  const { client } = await createWorld();
  const created = await client.create(services, service("a"));
  expect(ipOf(created)).toMatch(/^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/);
  expect(created["spec"]).toMatchObject({
    clusterIPs: [ipOf(created)],
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
  });
});

test("no two Services share an address, not even when they are created at one moment", async () => {
  const { client } = await createWorld();
  const made = await Promise.all(
    Array.from({ length: 500 }, (_, i) => client.create(services, service(`s${i}`))),
  );
  expect(new Set(made.map(ipOf)).size).toBe(500);
});

test("the same name gets the same address again, and an update keeps it", async () => {
  const { client } = await createWorld();
  const first = await client.create(services, service("a"));
  const blind = service("a", { ports: [{ port: 81 }] }) as AnyObject;
  expect(ipOf(await client.update(services, blind))).toBe(ipOf(first));
  await client.delete(services, { namespace: "default", name: "a" });
  expect(ipOf(await client.create(services, service("a")))).toBe(ipOf(first));
});

test("an address that is taken is refused, also after a restart", async () => {
  const world = await createWorld();
  const taken = ipOf(await world.client.create(services, service("a")));
  await world.restart();
  const asked = world.client.create(services, service("b", { clusterIP: taken }));
  expect(await refusalOf(asked)).toMatchObject({
    code: 422,
    message: `Service "b" is invalid: spec.clusterIPs: Invalid value: ["${taken}"]: failed to allocate IP ${taken}: provided IP is already allocated`,
  });
});

test("headless and external Services get none", async () => {
  const { client } = await createWorld();
  const headless = await client.create(services, service("h", { clusterIP: "None" }));
  expect(headless["spec"]).toMatchObject({ clusterIP: "None", clusterIPs: ["None"] });
  const external = await client.create(
    services,
    newObject(
      services,
      { name: "e" },
      { spec: { type: "ExternalName", externalName: "x.example" } },
    ),
  );
  expect(external["spec"]).not.toHaveProperty("clusterIP");
});
