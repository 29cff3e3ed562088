/** Which subresources a resource really has. */
import type { Target } from "./verbs.ts";

/** Whether reads and writes of this target's subresource are served; true for the object itself. */
export function isServedSubresource(target: Target): boolean {
  const { status, scale, finalize, approval } = target.resource.subresources;
  switch (target.subresource) {
    case "":
      return true;
    case "status":
      return status === true;
    case "scale":
      return scale !== undefined;
    case "finalize":
      return finalize === true;
    case "approval":
      return approval === true;
    default:
      return false;
  }
}
