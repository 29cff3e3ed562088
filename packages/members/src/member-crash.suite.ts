/** One story of a member, in which the model may die at any of its writes and another one goes on. */
import type { KubeObject, Resource } from "@lifeboat/api";
import { expect } from "vitest";
import * as kinds from "./kinds.ts";
import {
  createMemberWorld,
  type Death,
  type Loss,
  type MemberWorld,
  newOf,
  template,
  workload,
} from "./member-world.suite.ts";

const key = (name: string) => ({ namespace: "default", name });

/** A rollout, a scale-down, an ordered set, a Job, a Service and a claim, with time between them. */
async function drive({ world, client }: MemberWorld): Promise<void> {
  await client.create(kinds.deployments, workload(kinds.deployments, "web", { replicas: 3 }));
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  const set = { replicas: 2, serviceName: "db", volumeClaimTemplates: [claim] };
  await client.create(kinds.statefulSets, workload(kinds.statefulSets, "db", set));
  const pod = { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } };
  const job = { template: pod, completions: 2 };
  await client.create(kinds.jobs, newOf(kinds.jobs, { name: "sum" }, { spec: job }));
  const service = { type: "LoadBalancer", ports: [{ port: 80 }] };
  await client.create(kinds.services, newOf(kinds.services, { name: "lb" }, { spec: service }));
  await world.advance("20s");
  const body = { spec: { replicas: 2, template: template("web", "200m", "app:2") } };
  await client.patch(kinds.deployments, key("web"), { type: "merge", body });
  await client.patch(kinds.statefulSets, key("db"), {
    type: "merge",
    body: { spec: { replicas: 1 } },
  });
  await world.advance("30s");
}

/** What a member holds, without what differs from run to run: uids, versions, times and the names made of uids. */
async function content({ client }: MemberWorld): Promise<unknown> {
  const list = async <T extends KubeObject>(resource: Resource<T>): Promise<readonly T[]> =>
    (await client.list(resource)).items;
  const pods = (await list(kinds.pods)).map((pod) => [
    pod.metadata.ownerReferences?.[0]?.name,
    pod.spec.containers[0]?.image,
    pod.spec.nodeName,
    pod.status?.phase,
    pod.status?.conditions?.map(({ type, status }) => `${type}=${status}`).sort(),
  ]);
  const statuses = [
    ...(await list(kinds.deployments)).map(({ status }) => status),
    ...(await list(kinds.replicaSets)).map(({ spec, status }) => [spec.replicas, status]),
    ...(await list(kinds.statefulSets)).map(({ status }) => status),
    ...(await list(kinds.jobs)).map(({ status }) => status),
    ...(await list(kinds.claims)).map(({ status }) => status),
    (await list(kinds.services)).filter(({ status }) => status?.loadBalancer?.ingress).length,
  ];
  const seen = JSON.stringify({ pods: pods.map((pod) => JSON.stringify(pod)).sort(), statuses });
  return seen.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME");
}

export interface Run {
  readonly content: unknown;
  readonly writes: number;
  readonly hash: number;
}

export async function run(seed: number, trouble?: Death | Loss): Promise<Run> {
  const member = await createMemberWorld({ startJitterMs: 900 }, seed, trouble);
  await drive(member);
  const [writes, hash] = [member.writes(), member.hash()];
  const result = { content: await content(member), writes, hash };
  await member.stop();
  return result;
}

/** Lets the model die at every `step`-th write, before and after it, and expects the same end each time. */
export async function expectSameEnd(seed: number, step: number): Promise<void> {
  const undisturbed = await run(seed);
  expect(undisturbed.writes).toBeGreaterThan(40);
  for (let write = 1; write <= undisturbed.writes; write += step)
    for (const moment of ["before", "after"] as const) {
      const disturbed = await run(seed, { write, moment });
      expect(disturbed.content, `death ${moment} write ${write}`).toEqual(undisturbed.content);
    }
}
