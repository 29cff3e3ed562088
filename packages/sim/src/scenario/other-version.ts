/**
 * The data of a plane as another version of it would have left it.
 *
 *   older   without the marks that this version leaves to save itself work: it must find out again what they say
 *   newer   with a field and an annotation that this version does not know: it must neither fail nor act on them
 *
 * Rows keep their versions, as they do when a plane is started on the data directory of another.
 */
import type { AnyObject } from "@lifeboat/api";
import type { DiskImage } from "@lifeboat/apiserver";
import { wellKnown } from "@lifeboat/core";
import { parseObject } from "../disk/ledger.ts";

const OUR_GROUPS = /^(cluster|policy|work)\.karmada\.io\/|^lifeboat\.dev\//;
const NEW_MARKS: ReadonlySet<string> = new Set([
  wellKnown.TEMPLATE_DIGEST,
  wellKnown.FOLLOWER_DIGEST,
]);
const UNKNOWN_KEY = "lifeboat.dev/from-a-later-version";

/** The disk as the other version would have left it. */
export function rewritten(image: DiskImage, by: "older" | "newer"): DiskImage {
  const change = by === "older" ? withoutNewMarks : withUnknownFields;
  const objects = image.objects.map((row) => {
    if (!OUR_GROUPS.test(row.key)) return row;
    const bytes = new TextEncoder().encode(JSON.stringify(change(parseObject(row.bytes))));
    return { ...row, bytes };
  });
  return { ...image, objects };
}

function withoutNewMarks(object: AnyObject): AnyObject {
  const { annotations } = object.metadata;
  if (annotations === undefined) return object;
  const known = Object.entries(annotations).filter(([key]) => !NEW_MARKS.has(key));
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(known) } };
}

function withUnknownFields(object: AnyObject): AnyObject {
  const annotations = { ...object.metadata.annotations, [UNKNOWN_KEY]: "x" };
  const { spec } = object as { readonly spec?: object };
  return {
    ...object,
    metadata: { ...object.metadata, annotations },
    ...(spec !== undefined && { spec: { ...spec, aLaterField: { unknown: true } } }),
  };
}
