/**
 * Large federated StatefulSets in a real `lifeboat up` with members of whatever kind, asked with `dig`: three replicas in each of all
 * clusters, whose local quora survive the loss of one cluster, and twenty in each of some, which no datagram holds.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  type AnyObject,
  type New,
  propagationPolicies,
  services,
  statefulSets,
} from "@lifeboat/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allReady, type BreakableFleet } from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";

const run = promisify(execFile);
const APEX = "fed.svc.example.com";
const NAMESPACE = "default";
const PORTS = [{ name: "peer", port: 2380 }];
/** A hundred replicas are in so many clusters. */
const LARGE = 5;

/** `member1` and so on. */
export function memberNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `member${i + 1}`);
}

/** The suite, for members of these names that `start` starts with a control plane whose names are at `port`. */
export function useCasesSuite(
  kind: string,
  port: number,
  all: readonly string[],
  start: () => Promise<BreakableFleet>,
): void {
  describe(`large federated StatefulSets in ${all.length} ${kind}`, () => {
    const some = all.slice(0, LARGE);
    let fleet: BreakableFleet;

    beforeAll(async () => {
      fleet = await start();
      await eventually(() => allReady(fleet.plane, all.length));
      await put(fleet, "local", 3 * all.length, all);
      await put(fleet, "large", 20 * some.length, some);
    });
    afterAll(() => fleet?.close());

    async function dig(...args: readonly string[]): Promise<string> {
      const at = ["@127.0.0.1", "-p", String(port), "+tries=1", "+time=5"];
      return (await run("dig", [...at, ...args])).stdout;
    }

    /** The pods that the set's name lists; dig asks again by TCP when the answer is truncated. */
    async function listed(set: string): Promise<readonly string[]> {
      const answer = await dig("SRV", `${set}.${NAMESPACE}.${APEX}`);
      const found = answer.matchAll(/IN\s+SRV\s+0 1 2380 ([^.]+)\./g);
      return [...found].map(([, pod]) => pod ?? "").sort();
    }

    /** How many pods of the set are ready in a member, by the StatefulSet that the member has. */
    async function ready(member: string, set: string): Promise<number> {
      const key = { namespace: NAMESPACE, name: `${set}-${member}` };
      const copy = await fleet.members.get(member)?.get(statefulSets, key);
      const status = copy?.["status"] as { readonly readyReplicas?: number } | undefined;
      return status?.readyReplicas ?? 0;
    }

    it("gives each cluster a quorum of three; the loss of one leaves the others whole", async () => {
      const whole = podsOf("local", 3, all);
      await eventually(async () => expect(await listed("local")).toEqual(whole));
      for (const member of all)
        await eventually(async () => expect(await ready(member, "local")).toBe(3));
      const lost = all.at(-1) ?? "";
      await fleet.die(lost);
      const others = all.filter((name) => name !== lost);
      await eventually(async () =>
        expect(await listed("local")).toEqual(podsOf("local", 3, others)),
      );
      for (const other of others) expect(await ready(other, "local")).toBe(3);
      const shown = ["get", "statefulsets", "--kubeconfig", fleet.kubeconfig];
      const { stdout } = await run(lifeboatCommand, shown);
      const [left, total] = [3 * others.length, 3 * all.length];
      expect(stdout).toMatch(new RegExp(`local +${left}/${total} \\(3 unknown\\)`));
      await fleet.revive(lost);
      await eventually(async () => expect(await listed("local")).toEqual(whole));
    });

    it("lists twenty members of each of some clusters by TCP, and tells so by datagram", async () => {
      const whole = podsOf("large", 20, some);
      await eventually(async () => expect(await listed("large")).toEqual(whole));
      const name = `large.${NAMESPACE}.${APEX}`;
      const short = await dig("+notcp", "+ignore", "+bufsize=1232", "SRV", name);
      expect(short).toMatch(/flags:[^;]* tc/);
      expect(Number(/MSG SIZE {2}rcvd: (\d+)/.exec(short)?.[1])).toBeLessThanOrEqual(1232);
      const answer = await dig("+tcp", "SRV", name);
      expect(answer).toMatch(new RegExp(`ANSWER: ${whole.length},`));
      const addresses = (await dig("+tcp", "+short", "A", name)).trim().split("\n");
      expect(new Set(addresses).size).toBe(whole.length);
    });
  });
}

/** A federated set with global names, its headless Service and its policy. */
async function put(
  { plane }: BreakableFleet,
  name: string,
  replicas: number,
  clusterNames: readonly string[],
): Promise<void> {
  const metadata = { namespace: NAMESPACE, name };
  const labels = { app: name };
  const service: New<AnyObject> = {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { clusterIP: "None", selector: labels, ports: PORTS },
  };
  await plane.create(services, service);
  const annotations = {
    "federation.kubernetes.io/federated": "true",
    "federation.kubernetes.io/statefulset-lb-needed": "true",
  };
  const template = { metadata: { labels }, spec: { containers: [{ name, image: name }] } };
  await plane.create(statefulSets, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { ...metadata, annotations },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: "Parallel",
      selector: { matchLabels: labels },
      template,
    },
  });
  await plane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata,
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "StatefulSet", name }],
      placement: { clusterAffinity: { clusterNames } },
    },
  });
}

function podsOf(set: string, share: number, clusters: readonly string[]): readonly string[] {
  return clusters
    .flatMap((cluster) => Array.from({ length: share }, (_, n) => `${set}-${cluster}-${n}`))
    .sort();
}
