/** A fleet of three members, all of whose Deployments are moved away from the first: what the benchmarks of failover share. */
import { setTimeout as pause } from "node:timers/promises";
import {
  type Cluster,
  clusters,
  propagationPolicies,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { type Client, Informer, silentLog, silentMetrics } from "@lifeboat/kit";
import { createDeployments, DEPLOYMENTS } from "../bench-plane/plane.ts";

const PATIENCE_MS = 600_000;
const LOOK_MS = 50;
export const PODS_PER_NODE = 200;
/** The member that everything leaves. */
export const SOURCE = "member1";

/** Resolves when the control plane has come to rest. */
type Quiet = (plane: Client) => Promise<void>;

/** Everything on the first member: the others take nothing until it is there. */
export async function fill(plane: Client, count: number, quiet: Quiet): Promise<void> {
  const others = ["member2", "member3"];
  for (const name of others) await taint(plane, name, [{ key: "full", effect: "NoSchedule" }]);
  await plane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { namespace: "default", name: "bench" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      placement: { spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }] },
    },
  });
  await createDeployments(plane, count, 1);
  await until("every Deployment is ready", () => isReady(plane, count));
  for (const name of others) await taint(plane, name, []);
  await quiet(plane);
}

export async function taint(
  plane: Client,
  name: string,
  taints: NonNullable<Cluster["spec"]["taints"]>,
): Promise<void> {
  const key = { namespace: "", name };
  await plane.patch(clusters, key, { type: "merge", body: { spec: { taints: [...taints] } } });
}

async function isReady(plane: Client, count: number): Promise<boolean> {
  const { items } = await plane.list(DEPLOYMENTS, { namespace: "default" });
  const ready = items.filter((one) => {
    const status = (one["status"] ?? {}) as { readonly readyReplicas?: number };
    return status.readyReplicas === 1;
  });
  return ready.length === count;
}

/** Waits until every binding is elsewhere. It watches: to ask again and again would be measured as work of the plane. */
export async function areMoved(plane: Client, count: number): Promise<void> {
  const stop = new AbortController();
  const deadline = setTimeout(() => stop.abort(), PATIENCE_MS);
  const ports = {
    clock: createRealClock(),
    random: createRandom(1),
    log: silentLog,
    metrics: silentMetrics,
  };
  const bindings = new Informer(ports, plane, resourceBindings, { namespace: "default" });
  const moved = new Set<string>();
  bindings.onChange((_old, now) => {
    if (now === undefined) return;
    if (isMoved(now)) moved.add(now.metadata.name);
    else moved.delete(now.metadata.name);
    if (moved.size === count) stop.abort();
  });
  await bindings.run(stop.signal);
  clearTimeout(deadline);
  if (moved.size < count) throw new Error(`${moved.size} of ${count} Deployments moved`);
}

/** Whether a binding is elsewhere, with a healthy copy, and no task is left. */
function isMoved({ spec, status }: ResourceBinding): boolean {
  const [target] = spec.clusters ?? [];
  if (target === undefined || target.name === SOURCE) return false;
  const report = status?.aggregatedStatus?.find(({ clusterName }) => clusterName === target.name);
  return report?.health === "Healthy" && (spec.gracefulEvictionTasks ?? []).length === 0;
}

export async function copiesIn(member: Client): Promise<number> {
  const { items } = await member.list(DEPLOYMENTS, { namespace: "default" });
  return items.length;
}

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`it never came that ${what}`);
    await pause(LOOK_MS);
  }
}
