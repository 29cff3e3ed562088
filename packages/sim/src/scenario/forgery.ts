/**
 * Somebody who has the identity of a member's agent, and tries with it whatever would harm others: to write what is not the
 * agent's, and to report of its own what is not so: that its copies are healthy, that its cluster is not, that copies of others
 * are in it which should not be; and more than the store should hold.
 *
 * What it writes bears a mark, by which oracles know it. It does not read: it knows everything.
 */
import {
  clusters,
  type Json,
  type KubeObject,
  type ObjectKey,
  type Resource,
  resourceBindings,
  works,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { formatStrays, strayReport } from "@lifeboat/core/propagation/works";
import { type Client, leases } from "@lifeboat/kit";
import type { Ledger } from "../disk/ledger.ts";
import { FORGED, FORGER } from "../oracles/agents.ts";
import { manifestsOf } from "../oracles/reading.ts";
import { WORKS } from "../oracles/truth.ts";
import { Process } from "../process.ts";
import type { Simulation } from "../simulation.ts";
import type { Fault } from "./scenario.ts";

const EVERY_MS = 5000;

type Forgery = Extract<Fault, { readonly fault: "agent-forges" }>;

/** The identity is in other hands from the beginning of the fault until its end. */
export function arrangeForgery(simulation: Simulation, { member, from, until }: Forgery): void {
  const { clock } = simulation;
  clock.after(from * 1000, () => {
    const forger = new Process(`${FORGER}${member}`, clock);
    const plane = simulation.agents.get(member)?.clientOf(forger);
    if (plane === undefined) return;
    const again = (): void => {
      for (const attempt of attempts(simulation, member, plane))
        void attempt().catch(() => {
          // To be refused is what should happen.
        });
      forger.clock.after(EVERY_MS, again);
    };
    again();
    clock.after((until - from) * 1000, () => forger.die());
  });
}

/** Everything that is tried once. */
function attempts(
  { ledger, members }: Simulation,
  member: string,
  plane: Client,
): readonly (() => Promise<unknown>)[] {
  const others = [...members.keys()].filter((name) => name !== member);
  const keysOf = (table: string): readonly ObjectKey[] =>
    ledger.objects("plane", table).map(({ object: { metadata } }) => ({
      namespace: metadata.namespace ?? "",
      name: metadata.name,
    }));
  const allWorks = keysOf(WORKS);
  const ownNamespace = executionNamespace(member);
  const isOwn = ({ namespace }: ObjectKey): boolean => namespace === ownNamespace;
  return [
    ...others.flatMap((name) => ofCluster(plane, name)),
    ...attracting(plane, member),
    () => falseReady(plane, member),
    () => falseStrays(plane, member, ledger),
    ...allWorks.filter((key) => !isOwn(key)).flatMap((key) => ofWork(plane, key)),
    ...allWorks
      .filter(isOwn)
      .flatMap((key) => [
        () => mark(plane, works, key, { spec: { suspendDispatching: true } }),
        () => mark(plane, works, key, {}),
        () => plane.delete(works, key),
        () => falseHealth(plane, key, ledger),
        () => falseHealth(plane, key, ledger, HUGE),
      ]),
    ...keysOf("work.karmada.io/resourcebindings").flatMap((key) => [
      () => mark(plane, resourceBindings, key, { spec: { clusters: [{ name: member }] } }),
      () => plane.delete(resourceBindings, key),
    ]),
  ];
}

/** The Cluster and the Lease of another. */
function ofCluster(plane: Client, name: string): readonly (() => Promise<unknown>)[] {
  const key = { namespace: "", name };
  const lease = { namespace: wellKnown.CLUSTER_NAMESPACE, name };
  const taints = [{ key: FORGED, effect: "NoExecute" }];
  return [
    () => mark(plane, clusters, key, { spec: { taints } }),
    () => falseReady(plane, name),
    () => plane.delete(clusters, key),
    () => mark(plane, leases, lease, { spec: { renewTime: "2036-01-01T00:00:00.000000Z" } }),
  ];
}

/** What would bring work to its own cluster, or keep it there. */
function attracting(plane: Client, name: string): readonly (() => Promise<unknown>)[] {
  const key = { namespace: "", name };
  return [
    () => mark(plane, clusters, key, {}),
    () => plane.patch(clusters, key, merge({ metadata: { labels: { [FORGED]: "x" } } })),
    () =>
      plane.patch(
        clusters,
        key,
        merge({ spec: { taints: [{ key: FORGED, effect: "NoExecute" }] } }),
      ),
  ];
}

/** A Work of another cluster. */
function ofWork(plane: Client, key: ObjectKey): readonly (() => Promise<unknown>)[] {
  const report = { status: { conditions: [condition("Applied", "False")] } };
  return [
    () => mark(plane, works, key, { spec: { suspendDispatching: true } }),
    () => plane.patch(works, key, merge(report), { subresource: "status" }),
    () => plane.delete(works, key),
  ];
}

function falseReady(plane: Client, name: string): Promise<unknown> {
  const body = { status: { conditions: [condition("Ready", "False")] } };
  return plane.patch(clusters, { namespace: "", name }, merge(body), { subresource: "status" });
}

/** More than any object has to report. */
const HUGE = FORGED.repeat(30_000);

/** The copy is healthy, in a report about its present generation. */
function falseHealth(
  plane: Client,
  key: ObjectKey,
  ledger: Ledger,
  message = FORGED,
): Promise<unknown> {
  const held = ledger.find("plane", WORKS, `${key.namespace}/${key.name}`)?.object;
  const [manifest] = held === undefined ? [] : manifestsOf(held);
  if (held === undefined || manifest === undefined) return Promise.resolve();
  const { apiVersion, kind, metadata } = manifest;
  const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", "v1"];
  const { namespace, name } = metadata;
  const identifier = { ordinal: 0, group, version, kind, resource: "", namespace, name };
  const observedGeneration = held.metadata.generation;
  const conditions = ["Applied", "StatusObserved"].map((type) => ({
    ...condition(type, "True"),
    observedGeneration,
  }));
  const status = { replicas: 7, readyReplicas: 7, availableReplicas: 7, message };
  const manifestStatuses = [{ identifier, health: "Healthy", status }];
  const body = { status: { conditions, manifestStatuses } };
  return plane.patch(works, key, merge(body), { subresource: "status" });
}

/** Copies of all workloads, with the names of Works of others, have been in the cluster without a Work for long. */
function falseStrays(plane: Client, member: string, ledger: Ledger): Promise<unknown> {
  const reports = ledger.objects("plane", WORKS).flatMap(({ object }) =>
    manifestsOf(object).map((copy) => {
      const { name } = object.metadata;
      const namespace = executionNamespace(member);
      const marks = { [wellKnown.WORK_NAME]: name, [wellKnown.WORK_NAMESPACE]: namespace };
      const annotations = {
        ...copy.metadata.annotations,
        ...object.metadata.annotations,
        ...marks,
      };
      return strayReport(name, { ...copy, metadata: { ...copy.metadata, annotations } }, LONG_MS);
    }),
  );
  const annotations = { [wellKnown.STRAY_COPIES]: formatStrays(reports) ?? "" };
  const key = { namespace: wellKnown.CLUSTER_NAMESPACE, name: member };
  return plane.patch(leases, key, merge({ metadata: { annotations } }));
}

const LONG_MS = 3_600_000;

function condition(type: string, status: string): object {
  return {
    type,
    status,
    reason: "Forged",
    message: FORGED,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
}

function mark<T extends KubeObject>(
  plane: Client,
  resource: Resource<T>,
  key: ObjectKey,
  body: object,
): Promise<unknown> {
  const metadata = { annotations: { [FORGED]: "x" } };
  return plane.patch(resource, key, merge({ metadata, ...body }));
}

function merge(body: object) {
  return { type: "merge", body: body as Json } as const;
}
