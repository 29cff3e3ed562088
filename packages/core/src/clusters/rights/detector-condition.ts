/**
 * Which conditions of a Cluster belong to its detector: name resolution, which clients know by its plain name, and every type under a
 * prefix that no other part of the control plane uses. The form decides, so a condition that is added later is not a detector's by
 * accident, and neither Ready nor Fenced ever is.
 */
import { DETECTOR_CONDITION_PREFIX, NAME_RESOLUTION } from "../../well-known.ts";

const NAME = /^[A-Z][A-Za-z0-9]{0,39}$/;

/** Whether a condition of this type is a detector's to write. */
export function isDetectorCondition(type: string): boolean {
  if (type === NAME_RESOLUTION) return true;
  return (
    type.startsWith(DETECTOR_CONDITION_PREFIX) &&
    NAME.test(type.slice(DETECTOR_CONDITION_PREFIX.length))
  );
}
