/**
 * Carries out Remedies: one reconcile per Cluster writes which Remedies act on it (annotation `lifeboat.dev/remedy-sources`) and which
 * actions that gives (`status.remedyActions`). The rules are in core/remedy/actions.
 *
 * 1. It is the one writer of both. Whatever another client writes there is corrected.
 * 2. Nothing is written by the cached Remedies alone: the server is asked for them first. Of two leaders, one whose cache lacks a
 *    Remedy would end its actions as often as the other begins them.
 * 3. A block for conditions stands on the fleet's record before it stands on the Cluster (`traffic-brake.ts`).
 * 4. The annotation is written before the status, each with the resourceVersion that was decided on. A process that dies between
 *    the two leaves what the next reconcile completes.
 */
import { type Cluster, clusters, equalJson, keyOf, type ObjectKey, remedies } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import {
  asksBrake,
  decideRemedy,
  isBlockHeld,
  type RemedyPlan,
} from "@lifeboat/core/remedy/actions";
import {
  type ControllerWatch,
  createController,
  done,
  type Outcome,
  type Service,
  watching,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { TrafficBrake } from "./traffic-brake.ts";

/** Builds the controller of Remedies, and what shows that a person released its brake. */
export function createRemedies(context: PlaneContext): readonly Service[] {
  const { informers } = context;
  const brake = new TrafficBrake(context);
  const allClusters = (): readonly ObjectKey[] => informers.clusters.list().map(keyOf);
  const heldClusters = (): readonly ObjectKey[] =>
    informers.clusters.list().filter(isBlockHeld).map(keyOf);
  return [
    brake,
    createController(context, {
      name: "remedy",
      // One at a time: the brake counts what was let through before.
      concurrency: 1,
      watches: [
        watching(informers.clusters, changedForRemedies),
        watching(informers.remedies, allClusters),
        watching(informers.evacuationBudgets, heldClusters),
        onceSynced(context, allClusters),
      ],
      reconcile: (key, signal) => reconcile(context, brake, key, signal),
    }),
  ];
}

/** Counts of nodes and pods change all the time, and concern no Remedy. */
function changedForRemedies(
  old: Cluster | undefined,
  now: Cluster | undefined,
): readonly ObjectKey[] {
  if (now === undefined) return [];
  const isSame =
    old !== undefined &&
    old.metadata.uid === now.metadata.uid &&
    equalJson(old.status?.conditions, now.status?.conditions) &&
    equalJson(old.status?.remedyActions, now.status?.remedyActions) &&
    sourcesOf(old) === sourcesOf(now);
  return isSame ? [] : [keyOf(now)];
}

function sourcesOf({ metadata }: Cluster): string | undefined {
  return metadata.annotations?.[wellKnown.REMEDY_SOURCES];
}

/** Without any Remedy there may still be the actions of a deleted one. */
function onceSynced(context: PlaneContext, keys: () => readonly ObjectKey[]): ControllerWatch {
  return {
    whenSynced: (signal) => context.informers.remedies.whenSynced(signal),
    subscribe: (add) => {
      for (const key of keys()) add(key);
      return () => {};
    },
  };
}

async function reconcile(
  context: PlaneContext,
  brake: TrafficBrake,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Outcome> {
  const { informers, plane, clock } = context;
  const cluster = informers.clusters.get(key);
  if (cluster === undefined) return done;
  const cached = { cluster, remedies: informers.remedies.list(), mayBlock: true };
  if (isNothing(decideRemedy(cached, clock.now()))) return done;
  const { items } = await plane.list(remedies, { signal });
  const view = { cluster, remedies: items };
  const mayBlock = !asksBrake(view) || (await brake.admit(key.name, signal));
  const plan = decideRemedy({ ...view, mayBlock }, clock.now());
  await apply(context, cluster, plan, signal);
  return done;
}

function isNothing({ sources, actions }: RemedyPlan): boolean {
  return sources === undefined && actions === undefined;
}

async function apply(
  { plane, events }: PlaneContext,
  cluster: Cluster,
  { sources, actions, events: planned }: RemedyPlan,
  signal: AbortSignal,
): Promise<void> {
  let current = cluster;
  if (sources !== undefined) {
    const { [wellKnown.REMEDY_SOURCES]: _old, ...others } = cluster.metadata.annotations ?? {};
    const annotations =
      sources === null ? others : { ...others, [wellKnown.REMEDY_SOURCES]: sources };
    const metadata = { ...cluster.metadata, annotations };
    current = await plane.update(clusters, { ...cluster, metadata }, { signal });
  }
  if (actions !== undefined) {
    const { remedyActions: _old, ...rest } = current.status ?? {};
    const status = actions.length === 0 ? rest : { ...rest, remedyActions: actions };
    await plane.update(clusters, { ...current, status }, { subresource: "status", signal });
  }
  for (const event of planned) events.record(cluster, event);
}
