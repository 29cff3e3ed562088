/**
 * Finds the place of each manifest's object in the member: the resource that serves its kind, its namespace and its name.
 *
 * 1. A manifest that has no place gets the outcome that gives the reason, and does not hold up the other manifests of its Work.
 * 2. "The member does not serve the kind" is `failed`; "the member does not answer" is `unknown`: only the first proves that
 *    the member has no such object.
 * 3. Names become parts of request paths, so a name that is not one path segment has no place.
 */
import { pathSegmentProblems, type Work } from "@lifeboat/api";
import type { Fields } from "@lifeboat/core";
import { applyReasons, describeObject } from "@lifeboat/core/propagation/applying";
import type { ApplyOutcome } from "@lifeboat/core/propagation/observing";
import { unknownOutcome } from "./keep-manifest.ts";
import type { MemberApis } from "./member-apis.ts";
import type { ObjectReference } from "./member-objects.ts";

export interface LocatePorts {
  readonly cluster: string;
  readonly apis: MemberApis;
}

/** Where the object of a manifest is, or why that is not known. */
export type Located = ObjectReference | ApplyOutcome;

const NO_NAME: ApplyOutcome = { kind: "failed", problem: applyReasons.ManifestInvalid };
/** For a manifest that is not there. */
export const NO_OBJECT: ApplyOutcome = {
  kind: "failed",
  problem: "the Work holds no such manifest",
};

/** The places of the manifests, in their order. */
export function locateManifests(
  ports: LocatePorts,
  manifests: readonly Fields[],
): Promise<Located[]> {
  return Promise.all(
    manifests.map(async (manifest) => {
      if (!isNamed(manifest)) return NO_NAME;
      try {
        return (await referenceOf(ports.apis, manifest)) ?? notServed(ports.cluster, manifest);
      } catch (error) {
        return unknownOutcome(error);
      }
    }),
  );
}

export function isReference(found: Located): found is ObjectReference {
  return "resource" in found;
}

/** Undefined: the member does not serve the kind. */
async function referenceOf(
  apis: MemberApis,
  manifest: Fields,
): Promise<ObjectReference | undefined> {
  const { apiVersion, kind, metadata } = manifest as Partial<Work>;
  const resource = await apis.resourceOf(String(apiVersion), String(kind));
  if (resource === undefined) return undefined;
  const namespace = resource.namespaced ? (metadata?.namespace ?? "") : "";
  return { resource, key: { namespace, name: metadata?.name ?? "" } };
}

function notServed(cluster: string, manifest: Fields): ApplyOutcome {
  const kind = `${String(manifest["kind"])} of ${String(manifest["apiVersion"])}`;
  return {
    kind: "failed",
    problem: `${describeObject(manifest)}: the cluster ${cluster} serves no kind ${kind}`,
  };
}

/** A name that is empty or climbs would reach a collection, or another object. */
function isNamed(manifest: Fields): boolean {
  const { metadata } = manifest as { readonly metadata?: { name?: unknown; namespace?: unknown } };
  const { name, namespace = "" } = metadata ?? {};
  return name !== "" && [name, namespace].every(isPathSegment);
}

function isPathSegment(part: unknown): boolean {
  return typeof part === "string" && pathSegmentProblems(part).length === 0;
}
