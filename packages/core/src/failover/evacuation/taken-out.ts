/**
 * What leaves an evacuation because a person wants it to stay: what a person orders (`lifeboat evacuations abandon`) stands in the spec,
 * where admission stamps the user; what the control plane finds put back by hand stands in the status.
 */
import type { Evacuation } from "@lifeboat/api";

export type TakenOut = NonNullable<Evacuation["spec"]["takenOut"]>[number];

/** Each binding once. */
export function takenOutOf({
  spec,
  status,
}: Pick<Evacuation, "spec" | "status">): readonly TakenOut[] {
  const all = [...(spec.takenOut ?? []), ...(status?.editedByHand ?? [])];
  return [...new Map(all.map((one) => [one.uid, one])).values()];
}
