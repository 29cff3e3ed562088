/**
 * What a Cluster's status says about the member's API, from what discovery gave.
 *
 * 1. Both levels are sorted, so that the same API is the same list.
 * 2. A group that is served but could not be read keeps what was last known of it: not to know is not to be gone.
 * 3. Nothing known at all is `Empty`, and never in the place of something that was known.
 */
import type { Cluster } from "@lifeboat/api";
import { compareText } from "../fields.ts";
import type { PlannedCondition } from "../plan.ts";
import type { EnablementReason } from "./reasons.ts";

export type ApiEnablements = NonNullable<NonNullable<Cluster["status"]>["apiEnablements"]>;

export interface EnablementView {
  readonly resources: readonly {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly kind: string;
  }[];
  /** `group/version` of what could not be read. */
  readonly failed: readonly string[];
}

export interface EnablementPlan {
  readonly apiEnablements: ApiEnablements;
  readonly condition: PlannedCondition<EnablementReason>;
}

export const COMPLETE_ENABLEMENTS = "CompleteAPIEnablements";

/** The most names of unread groups that a message holds. */
const MOST_NAMED = 10;

/** Decides the list of the member's API and how complete it is. */
export function decideEnablements(
  { resources, failed }: EnablementView,
  former: ApiEnablements = [],
): EnablementPlan {
  const byVersion = new Map<string, Map<string, string>>();
  for (const { group, version, plural, kind } of resources) {
    const groupVersion = group === "" ? version : `${group}/${version}`;
    const known = byVersion.get(groupVersion) ?? new Map<string, string>();
    known.set(plural, kind);
    byVersion.set(groupVersion, known);
  }
  const read = [...byVersion].map(([groupVersion, known]) => ({
    groupVersion,
    resources: [...known]
      .map(([name, kind]) => ({ name, kind }))
      .sort((a, b) => compareText(a.name, b.name)),
  }));
  const kept = former.filter(
    ({ groupVersion }) => failed.includes(groupVersion) && !byVersion.has(groupVersion),
  );
  const apiEnablements = [...read, ...kept].sort((a, b) =>
    compareText(a.groupVersion, b.groupVersion),
  );
  return { apiEnablements, condition: conditionOf(apiEnablements, failed) };
}

function conditionOf(
  known: ApiEnablements,
  failed: readonly string[],
): PlannedCondition<EnablementReason> {
  const type = COMPLETE_ENABLEMENTS;
  if (known.length === 0)
    return { type, status: "False", reason: "Empty", message: "no API of the member is known" };
  if (failed.length === 0)
    return { type, status: "True", reason: "Complete", message: "the whole API is known" };
  const named = failed.toSorted(compareText).slice(0, MOST_NAMED).join(", ");
  const more = failed.length > MOST_NAMED ? ` and ${failed.length - MOST_NAMED} more` : "";
  const message = `could not be read: ${named}${more}`;
  return { type, status: "False", reason: "Partial", message };
}
