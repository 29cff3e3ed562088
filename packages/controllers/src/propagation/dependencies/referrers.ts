/**
 * Records on the binding of each workload what the workload needs. One key is one ResourceBinding.
 *
 * 1. A binding is reconciled when its spec, its record or its template's content changed, when a script changed that finds
 *    what its kind needs, and when what follows it changed.
 * 2. Nothing else of the binding is written than the record: an annotation and a finalizer.
 * 3. A record that another writer undid a moment ago waits (../../context/recent-writes.ts).
 */
import {
  type AnyObject,
  equalJson,
  formatKey,
  keyOf,
  type ObjectKey,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { isFederated } from "@lifeboat/core/federated";
import {
  decideReferrer,
  dependenciesToRecord,
  type RecordedDependency,
} from "@lifeboat/core/propagation/dependencies";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import {
  checkAgainAt,
  type Controller,
  createController,
  done,
  type Outcome,
  ownKey,
  watching,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { kindIndexValue } from "../../context/informers.ts";
import { InterpretationFailed } from "../../context/interpretation.ts";
import { RecentWrites } from "../../context/recent-writes.ts";
import { watchingTemplates } from "../../context/templates.ts";
import { isSameContent } from "./changes.ts";

/** The controller that records what workloads need. */
export function createReferrers(context: PlaneContext): Controller {
  const { informers, interpretation, templates } = context;
  const recentWrites = new RecentWrites();
  return createController(context, {
    name: "dependencies-referrers",
    concurrency: 4,
    watches: [
      watching(informers.resourceBindings, keysOfBinding),
      watchingTemplates(templates, (resource, old, now) =>
        keysOfTemplate(context, resource, old, now),
      ),
      {
        whenSynced: (signal) => interpretation.whenSynced(signal),
        subscribe: (add) =>
          interpretation.onChange((apiVersion, kind) => {
            const value = kindIndexValue({ apiVersion, kind }, undefined);
            for (const binding of informers.resourceBindings.byIndex("kind", value))
              if (binding.spec.propagateDeps === true) add(keyOf(binding));
          }),
      },
    ],
    reconcile: (key) => look(context, recentWrites, key),
  });
}

function keysOfBinding(
  old: ResourceBinding | undefined,
  now: ResourceBinding | undefined,
): readonly ObjectKey[] {
  const keys = isSameReferrer(old, now) ? [] : [...ownKey(old, now)];
  const before = old?.spec.requiredBy ?? [];
  const after = now?.spec.requiredBy ?? [];
  if (old === undefined || now === undefined || !equalJson(before, after))
    for (const { namespace = "", name } of [...before, ...after]) keys.push({ namespace, name });
  return keys;
}

function isSameReferrer(
  old: ResourceBinding | undefined,
  now: ResourceBinding | undefined,
): boolean {
  return (
    old !== undefined &&
    now !== undefined &&
    old.metadata.generation === now.metadata.generation &&
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    equalJson(old.metadata.finalizers, now.metadata.finalizers) &&
    old.metadata.annotations?.[wellKnown.DEPENDENCIES] ===
      now.metadata.annotations?.[wellKnown.DEPENDENCIES]
  );
}

function keysOfTemplate(
  { informers }: PlaneContext,
  { kind }: Resource,
  old: AnyObject | undefined,
  now: AnyObject | undefined,
): readonly ObjectKey[] {
  const { namespace = "", name = "" } = (now ?? old)?.metadata ?? {};
  if (namespace === "") return [];
  const key = { namespace, name: bindingName(kind, name) };
  if (informers.resourceBindings.get(key) === undefined || isSameContent(old, now)) return [];
  return [key];
}

async function look(
  context: PlaneContext,
  recentWrites: RecentWrites,
  key: ObjectKey,
): Promise<Outcome> {
  const { informers, plane, events, templates, time } = context;
  const binding = informers.resourceBindings.get(key);
  if (binding === undefined) return done;
  const plan = decideReferrer({
    binding,
    dependencies: await neededBy(context, binding),
    hasFollowers: informers.resourceBindings.byIndex("requiredBy", formatKey(key)).length > 0,
  });
  for (const command of plan.commands) {
    const { uid, finalizers = [], annotations } = command.binding.metadata;
    const content = [finalizers, annotations?.[wellKnown.DEPENDENCIES] ?? ""];
    const moment = time.moment();
    const again = recentWrites.heldUntil(uid, content, moment);
    if (again !== undefined) return checkAgainAt(again);
    await plane.update(resourceBindings, command.binding);
    recentWrites.note(uid, content, moment.now);
  }
  const template = templates.get(binding.spec.resource);
  if (plan.reason === "Recorded" && plan.commands.length > 0 && template !== undefined)
    events.record(template, {
      type: "Normal",
      reason: "GetDependenciesSucceed",
      message: `Get dependencies(${plan.commands[0]?.binding.metadata.annotations?.[wellKnown.DEPENDENCIES] ?? "[]"}) succeed.`,
    });
  return done;
}

/** What the workload of a binding needs; undefined while that cannot be known. */
async function neededBy(
  { interpretation, templates, events }: PlaneContext,
  binding: ResourceBinding,
): Promise<readonly RecordedDependency[] | undefined> {
  if (binding.metadata.deletionTimestamp !== undefined) return undefined;
  const { resource, propagateDeps } = binding.spec;
  const template = templates.get(resource);
  if (template === undefined) return undefined;
  if (resource.uid !== undefined && resource.uid !== template.metadata.uid) return undefined;
  try {
    const needed = propagateDeps === true ? await interpretation.dependencies(template) : [];
    return dependenciesToRecord(template, needed, isFederated(binding));
  } catch (error) {
    if (error instanceof InterpretationFailed)
      events.record(template, {
        type: "Warning",
        reason: "GetDependenciesFailed",
        message: `Get dependencies failed: ${error.message}`,
      });
    throw error;
  }
}
