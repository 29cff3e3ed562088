/**
 * A federated StatefulSet from its manifest to the answers of the DNS server, in a real `lifeboat up` with three members of
 * whatever kind: eleven replicas, a cluster that dies and returns, and one replica more.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  type AnyObject,
  configMaps,
  type New,
  pods,
  propagationPolicies,
  services,
  statefulSets,
} from "@lifeboat/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allReady, type BreakableFleet, MEMBERS } from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";

const run = promisify(execFile);
const APEX = "fed.svc.example.com";
const key = { namespace: "default", name: "store" };

const headless: New<AnyObject> = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace: "default", name: "etcd" },
  spec: { clusterIP: "None", selector: { app: "etcd" }, ports: [{ name: "peer", port: 2380 }] },
};
const set: New<AnyObject> = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: {
    ...key,
    annotations: {
      "federation.kubernetes.io/federated": "true",
      "federation.kubernetes.io/statefulset-lb-needed": "true",
    },
  },
  spec: {
    replicas: 11,
    serviceName: "etcd",
    selector: { matchLabels: { app: "etcd" } },
    template: {
      metadata: { labels: { app: "etcd" } },
      spec: { containers: [{ name: "etcd", image: "etcd" }] },
    },
  },
};

const identities = (shares: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(shares).flatMap(([member, count]) =>
    Array.from({ length: count }, (_, ordinal) => `store-${member}-${ordinal}`),
  );
const ALL = identities({ member1: 4, member2: 4, member3: 3 });

/** The flags of a control plane that serves the names at a port, and notices deaths soon. */
export function federatedFlags(port: number): readonly string[] {
  return [
    `--dns-listen=127.0.0.1:${port}`,
    "--dns-zone=example.com",
    "--federation-name=fed",
    "--cluster-failure-threshold=2s",
    "--cluster-success-threshold=2s",
  ];
}

/** The suite, for members that `start` starts with a control plane whose names are at `port`. */
export function federatedSuite(
  name: string,
  port: number,
  start: () => Promise<BreakableFleet>,
): void {
  describe(`a federated StatefulSet in ${name}`, () => {
    let fleet: BreakableFleet;

    beforeAll(async () => {
      fleet = await start();
      await eventually(() => allReady(fleet.plane));
      await fleet.plane.create(services, headless);
      await fleet.plane.create(statefulSets, set);
      await fleet.plane.create(propagationPolicies, {
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: "PropagationPolicy",
        metadata: key,
        spec: {
          resourceSelectors: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "store" }],
          placement: {},
        },
      });
    });
    afterAll(() => fleet?.close());

    /** The pods that a name lists, by one datagram or by TCP. */
    async function listed(name: string, transport: "+notcp" | "+tcp"): Promise<readonly string[]> {
      const question = ["SRV", `${name}.default.${APEX}`, transport, "+ignore", "+bufsize=1232"];
      const { stdout } = await run("dig", ["@127.0.0.1", "-p", String(port), ...question]);
      expect(stdout).not.toMatch(/flags:[^;]* tc/);
      return [...stdout.matchAll(/IN\s+SRV\s+0 1 2380 (\S+?)\.etcd\.default/g)]
        .map(([, pod]) => pod ?? "")
        .sort();
    }

    async function address(pod: string): Promise<string> {
      const { stdout } = await run("dig", [
        "@127.0.0.1",
        "-p",
        String(port),
        "+short",
        "A",
        `${pod}.etcd.default.${APEX}`,
      ]);
      return stdout.trim();
    }

    /** The uids of the set's pods in a member, by name. */
    async function podsIn(member: string): Promise<ReadonlyMap<string, string>> {
      const client = fleet.members.get(member);
      const { items } = (await client?.list(pods, {
        namespace: "default",
        labelSelector: "app=etcd",
      })) ?? { items: [] };
      return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]));
    }

    it(
      "is shared out name for name, and found by both of its names",
      { timeout: 120_000 },
      async () => {
        await eventually(async () => {
          for (const name of ["store", "etcd"])
            for (const transport of ["+notcp", "+tcp"] as const)
              expect(await listed(name, transport)).toEqual(ALL.toSorted());
        }, 90_000);
        // Members are listed before they run (D28): pods are made one after another.
        await eventually(async () => {
          const names = await Promise.all(MEMBERS.map(podsIn));
          expect(names.flatMap((one) => [...one.keys()]).sort()).toEqual(ALL.toSorted());
        }, 60_000);
        expect(await address("store-member2-1")).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
        const rolled = ["rollout", "status", "statefulset/store", "--timeout=60s"];
        expect((await fleet.kubectl.run(rolled)).stdout).toContain("complete");
      },
    );

    it("gives members the headless Service as it was written, the list of all pods, and each pod what it has to know", async () => {
      const client = fleet.members.get("member3");
      const { metadata } = (await client?.get(services, { ...key, name: "etcd" })) ?? {};
      const written = Object.keys(metadata?.annotations ?? {});
      expect(written.filter((name) => name.startsWith("federation.kubernetes.io/"))).toEqual([]);
      const peers = await client?.get(configMaps, { ...key, name: "store-peers" });
      expect(peers?.["data"]).toMatchObject({ peers: ALL.map((pod) => `${pod}\n`).join("") });
      await eventually(async () => {
        const pod = await client?.get(pods, { ...key, name: "store-member3-2" });
        expect(pod?.metadata.labels).toMatchObject({
          "federated-statefulset": "store-member3-2",
          "lifeboat.dev/federated-cluster": "member3",
          "lifeboat.dev/federated-id": "30002",
        });
      });
    });

    it(
      "loses a cluster from its answers and nothing else, and gets it back with the same pods",
      { timeout: 180_000 },
      async () => {
        const before = await podsIn("member1");
        const old = await address("store-member1-0");
        await fleet.die("member1");
        const others = ALL.filter((pod) => !pod.includes("member1")).toSorted();
        await eventually(
          async () => expect(await listed("store", "+notcp")).toEqual(others),
          90_000,
        );
        // A scale-up goes to the living; no identity moves.
        await fleet.kubectl.run(["scale", "statefulset", "store", "--replicas=12"]);
        await eventually(async () => {
          expect(await listed("store", "+notcp")).toEqual([...others, "store-member3-3"]);
        }, 60_000);

        await fleet.revive("member1");
        await eventually(async () => {
          expect(await listed("store", "+notcp")).toEqual([...ALL, "store-member3-3"].toSorted());
        }, 90_000);
        expect(await podsIn("member1")).toEqual(before);
        expect(await address("store-member1-0")).toBe(old);
      },
    );
  });
}
