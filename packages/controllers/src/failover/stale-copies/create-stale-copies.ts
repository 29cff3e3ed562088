/**
 * Reports on each Cluster whether copies may still run there that should not (condition StaleCopiesRemoved), and removes a
 * person's declaration that it is off from a Cluster that answers. The rules are in
 * core/failover/eviction-tasks/stale-copies.ts.
 *
 * Works concern a cluster only while it does not answer or waits for them; others cost nothing.
 */
import { type Cluster, clusters, type ObjectKey, setCondition, type Work } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { awaitsStaleCopies, decideStaleCopies } from "@lifeboat/core/failover/eviction-tasks";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { clusterOfWork } from "@lifeboat/core/propagation/works";
import {
  createController,
  done,
  type Outcome,
  ownKey,
  type Service,
  watching,
  whenChanged,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";

const CONCURRENCY = 4;

/** Builds the controller. */
export function createStaleCopies(context: PlaneContext): readonly Service[] {
  const { informers } = context;
  return [
    createController(context, {
      name: "stale-copies",
      concurrency: CONCURRENCY,
      watches: [
        watching(informers.clusters, ownKey),
        watching(
          informers.works,
          whenChanged(isGoing, (work) => clusterConcerned(context, work)),
        ),
      ],
      reconcile: (key, signal) => look(context, key, signal),
    }),
  ];
}

function isGoing({ metadata }: Work): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function clusterConcerned({ informers }: PlaneContext, work: Work): readonly ObjectKey[] {
  const key = { namespace: "", name: clusterOfWork(work) };
  const cluster = informers.clusters.get(key);
  return cluster !== undefined && awaitsStaleCopies(cluster) ? [key] : [];
}

async function look(context: PlaneContext, key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
  const { informers, clock, plane, events } = context;
  const cluster = informers.clusters.get(key);
  if (cluster === undefined) return done;
  const hasStale = awaitsStaleCopies(cluster) && hasGoingWork(context, key.name);
  const { condition, liftFence } = decideStaleCopies(cluster, hasStale);
  if (condition !== undefined) {
    const conditions = setCondition(cluster.status?.conditions, condition, clock.now());
    const status = { ...cluster.status, conditions } as NonNullable<Cluster["status"]>;
    await plane.update(clusters, { ...cluster, status }, { subresource: "status", signal });
    const { status: value, reason, message } = condition;
    events.record(cluster, { type: value === "True" ? "Normal" : "Warning", reason, message });
    // The next reconcile follows from this write.
    return done;
  }
  if (!liftFence) return done;
  const { [wellKnown.FENCED]: _word, ...annotations } = cluster.metadata.annotations ?? {};
  const metadata = { ...cluster.metadata, annotations };
  await plane.update(clusters, { ...cluster, metadata }, { signal });
  events.record(cluster, {
    type: "Normal",
    reason: "FenceLifted",
    message: "The cluster answers again, so it no longer counts as off.",
  });
  return done;
}

function hasGoingWork({ informers }: PlaneContext, cluster: string): boolean {
  return informers.works.byIndex("cluster", executionNamespace(cluster)).some(isGoing);
}
