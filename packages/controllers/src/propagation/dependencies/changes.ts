/** What of an object's change matters to controllers that read its content alone. */
import { type AnyObject, equalJson } from "@lifeboat/api";
import { anew } from "@lifeboat/base";

/** Whether two states of an object differ in nothing but its status and bookkeeping. */
export function isSameContent(old: AnyObject | undefined, now: AnyObject | undefined): boolean {
  if (old === undefined || now === undefined) return false;
  return equalJson(contentOf(old), contentOf(now));
}

function contentOf(object: AnyObject): unknown {
  const { status: _, metadata, ...content } = object;
  const { resourceVersion: __, ...kept } = metadata;
  return { ...anew, ...content, metadata: kept };
}
