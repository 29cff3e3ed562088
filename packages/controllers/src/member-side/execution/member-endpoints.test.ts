/** What a member's side reports of the pods and nodes of Services: real API servers, slices as a member's controllers write them. */
import {
  type AnyObject,
  endpointSlices,
  failure,
  type New,
  nodes,
  Refused,
  services,
  works,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFleet, type Fleet } from "../../../../../testkit/src/fleet.ts";
import { namespace, newObject, resources } from "../../../../../testkit/src/objects.ts";
import { wrapped } from "../../../../../testkit/src/wrapped-client.ts";
import type { MemberConnection, MemberConnections } from "../../context/member-connections.ts";
import { createExecution } from "../../propagation/execution/create-execution.ts";
import { ES, marked, nameOf, workOf, writesDuring } from "./execution.suite.ts";

const SLICES = endpointSlices;
const PODS = { "lifeboat.dev/traffic-target": "Pods" };
let fleet: Fleet;
/** Whether the member lets its slices be read. */
let isForbidden = false;

function guarded(connections: MemberConnections): MemberConnections {
  const known = new Map<MemberConnection, MemberConnection>();
  const guard = (connection: MemberConnection): MemberConnection => {
    if (connection.kind !== "connected") return connection;
    const { client } = connection;
    const list: Client["list"] = (resource, ...given) =>
      isForbidden && resource.plural === "endpointslices"
        ? Promise.reject(new Refused(failure(403, "Forbidden", "not allowed")))
        : client.list(resource, ...given);
    return { ...connection, client: wrapped(client, { list }) };
  };
  return {
    name: connections.name,
    run: (signal) => connections.run(signal),
    whenSynced: (signal) => connections.whenSynced(signal),
    of: (cluster) => {
      const connection = connections.of(cluster);
      const found = known.get(connection) ?? guard(connection);
      known.set(connection, found);
      return found;
    },
    impersonatorOf: (cluster) => connections.impersonatorOf(cluster),
    onChange: (handler) => connections.onChange(handler),
    excessOf: (cluster) => connections.excessOf(cluster),
    onExcess: (handler) => connections.onExcess(handler),
  };
}

beforeEach(async () => {
  isForbidden = false;
  fleet = await createFleet({
    members: ["m1"],
    memberModel: false,
    services: (context) =>
      createExecution({ ...context, connections: guarded(context.connections) }),
  });
  await fleet.plane.create(resources.namespaces, namespace(ES));
});
afterEach(() => fleet.close());

function service(spec: object = {}, annotations: Record<string, string> = PODS): New<AnyObject> {
  return marked({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default", annotations },
    spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80 }], ...spec },
  });
}

async function create(manifest: New<AnyObject>): Promise<void> {
  await fleet.plane.create(works, workOf(manifest));
  await fleet.advance("10s");
}

const KEY = { namespace: ES, name: nameOf(service()) };

async function reported(): Promise<unknown> {
  const { status } = await fleet.plane.get(works, KEY);
  return status?.manifestStatuses?.[0]?.["status"];
}

const endpoint = (address: string, conditions: object = { ready: true }, nodeName = "n1") => ({
  addresses: [address],
  conditions,
  nodeName,
});

async function put(endpoints: readonly object[], name = "web-1", of = "web"): Promise<void> {
  const { client } = fleet.member("m1");
  const slice = newObject(
    SLICES,
    {
      name,
      namespace: "default",
      labels: { "kubernetes.io/service-name": of, "karmada.io/managed": "true" },
    },
    { addressType: "IPv4", ports: [{ name: "http", port: 8080 }], endpoints },
  );
  const found = (await client.list(SLICES, { namespace: "default" })).items.find(
    ({ metadata }) => metadata.name === name,
  );
  if (found === undefined) await client.create(SLICES, slice);
  else await client.update(SLICES, { ...found, endpoints });
  await fleet.settle();
}

describe("a Service that asks for its pods", () => {
  it("is reported with them, as they come, end and go", async () => {
    await create(service());
    expect(await reported()).toEqual({ endpoints: [] });
    await put([endpoint("10.0.0.1"), endpoint("10.0.0.2")]);
    await fleet.advance("2s");
    const ports = { "80": 8080 };
    expect(await reported()).toEqual({
      endpoints: [{ ports, addresses: ["10.0.0.1", "10.0.0.2"] }],
    });
    await put([
      endpoint("10.0.0.1", { ready: false, serving: true, terminating: true }),
      endpoint("10.0.0.2"),
    ]);
    await fleet.advance("2s");
    expect(await reported()).toEqual({
      endpoints: [{ ports, addresses: ["10.0.0.2"], draining: ["10.0.0.1"] }],
    });
    await fleet.member("m1").client.delete(SLICES, { namespace: "default", name: "web-1" });
    await fleet.advance("2s");
    expect(await reported()).toEqual({ endpoints: [] });
  });

  it("costs one write a second at most, however often its pods change, and none for those of others", async () => {
    await create(service());
    const writes = await writesDuring(fleet, async () => {
      for (let i = 1; i <= 40; i++) {
        await put([endpoint(`10.0.0.${i}`)]);
        await fleet.advance("100ms");
      }
      await fleet.advance("5s");
    });
    // One of 40 is the creation of the slice; the rest are the reports.
    expect(writes - 40).toBeLessThanOrEqual(6);
    expect(await reported()).toMatchObject({ endpoints: [{ addresses: ["10.0.0.40"] }] });
    const others = await writesDuring(fleet, async () => {
      await put([endpoint("10.0.9.9")], "other-1", "other");
      await fleet.advance("5s");
    });
    expect(others).toBe(1);
  });

  it("keeps what was reported while the slices cannot be read, after a restart", async () => {
    await create(service());
    await put([endpoint("10.0.0.1")]);
    await fleet.advance("2s");
    const before = await reported();
    isForbidden = true;
    await fleet.restart();
    const { client } = fleet.member("m1");
    await client.delete(SLICES, { namespace: "default", name: "web-1" });
    await fleet.advance("60s");
    expect(await reported()).toEqual(before);
    isForbidden = false;
    await fleet.advance("60s");
    expect(await reported()).toEqual({ endpoints: [] });
  });

  it("stops being reported with them when it asks no more", async () => {
    await create(service());
    await put([endpoint("10.0.0.1")]);
    await fleet.advance("2s");
    const work = await fleet.plane.get(works, KEY);
    const manifests = [service({}, {})];
    await fleet.plane.update(works, {
      ...work,
      spec: { ...work.spec, workload: { manifests } },
    });
    await fleet.advance("5s");
    expect(await reported()).toBeUndefined();
  });
});

describe("a Service that only some nodes answer for", () => {
  const node = (name: string, address: string, more: object = {}) =>
    newObject(
      nodes,
      { name },
      {
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          addresses: [{ type: "InternalIP", address }],
        },
        ...more,
      },
    );

  it("is reported with those that have a ready pod of it", async () => {
    const { client } = fleet.member("m1");
    for (const one of [node("n1", "192.0.2.1"), node("n2", "192.0.2.2")]) {
      const made = await client.create(nodes, one);
      await client.update(
        nodes,
        { ...made, status: one["status"] },
        {
          subresource: "status",
        },
      );
    }
    await create(service({ type: "NodePort", externalTrafficPolicy: "Local" }, {}));
    const made = await client.get(services, { namespace: "default", name: "web" });
    const { nodePort } = (made as unknown as { spec: { ports: { nodePort: number }[] } }).spec
      .ports[0] ?? { nodePort: 0 };
    const nodePorts = [{ port: 80, nodePort }];
    expect(await reported()).toEqual({ nodePorts, nodes: { addresses: [] } });
    await put([endpoint("10.0.0.1", { ready: true }, "n2")]);
    await fleet.advance("2s");
    expect(await reported()).toEqual({ nodePorts, nodes: { addresses: ["192.0.2.2"] } });
    await put([endpoint("10.0.0.1", { ready: true }, "n1")]);
    await fleet.advance("2s");
    expect(await reported()).toEqual({ nodePorts, nodes: { addresses: ["192.0.2.1"] } });
  });
});
