/**
 * What a member holds, as far as the control plane knows: the copies that its Works say were applied.
 *
 * 1. A copy has the uid and the version that the member answered, where the Work tells: the control plane knows it again.
 * 2. A copy is as its Work says it is to be. Where the Work has changed since, that is not what is there now, but what will
 *    be there a moment later.
 */
import { type AnyObject, findCondition, type Resource, type Work, works } from "@lifeboat/api";
import { createRandom, createSeededIds, hashText, type Ids } from "@lifeboat/base";
import { appliedVersions } from "@lifeboat/core/propagation/observing";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { objectsOf } from "@lifeboat/plane";
import type { WorldSnapshot } from "./read-snapshot.ts";

/** One object of ours in a member. */
export interface Copy {
  readonly resource: Resource;
  readonly manifest: AnyObject;
  /** What the member gave it, as far as it is known. */
  readonly identity: Partial<AnyObject["metadata"]> & { readonly uid: string };
  /** What it reported; absent: nothing. */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The copies that a member holds: those that were seen there. */
export function copiesOf({ tables }: WorldSnapshot, cluster: string): readonly Copy[] {
  const resources = new Map(
    tables.map(({ resource }) => [`${resource.group} ${resource.kind}`, resource]),
  );
  const ids = createSeededIds(createRandom(hashText(cluster)));
  return objectsOf(tables, works)
    .filter(({ metadata }) => metadata.namespace === executionNamespace(cluster))
    .flatMap((work) => copiesOfWork(work, resources, ids));
}

function copiesOfWork(
  work: Work,
  resources: ReadonlyMap<string, Resource>,
  ids: Ids,
): readonly Copy[] {
  const { manifestStatuses = [] } = work.status ?? {};
  const versions = versionsOf(work);
  return manifestsOf(work).flatMap((manifest, ordinal) => {
    const reported = manifestStatuses.find(({ identifier }) => identifier.ordinal === ordinal);
    const resource = resources.get(`${groupOf(manifest.apiVersion)} ${manifest.kind}`);
    if (reported === undefined || resource === undefined) return [];
    const { creationTimestamp } = work.metadata;
    const identity = { creationTimestamp, ...identityOf(versions[ordinal] ?? "", ids) };
    const status = withoutOurs(reported.status);
    return [{ resource, manifest, identity, ...(status && { status }) }];
  });
}

function manifestsOf(work: Work): readonly AnyObject[] {
  return (work.spec.workload?.manifests ?? []) as readonly unknown[] as readonly AnyObject[];
}

/** The versions that the member answered to the last writes that are known. */
function versionsOf({ status }: Work): readonly string[] {
  const observed = findCondition(status?.conditions, "StatusObserved");
  return appliedVersions(observed?.observedGeneration ?? 0, status ?? {}) ?? [];
}

/** See `versionOf` of the core package. */
const VERSION = /^([^/]+)\/(gen|rv):(\d+)$/;

function identityOf(version: string, ids: Ids): Copy["identity"] {
  const [, uid, by, number] = VERSION.exec(version) ?? [];
  if (uid === undefined) return { uid: ids.uid() };
  return by === "rv" ? { uid, resourceVersion: number ?? "" } : { uid, generation: Number(number) };
}

/** What the control plane adds to the status that an object reports. */
const OURS: ReadonlySet<string> = new Set(["generation", "resourceTemplateGeneration"]);

function withoutOurs(status: unknown): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.entries(status ?? {}).filter(([key]) => !OURS.has(key));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
