/**
 * The rights of an agent follow its Cluster (D25). Whether the agent of a Pull cluster is supported is read from its Lease, and
 * reported on the Cluster (D26).
 */
import {
  type Cluster,
  clusterRoles,
  clusters,
  type Condition,
  findCondition,
  orNothing,
  roles,
} from "@lifeboat/api";
import { formatMicroTime } from "@lifeboat/base";
import { agentRoleName } from "@lifeboat/core/clusters/rights";
import { type Client, leases } from "@lifeboat/kit";
import {
  createFleet,
  type Fleet,
  newCluster,
  newNamespace,
  resources,
  wrapped,
} from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { ensureRegistrationRights } from "../../context/agent-registration.ts";
import { createAgents } from "./create-agents.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

async function watched(through: (plane: Client) => Client = (plane) => plane): Promise<void> {
  fleet = await createFleet({
    services: (context) => createAgents({ ...context, plane: through(context.plane) }),
  });
  await fleet.plane.create(resources.namespaces, newNamespace("karmada-cluster"));
  await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "p1" },
    spec: { syncMode: "Pull" },
  });
  await fleet.settle();
}

const KEY = { namespace: "karmada-cluster", name: "p1" };

/** The annotations that are not named stay, as they do when an agent merges its renewal into what it reads. */
async function renew(changes: Readonly<Record<string, string>>, isOurs = false): Promise<void> {
  await fleet.advance("1s");
  const renewTime = formatMicroTime(fleet.clock.now());
  const { items } = await fleet.plane.list(leases, { namespace: KEY.namespace });
  const [found] = items;
  const annotations = {
    ...found?.metadata.annotations,
    ...changes,
    ...(isOurs && { "lifeboat.dev/endorsement": `v1 ${renewTime}` }),
  };
  if (found === undefined)
    await fleet.plane.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { ...KEY, annotations },
      spec: { holderIdentity: "p1", renewTime },
    });
  else
    await fleet.plane.update(leases, {
      ...found,
      metadata: { ...found.metadata, annotations },
      spec: { ...found.spec, renewTime },
    });
  await fleet.settle();
}

async function supported(): Promise<Condition | undefined> {
  const cluster: Cluster = await fleet.plane.get(clusters, { namespace: "", name: "p1" });
  return findCondition(cluster.status?.conditions, "AgentSupported");
}

const tombstoneKey = { namespace: "karmada-cluster", name: "tombstone-p1" };
const roleKey = { namespace: "", name: agentRoleName("p1") };

async function mayReadSecret(): Promise<boolean> {
  const key = { namespace: "karmada-cluster", name: `${agentRoleName("p1")}:secrets` };
  return (await orNothing(fleet.plane.get(roles, key))) !== undefined;
}

describe("the rights of an agent", () => {
  async function registered(): Promise<void> {
    fleet = await createFleet({ services: (context) => createAgents(context) });
    await ensureRegistrationRights(fleet.plane, "p1");
    await fleet.advance("1m");
  }
  const make = async (syncMode: "Push" | "Pull"): Promise<void> => {
    await fleet.plane.create(clusters, newCluster("p1", { syncMode }));
    await fleet.settle();
  };

  it("reach the Secrets of its name once its Cluster exists, and not before", async () => {
    await registered();
    expect(await mayReadSecret()).toBe(false);
    await make("Pull");
    expect(await mayReadSecret()).toBe(true);
    expect(await orNothing(fleet.plane.get(resources.configMaps, tombstoneKey))).toBeUndefined();
  });

  it("end with a tombstone when a Cluster of mode Push has its name, whatever made it", async () => {
    await registered();
    await make("Push");
    expect(await mayReadSecret()).toBe(false);
    expect(await orNothing(fleet.plane.get(clusterRoles, roleKey))).toBeUndefined();
    expect(await fleet.plane.get(resources.configMaps, tombstoneKey)).toMatchObject({
      data: { refusedBefore: "2026-01-01T00:01:00Z" },
    });
  });

  it("end when its Cluster is changed to mode Push", async () => {
    await registered();
    await make("Pull");
    const body = { spec: { syncMode: "Push" } };
    await fleet.plane.patch(clusters, { namespace: "", name: "p1" }, { type: "merge", body });
    await fleet.settle();
    expect(await mayReadSecret()).toBe(false);
    expect(await orNothing(fleet.plane.get(clusterRoles, roleKey))).toBeUndefined();
  });
});

describe("the condition AgentSupported", () => {
  it("waits for the Lease, and is True for an agent that announces endorsement", async () => {
    await watched();
    expect(await supported()).toBeUndefined();
    await renew({}, true);
    expect(await supported()).toMatchObject({ status: "True", reason: "EndorsementKnown" });
  });

  it("refuses another agent with a sentence, on the Cluster and in an Event, until it is replaced", async () => {
    await watched();
    await renew({});
    const refused = await supported();
    expect(refused).toMatchObject({ status: "False", reason: "EndorsementUnknown" });
    expect(refused?.message).toContain("run `lifeboat agent` in this cluster");
    await fleet.advance("2s");
    const { items } = await fleet.plane.list(resources.events);
    expect(items.map((event) => event["reason"])).toContain("EndorsementUnknown");
    await renew({}, true);
    expect(await supported()).toMatchObject({ status: "True" });
  });

  it("does not pass on to another agent that renews the Lease of ours", async () => {
    await watched();
    await renew({}, true);
    expect(await supported()).toMatchObject({ status: "True" });
    await renew({});
    expect(await supported()).toMatchObject({ status: "False", reason: "EndorsementUnknown" });
  });

  it("is written once, however often the Lease is renewed, also after a restart", async () => {
    let writes = 0;
    await watched((plane) =>
      wrapped(plane, {
        update: (...given) => {
          writes += 1;
          return plane.update(...given);
        },
      }),
    );
    for (let i = 0; i < 5; i++) await renew({ other: String(i) }, true);
    await fleet.restart();
    await fleet.advance("1m");
    expect(writes).toBe(1);
  });
});
