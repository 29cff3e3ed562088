/** The seed's example of a federated StatefulSet, name for name, through the life of a fleet (D15). */
import {
  clusters,
  type AnyObject,
  configMaps,
  evacuations,
  evacuationSlices,
  orNothing,
  propagationPolicies,
  resourceBindings,
  services,
  statefulSets,
} from "@lifeboat/api";
import { afterEach, describe, expect, it } from "vitest";
import { type Federation, NS, openFederation, STORE } from "./federated.suite.ts";

let federation: Federation;
afterEach(() => federation.fleet.close());

const LB = { "federation.kubernetes.io/statefulset-lb-needed": "true" };
const C3 = ["c1", "c2", "c3"];
const ELEVEN = [
  ..."0123".split("").map((n) => `store-c1-${n}`),
  ..."0123".split("").map((n) => `store-c2-${n}`),
  ..."012".split("").map((n) => `store-c3-${n}`),
];
const at = (name: string) => ({ namespace: NS, name });
const annotation = ({ metadata }: AnyObject, key: string): string | undefined =>
  metadata.annotations?.[`federation.kubernetes.io/${key}`];

describe("11 replicas over c1, c2 and c3", () => {
  it("are 4, 4 and 3 pods with names of their own, and the template counts them all", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(11);
    await federation.fleet.advance("1m");
    expect(await federation.shares()).toEqual({ c1: 4, c2: 4, c3: 3 });
    expect(await federation.podNames(...C3)).toEqual(ELEVEN);
    const { status } = (await federation.fleet.plane.get(statefulSets, STORE)) as AnyObject & {
      status: Record<string, number>;
    };
    expect(status).toMatchObject({ replicas: 11, readyReplicas: 11, updatedReplicas: 11 });
    for (const member of C3) {
      const { client } = federation.fleet.member(member);
      expect(await orNothing(client.get(statefulSets, STORE))).toBeUndefined();
      const copy = await client.get(statefulSets, at(`store-${member}`));
      expect(copy["spec"]).toMatchObject({ serviceName: "etcd" });
      // The headless Service is there unmodified, without a policy of its own.
      const service = await client.get(services, at("etcd"));
      expect(service["spec"]).toMatchObject({ clusterIP: "None", selector: { app: "etcd" } });
      expect(annotation(service, "stateful-replica-list")).toBeUndefined();
      expect(annotation(service, "statefulset-lb-needed")).toBeUndefined();
    }
    const headless = await federation.fleet.plane.get(services, at("etcd"));
    expect(annotation(headless, "stateful-replica-list")).toBe(ELEVEN.join(", "));
    expect(annotation(headless, "statefulset-lb-needed")).toBe("false");
    expect(await federation.condition("HeadlessServiceFound")).toBe("True Found");
    expect(await federation.condition("IdentitiesAssigned")).toBe("True Complete");
  });

  it("every pod bears its name, its cluster and a number of its own", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(5);
    await federation.fleet.advance("1m");
    const ids = new Set<string>();
    for (const member of C3)
      for (const [name, { metadata }] of await federation.pods(member)) {
        expect(metadata.labels).toMatchObject({
          "federated-statefulset": name,
          "lifeboat.dev/federated-set": "store",
          "lifeboat.dev/federated-cluster": member,
        });
        ids.add(metadata.labels?.["lifeboat.dev/federated-id"] ?? "");
      }
    expect([...ids].sort()).toEqual(["10000", "10001", "20000", "20001", "30000"]);
    const { client } = federation.fleet.member("c3");
    const peers = await client.get(configMaps, at("store-peers"));
    expect((peers["data"] as { peers: string }).peers.split("\n").filter(Boolean)).toHaveLength(5);
  });

  it("fewer replicas than clusters: no StatefulSet where the share is 0, the Service everywhere", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(2);
    await federation.fleet.advance("30s");
    expect(await federation.podNames(...C3)).toEqual(["store-c1-0", "store-c2-0"]);
    const { client } = federation.fleet.member("c3");
    expect(await orNothing(client.get(statefulSets, at("store-c3")))).toBeUndefined();
    expect(await client.get(services, at("etcd"))).toBeDefined();
  });
});

describe("scaling", () => {
  it("adds and removes one by one, and down to nothing", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(11, LB);
    await federation.fleet.advance("1m");
    await federation.scale(4);
    await federation.fleet.advance("1m");
    expect(await federation.podNames(...C3)).toEqual([
      "store-c1-0",
      "store-c1-1",
      "store-c2-0",
      "store-c3-0",
    ]);
    expect(await orNothing(federation.fleet.plane.get(services, at("store-c2-1")))).toBeUndefined();
    await federation.scale(0);
    await federation.fleet.advance("2m");
    expect(await federation.podNames(...C3)).toEqual([]);
    await federation.scale(3);
    await federation.fleet.advance("1m");
    expect(await federation.podNames(...C3)).toEqual(["store-c1-0", "store-c2-0", "store-c3-0"]);
  });

  it("a cluster that joins takes part from the next scale-up", async () => {
    federation = await openFederation(["c1", "c2"]);
    await federation.service();
    await federation.set(4);
    await federation.fleet.advance("30s");
    await federation.fleet.addMember("c3");
    await federation.fleet.join("c3");
    await federation.fleet.advance("1m");
    expect(await federation.shares()).toEqual({ c1: 2, c2: 2 });
    expect(await federation.fleet.member("c3").client.get(services, at("etcd"))).toBeDefined();
    await federation.scale(6);
    await federation.fleet.advance("30s");
    expect(await federation.shares()).toEqual({ c1: 2, c2: 2, c3: 2 });
  });
});

describe("nothing moves", () => {
  it("when a cluster dies and is evacuated; when it returns, no pod is made again", async () => {
    federation = await openFederation(C3, { failover: true });
    await federation.service();
    await federation.set(11, LB);
    await federation.fleet.advance("1m");
    const before = await federation.uids("c2");
    federation.fleet.member("c2").link.setFault({ kind: "down" });
    await federation.fleet.advance("20m");
    expect(await federation.ready("c2")).not.toBe("True");
    expect(await federation.shares()).toEqual({ c1: 4, c2: 4, c3: 3 });
    expect(await federation.podNames("c1", "c3")).toEqual(
      ELEVEN.filter((name) => !name.includes("c2")),
    );
    expect((await federation.binding()).spec.gracefulEvictionTasks ?? []).toEqual([]);
    const headless = await federation.fleet.plane.get(services, at("etcd"));
    expect(annotation(headless, "stateful-replica-list")).toBe(ELEVEN.join(", "));
    // A scale-up during the outage goes to the living.
    await federation.scale(13);
    await federation.fleet.advance("1m");
    expect(await federation.shares()).toEqual({ c1: 5, c2: 4, c3: 4 });
    federation.fleet.member("c2").link.setFault(undefined);
    await federation.fleet.advance("5m");
    expect(await federation.ready("c2")).toBe("True");
    expect(await federation.uids("c2")).toEqual(before);
    expect(await federation.podNames("c2")).toEqual(ELEVEN.filter((name) => name.includes("c2")));
    expect(await federation.shares()).toEqual({ c1: 5, c2: 4, c3: 4 });
  });

  it("when a policy edit drops a cluster: the share is held, and a condition reports it", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(3);
    await federation.fleet.advance("30s");
    const placement = { clusterAffinity: { clusterNames: ["c1", "c2"] } };
    await federation.fleet.plane.patch(propagationPolicies, STORE, {
      type: "merge",
      body: { spec: { placement } },
    });
    await federation.fleet.advance("1m");
    expect(await federation.podNames(...C3)).toEqual(["store-c1-0", "store-c2-0", "store-c3-0"]);
    expect(await federation.condition("IdentitiesAssigned")).toBe("False PlacementHeld");
  });

  it("when the control plane dies, or the result is edited", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(11);
    await federation.fleet.advance("1m");
    const before = await federation.uids("c1");
    await federation.fleet.restart();
    await federation.fleet.advance("1m");
    await federation.fleet.plane.patch(
      resourceBindings,
      { namespace: NS, name: "store-statefulset" },
      { type: "merge", body: { spec: { clusters: [{ name: "c3", replicas: 11 }] } } },
    );
    await federation.fleet.advance("1m");
    expect(await federation.podNames(...C3)).toEqual(ELEVEN);
    expect(await federation.uids("c1")).toEqual(before);
  });
});

describe("a person", () => {
  it("forgets a share: the next scale-up brings new replicas, and never there", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(6, LB);
    await federation.fleet.advance("1m");
    await federation.forget("c3");
    await federation.fleet.advance("2m");
    expect(await federation.shares()).toEqual({ c1: 2, c2: 2 });
    expect(await federation.podNames("c3")).toEqual([]);
    expect(await federation.condition("IdentitiesAssigned")).toBe("False ShareGivenUp");
    expect(await orNothing(federation.fleet.plane.get(services, at("store-c3-0")))).toBeUndefined();
    await federation.scale(7);
    await federation.fleet.advance("1m");
    expect(await federation.shares()).toEqual({ c1: 4, c2: 3 });
  });

  it("unjoins a cluster only after its share is forgotten", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(6, LB);
    await federation.fleet.advance("1m");
    const key = { namespace: "", name: "c3" };
    await federation.fleet.plane.delete(clusters, key);
    await federation.fleet.advance("10m");
    expect(await federation.podNames("c3")).toEqual(["store-c3-0", "store-c3-1"]);
    expect(await federation.shares()).toEqual({ c1: 2, c2: 2, c3: 2 });
    await federation.forget("c3");
    await federation.fleet.advance("5m");
    expect(await orNothing(federation.fleet.plane.get(clusters, key))).toBeUndefined();
    expect(await federation.shares()).toEqual({ c1: 2, c2: 2 });
  });

  it("drains a cluster: the set and the Services of its pods are listed as exempt, and stay", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(3, LB);
    await federation.fleet.advance("1m");
    const before = await federation.uids("c1");
    await federation.fleet.plane.patch(
      clusters,
      { namespace: "", name: "c1" },
      {
        type: "merge",
        body: { spec: { taints: [{ key: "lifeboat.dev/drain", effect: "NoExecute" }] } },
      },
    );
    await federation.fleet.advance("5m");
    expect(await federation.uids("c1")).toEqual(before);
    const { items } = await federation.fleet.plane.list(evacuationSlices);
    const entries = items.flatMap(({ spec }) => spec.entries);
    expect(entries.map(({ resource, exempt }) => `${resource.name} ${exempt}`).sort()).toEqual([
      "store FederatedStatefulSet",
      "store-c1-0 FederatedStatefulSet",
    ]);
    expect((await federation.fleet.plane.list(evacuations)).items[0]?.status?.phase).toBe(
      "Completed",
    );
  });
});

describe("one Service per pod", () => {
  it("is in the cluster of its pod alone, has an address, and replaces what had its name", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.fleet.plane.create(services, {
      apiVersion: "v1",
      kind: "Service",
      metadata: at("store-c1-0"),
      spec: { selector: { app: "other" }, ports: [{ port: 1 }] },
    });
    await federation.set(3, LB);
    await federation.fleet.advance("1m");
    const service = await federation.fleet.plane.get(services, at("store-c1-0"));
    expect(service["spec"]).toMatchObject({
      type: "LoadBalancer",
      publishNotReadyAddresses: true,
      ports: [{ name: "store", port: 80 }],
    });
    expect((service["spec"] as { selector: unknown }).selector).toEqual({
      "federated-statefulset": "store-c1-0",
    });
    const { loadBalancer } = service["status"] as { loadBalancer: { ingress: { ip: string }[] } };
    expect(loadBalancer.ingress).toHaveLength(1);
    expect(
      await federation.fleet.member("c1").client.get(services, at("store-c1-0")),
    ).toBeDefined();
    for (const other of ["c2", "c3"])
      expect(
        await orNothing(federation.fleet.member(other).client.get(services, at("store-c1-0"))),
      ).toBeUndefined();
    expect(await federation.condition("PodServicesAddressed")).toBe("True Addressed");
    await federation.edit({
      metadata: { annotations: { "federation.kubernetes.io/statefulset-lb-needed": "false" } },
    });
    await federation.fleet.advance("2m");
    expect(await orNothing(federation.fleet.plane.get(services, at("store-c1-0")))).toBeUndefined();
    expect(
      await orNothing(federation.fleet.member("c1").client.get(services, at("store-c1-0"))),
    ).toBeUndefined();
    expect(await federation.podNames(...C3)).toHaveLength(3);
  });

  it("replaces what has its name in the member, also a headless Service, and Events report it", async () => {
    federation = await openFederation();
    await federation.service();
    const { client } = federation.fleet.member("c1");
    for (const [name, spec] of [
      ["store-c1-0", { type: "ClusterIP" }],
      ["store-c1-1", { clusterIP: "None" }],
    ] as const)
      await client.create(services, {
        apiVersion: "v1",
        kind: "Service",
        metadata: at(name),
        spec: { ...spec, selector: { app: "other" }, ports: [{ name: "store", port: 1 }] },
      });
    await federation.set(4, LB);
    await federation.fleet.advance("1m");
    for (const name of ["store-c1-0", "store-c1-1"]) {
      expect((await client.get(services, at(name)))["spec"]).toMatchObject({
        type: "LoadBalancer",
        selector: { "federated-statefulset": name },
        ports: [{ name: "store", port: 80 }],
      });
      expect(await federation.eventsOf("Service", name)).toContain("ObjectOverwritten");
    }
    expect(await federation.eventsOf("Service", "store-c2-0")).not.toContain("ObjectOverwritten");
    expect(await federation.condition("PodServicesAddressed")).toBe("True Addressed");
  });

  it("of type ClusterIP is found by the address that its member gave it, whatever the plane gave the template", async () => {
    federation = await openFederation();
    await federation.service();
    // A Service that is taken over keeps its address, so that none has the template's by chance.
    for (const member of C3)
      await federation.fleet.member(member).client.create(services, {
        apiVersion: "v1",
        kind: "Service",
        metadata: at(`store-${member}-0`),
        spec: { clusterIP: "10.96.0.77", ports: [{ port: 1 }] },
      });
    await federation.set(3, { ...LB, "federation.kubernetes.io/service-type": "ClusterIP" });
    await federation.fleet.advance("1m");
    const found = federation.globalAddresses();
    for (const member of C3) {
      const key = at(`store-${member}-0`);
      const copy = await federation.fleet.member(member).client.get(services, key);
      expect(copy["spec"]).toMatchObject({ type: "ClusterIP", clusterIPs: ["10.96.0.77"] });
      expect(found.get(key.name)).toEqual(["10.96.0.77"]);
    }
    expect(await federation.condition("PodServicesAddressed")).toBe("True ClusterIP");
  });

  it("goes with its set, and so does what was written on the headless Service", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(3, LB);
    await federation.fleet.advance("1m");
    await federation.fleet.plane.delete(statefulSets, STORE, { propagationPolicy: "Background" });
    await federation.fleet.advance("3m");
    expect(await federation.podNames(...C3)).toEqual([]);
    expect(await orNothing(federation.fleet.plane.get(services, at("store-c1-0")))).toBeUndefined();
    const headless = await federation.fleet.plane.get(services, at("etcd"));
    expect(annotation(headless, "stateful-replica-list")).toBeUndefined();
  });
});

describe("without a headless Service", () => {
  it("a condition reports it, pods run, and it is taken in when it comes", async () => {
    federation = await openFederation();
    await federation.set(3, LB);
    await federation.fleet.advance("30s");
    expect(await federation.condition("HeadlessServiceFound")).toBe("False ServiceMissing");
    expect(await federation.podNames(...C3)).toHaveLength(3);
    await federation.service();
    await federation.fleet.advance("1m");
    expect(await federation.condition("HeadlessServiceFound")).toBe("True Found");
    expect(await federation.condition("PodServicesAddressed")).toBe("True Addressed");
    expect((await federation.fleet.plane.list(clusters)).items).toHaveLength(3);
  });
});

describe("a name that two things have", () => {
  it("is reported on the set that lost it, and no longer when it is free", async () => {
    federation = await openFederation(["c1"]);
    await federation.service();
    await federation.set(1, LB);
    await federation.fleet.advance("30s");
    expect(await federation.condition("NamesUnique")).toBe("True Unique");
    // Another set whose headless Service has the name of this set: the Service wins (D28).
    const labels = { app: "other" };
    const other = {
      apiVersion: "apps/v1" as const,
      kind: "StatefulSet" as const,
      metadata: {
        namespace: NS,
        name: "other",
        annotations: { "federation.kubernetes.io/federated": "true", ...LB },
      },
      spec: {
        serviceName: "store",
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "x" }] } },
      },
    };
    await federation.fleet.plane.create(statefulSets, other);
    await federation.fleet.advance("30s");
    expect(await federation.condition("NamesUnique")).toBe("False NamesTaken");
    await federation.fleet.plane.delete(statefulSets, at("other"));
    await federation.fleet.advance("30s");
    expect(await federation.condition("NamesUnique")).toBe("True Unique");
  });
});
