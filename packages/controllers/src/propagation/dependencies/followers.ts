/**
 * Keeps the binding of every object that workloads need where those workloads are. One key is one object.
 *
 * 1. An object is reconciled when it changed, when a binding that records it (or is named by its binding) changed in what
 *    matters, and when its own binding changed.
 * 2. An object that does not exist, or whose kind is not served, is left alone: its binding goes with it.
 * 3. No binding is made for an object that the server does not have any more.
 * 4. A change of a binding that another writer undid a moment ago waits (../../context/recent-writes.ts).
 */
import {
  type AnyObject,
  apiVersionOf,
  equalJson,
  formatKey,
  isRefused,
  keyOf,
  type ObjectKey,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import {
  decideFollower,
  type FollowerCommand,
  type FollowerPlan,
  identityIndex,
  type ObjectIdentity,
  recordedDependencies,
  type RecordedDependency,
  refersTo,
} from "@lifeboat/core/propagation/dependencies";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Instant } from "@lifeboat/base";
import {
  checkAgainAt,
  type Controller,
  createController,
  done,
  type Outcome,
  watching,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { RecentWrites } from "../../context/recent-writes.ts";
import { isOnServer, watchingTemplates } from "../../context/templates.ts";
import { isSameContent } from "./changes.ts";

/** The controller that binds what workloads need to where they are. */
export function createFollowers(context: PlaneContext): Controller {
  const { informers, templates } = context;
  const recentWrites = new RecentWrites();
  return createController(context, {
    name: "dependencies-followers",
    concurrency: 4,
    watches: [
      watchingTemplates(templates, (resource, old, now) =>
        keysOfObject(context, resource, old, now),
      ),
      watching(informers.resourceBindings, (old, now) => [
        ...keysOfReferrer(context, old, now),
        ...keysOfAttached(context, old, now),
      ]),
    ],
    reconcile: (key) => look(context, recentWrites, identityOf(key)),
  });
}

/** A key holds apiVersion, kind and name in its name, with spaces between: none of them contains one. */
function keyOfObject({ apiVersion, kind, namespace, name }: ObjectIdentity): ObjectKey {
  return { namespace, name: `${apiVersion} ${kind} ${name}` };
}

function identityOf({ namespace, name: text }: ObjectKey): ObjectIdentity {
  const [apiVersion = "", kind = "", name = ""] = text.split(" ");
  return { apiVersion, kind, namespace, name };
}

function keysOfObject(
  context: PlaneContext,
  resource: Resource,
  old: AnyObject | undefined,
  now: AnyObject | undefined,
): readonly ObjectKey[] {
  const { namespace = "", name } = (now ?? old)?.metadata ?? {};
  if (namespace === "" || name === undefined) return [];
  const identity = { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name };
  if (!concernsFollowing(context, identity) || isSameContent(old, now)) return [];
  return [keyOfObject(identity)];
}

/** Whether a workload may need the object, or is recorded to. */
function concernsFollowing({ informers }: PlaneContext, identity: ObjectIdentity): boolean {
  const isRecorded = identityIndex(identity).some(
    (value) => informers.resourceBindings.byIndex("dependency", value).length > 0,
  );
  return isRecorded || isFollowing(informers.resourceBindings.get(attachedKey(identity)));
}

function isFollowing(binding: ResourceBinding | undefined): boolean {
  return (
    (binding?.spec.requiredBy ?? []).length > 0 ||
    Object.keys(binding?.metadata.labels ?? {}).some((key) =>
      key.startsWith(wellKnown.DEPENDED_BY_PREFIX),
    )
  );
}

function attachedKey({ namespace, kind, name }: ObjectIdentity): ObjectKey {
  return { namespace, name: bindingName(kind, name) };
}

/** What a workload needs or needed, when something changed that its followers depend on. */
function keysOfReferrer(
  context: PlaneContext,
  old: ResourceBinding | undefined,
  now: ResourceBinding | undefined,
): readonly ObjectKey[] {
  const binding = now ?? old;
  if (binding === undefined || isSameReferrer(old, now)) return [];
  const recorded = [old, now].flatMap((state) =>
    state === undefined ? [] : (recordedDependencies(state) ?? []),
  );
  const attached = context.informers.resourceBindings.byIndex(
    "requiredBy",
    formatKey(keyOf(binding)),
  );
  return [
    ...recorded.flatMap((dependency) => objectsOf(context, dependency)),
    ...attached.map(boundObject),
  ];
}

function isSameReferrer(
  old: ResourceBinding | undefined,
  now: ResourceBinding | undefined,
): boolean {
  if (old === undefined || now === undefined) return false;
  return (
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    old.metadata.generation === now.metadata.generation &&
    equalJson(old.metadata.annotations, now.metadata.annotations) &&
    equalJson(old.metadata.finalizers, now.metadata.finalizers) &&
    equalJson(old.metadata.labels, now.metadata.labels)
  );
}

/** The objects that a dependency means now; a named one also while it does not exist. */
function objectsOf(
  { templates }: PlaneContext,
  dependency: RecordedDependency,
): readonly ObjectKey[] {
  const { apiVersion, kind, namespace, name } = dependency;
  if (name !== undefined) return [keyOfObject({ apiVersion, kind, namespace, name })];
  return templates
    .list(apiVersion, kind, namespace)
    .filter((object) => refersTo(dependency, object))
    .map(({ metadata }) => keyOfObject({ apiVersion, kind, namespace, name: metadata.name }));
}

/** The object of a binding that follows a workload, or that came, went or changed while a workload needs the object. */
function keysOfAttached(
  context: PlaneContext,
  old: ResourceBinding | undefined,
  now: ResourceBinding | undefined,
): readonly ObjectKey[] {
  const binding = now ?? old;
  if (binding === undefined || isSameReferrer(old, now)) return [];
  const key = boundObject(binding);
  const isConcerned =
    isFollowing(old) || isFollowing(now) || concernsFollowing(context, identityOf(key));
  return key.namespace !== "" && isConcerned ? [key] : [];
}

function boundObject({ spec }: ResourceBinding): ObjectKey {
  const { apiVersion, kind, namespace = "", name } = spec.resource;
  return keyOfObject({ apiVersion, kind, namespace, name });
}

async function look(
  context: PlaneContext,
  recentWrites: RecentWrites,
  identity: ObjectIdentity,
): Promise<Outcome> {
  const { informers, plane, templates } = context;
  const object = templates.get(identity);
  if (object === undefined) return done;
  const attached = informers.resourceBindings.get(attachedKey(identity));
  const recording = identityIndex(identity).flatMap((value) =>
    informers.resourceBindings.byIndex("dependency", value),
  );
  const named = (attached?.spec.requiredBy ?? []).flatMap(
    ({ namespace = "", name }) => informers.resourceBindings.get({ namespace, name }) ?? [],
  );
  const plan = decideFollower({ object, attached, referrers: [...recording, ...named] });
  const resource = templates.resourceOf(identity.apiVersion, identity.kind);
  const isMade = plan.commands.some(({ kind }) => kind === "create");
  if (isMade && resource !== undefined && !(await isOnServer(plane, resource, object))) return done;
  const again = await carryOut(context, recentWrites, plan);
  return again === undefined ? done : checkAgainAt(again);
}

/** Answers when to go on, where something has to wait. */
async function carryOut(
  { plane, events, time }: PlaneContext,
  recentWrites: RecentWrites,
  plan: FollowerPlan,
): Promise<Instant | undefined> {
  for (const command of plan.commands) {
    const { metadata, spec } = command.binding;
    const content = [metadata.labels ?? {}, spec.requiredBy ?? []];
    const moment = time.moment();
    const again =
      command.kind === "create"
        ? undefined
        : recentWrites.heldUntil(command.binding.metadata.uid, content, moment);
    if (again !== undefined) return again;
    try {
      const written = await write(plane, command);
      recentWrites.note(written.metadata.uid, content, moment.now);
      for (const event of plan.events) events.record(written, event);
    } catch (error) {
      if (!isRefused(error, "Conflict") && !isRefused(error, "AlreadyExists"))
        for (const referrer of plan.concerned)
          events.record(referrer, {
            type: "Warning",
            reason: "SyncScheduleResultToDependenciesFailed",
            message: `Sync schedule results to dependencies failed: ${String(error)}`,
          });
      throw error;
    }
  }
  for (const referrer of plan.concerned)
    events.record(referrer, {
      type: "Normal",
      reason: "SyncScheduleResultToDependenciesSucceed",
      message: "Sync schedule results to dependencies succeed.",
    });
  return undefined;
}

function write(plane: PlaneContext["plane"], command: FollowerCommand): Promise<ResourceBinding> {
  return command.kind === "create"
    ? plane.create(resourceBindings, command.binding)
    : plane.update(resourceBindings, command.binding);
}
