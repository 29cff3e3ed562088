/** Objects as the rows of a disk. */
import type { KubeObject, Resource } from "@lifeboat/api";
import type { DiskImage } from "@lifeboat/apiserver";

export type Row = DiskImage["objects"][number];

/** Versions that a server may have given out since. */
const CEILING_STEP = 10_000;

const encoder = new TextEncoder();

/** The row of an object in the version that it carries. */
export function rowOf<T extends KubeObject>(
  { group, plural, namespaced }: Resource<T>,
  object: T,
): Row {
  const { kind, apiVersion, ...rest } = object;
  const { namespace = "", name, resourceVersion } = object.metadata;
  return {
    key: `${group}/${plural}/${namespaced ? namespace : ""}/${name}`,
    revision: Number(resourceVersion),
    // A disk holds type and version first.
    bytes: encoder.encode(JSON.stringify({ kind, apiVersion, ...rest })),
  };
}

/** A disk with these rows, a later one in the place of an earlier one; what was before them is forgotten. */
export function imageOf(rows: readonly Row[]): DiskImage {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const newest = rows.reduce((most, { revision }) => Math.max(most, revision), 0);
  return {
    objects: [...byKey.values()],
    history: [],
    revisionCeiling: newest + CEILING_STEP,
    historyStart: newest + 1,
  };
}
