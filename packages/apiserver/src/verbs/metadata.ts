/**
 * What the server itself writes into metadata.
 *
 * 1. On create: name (also from generateName), namespace, uid, creationTimestamp, generation 1 where the kind counts
 *    generations. Client values of uid, creationTimestamp, deletionTimestamp and selfLink are ignored.
 * 2. On update: what identifies the object comes from the old state where the client left it out; the generation is
 *    the server's alone.
 * 3. managedFields are never stored in the object.
 */
import { anew, formatTime } from "@lifeboat/base";
import { badRequest, type JsonObject, type NewMeta, type ObjectMeta } from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { VerbDeps } from "./deps.ts";
import type { Target } from "./verbs.ts";

/** As much of generateName as leaves room for the five letters in a name of 63. */
const GENERATE_NAME_MAX = 58;

/** Metadata as clients may send it, system fields included. */
export interface GivenMeta extends NewMeta {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string | null;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
}

export function givenMetaOf(object: JsonObject): GivenMeta {
  return (object["metadata"] ?? {}) as GivenMeta;
}

/** The namespace a request is about: that of the URL, which the body must not contradict. */
export function checkNamespace(target: Target, given: GivenMeta): void {
  if (given.namespace === undefined || given.namespace === "") return;
  if (given.namespace === target.namespace) return;
  throw badRequest(
    "the namespace of the provided object does not match the namespace sent on the request",
  );
}

export function checkName(target: Target, given: GivenMeta): void {
  const name = given.name ?? "";
  if (name === target.name) return;
  if (name === "")
    throw badRequest(
      `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`,
    );
  throw badRequest(
    `the name of the object (${name}) does not match the name on the URL (${target.name})`,
  );
}

/** The metadata of a new object, without a resourceVersion. The name is "" when there is none to be had. */
export function newMetadata(
  deps: VerbDeps,
  resource: ServedResource,
  namespace: string,
  given: GivenMeta,
): ObjectMeta {
  const name = nameFor(deps, given);
  const generation = resource.hasGeneration ? 1 : given.generation;
  const metadata = {
    name,
    ...(given.generateName === undefined ? {} : { generateName: given.generateName }),
    ...(namespace === "" ? {} : { namespace }),
    uid: deps.ids.uid(),
    ...(generation === undefined ? {} : { generation }),
    creationTimestamp: formatTime(deps.clock.now()),
    ...userMetadata(given),
  };
  return metadata as ObjectMeta;
}

/** The metadata after an update, before the generation is decided; resourceVersion is still the old one. */
export function updatedMetadata(given: GivenMeta, old: ObjectMeta): ObjectMeta {
  const deletionTimestamp = given.deletionTimestamp ?? old.deletionTimestamp;
  const grace = given.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds;
  return {
    name: old.name,
    ...(given.generateName === undefined ? {} : { generateName: given.generateName }),
    ...(old.namespace === undefined ? {} : { namespace: old.namespace }),
    uid: old.uid,
    resourceVersion: old.resourceVersion,
    ...(old.generation === undefined ? {} : { generation: old.generation }),
    creationTimestamp: old.creationTimestamp,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace }),
    ...userMetadata(given),
  };
}

/** The part of metadata that belongs to users. */
function userMetadata(given: GivenMeta): NewMeta {
  return {
    ...anew,
    ...(given.labels === undefined ? {} : { labels: given.labels }),
    ...(given.annotations === undefined ? {} : { annotations: given.annotations }),
    ...(given.ownerReferences === undefined ? {} : { ownerReferences: given.ownerReferences }),
    ...(given.finalizers === undefined ? {} : { finalizers: given.finalizers }),
  };
}

function nameFor(deps: VerbDeps, given: GivenMeta): string {
  if (given.name !== undefined && given.name !== "") return given.name;
  if (given.generateName === undefined || given.generateName === "") return "";
  return given.generateName.slice(0, GENERATE_NAME_MAX) + deps.ids.nameSuffix();
}
