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

const nodePortsOf = (object: AnyObject): readonly unknown[] =>
  (object["spec"] as { ports: { nodePort?: number }[] }).ports.map(({ nodePort }) => nodePort);

test("node ports are given to the types that have them, kept on update, and no two alike", async () => {
  const { client } = await createWorld();
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      client.create(services, service(`s${i}`, { type: "NodePort" })),
    ),
  );
  const given = made.flatMap(nodePortsOf);
  expect(new Set(given).size).toBe(50);
  for (const nodePort of given)
    expect(nodePort).toSatisfy((port: number) => port >= 30_000 && port < 32_768);
  const blind = service("s0", { type: "NodePort" }) as AnyObject;
  expect(nodePortsOf(await client.update(services, blind))).toEqual([given[0]]);
  const taken = client.create(
    services,
    service("x", { type: "NodePort", ports: [{ port: 1, nodePort: given[0] }] }),
  );
  expect(await refusalOf(taken)).toMatchObject({
    code: 422,
    message: `Service "x" is invalid: spec.ports[0].nodePort: Invalid value: ${given[0] as number}: provided port is already allocated`,
  });
});

test("a Service that changes its type loses what the new type does not have", async () => {
  const { client } = await createWorld();
  const key = { namespace: "default", name: "a" };
  const created = await client.create(services, service("a", { type: "NodePort" }));
  const inner = await client.patch(services, key, {
    type: "merge",
    body: { spec: { type: "ClusterIP" } },
  });
  expect(nodePortsOf(inner)).toEqual([undefined]);
  expect(inner["spec"]).not.toHaveProperty("externalTrafficPolicy");
  expect(ipOf(inner)).toBe(ipOf(created));
  const outer = await client.patch(services, key, {
    type: "merge",
    body: { spec: { type: "ExternalName", externalName: "x.example" } },
  });
  for (const field of [
    "clusterIP",
    "clusterIPs",
    "ipFamilies",
    "ipFamilyPolicy",
    "internalTrafficPolicy",
  ])
    expect(outer["spec"]).not.toHaveProperty(field);
  const back = await client.patch(services, key, {
    type: "merge",
    body: { spec: { type: "ClusterIP", externalName: null } },
  });
  expect(ipOf(back)).toBe(ipOf(created));
});

test("an address outside the range is refused", async () => {
  const { client } = await createWorld();
  expect(
    await refusalOf(client.create(services, service("a", { clusterIP: "1.2.3.4" }))),
  ).toMatchObject({
    message:
      'Service "a" is invalid: spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range',
  });
});
