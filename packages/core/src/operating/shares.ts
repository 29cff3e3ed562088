/** A result as people read it. */
import { compareText } from "../fields.ts";
import type { Target } from "../placement/view.ts";

/** `member1:2, member2:1`, by name. */
export function sharesOf(targets: readonly Target[]): string {
  return targets
    .toSorted((a, b) => compareText(a.name, b.name))
    .map(({ name, replicas }) => (replicas === undefined ? name : `${name}:${replicas}`))
    .join(", ");
}
