/**
 * The APIs of a member in the status of its Cluster, from the results of discovery.
 *
 * 1. Both levels are sorted, so that the same API gives the same list.
 * 2. A group that is served but could not be read keeps its last known content: unknown is not gone.
 * 3. `Empty` is reported only when nothing was ever known.
 * 4. The list stays small enough to be written, whatever a member claims to serve: the health of the cluster is in the same
 *    object.
 */
import type { Cluster } from "@lifeboat/api";
import { compareText } from "../../fields.ts";
import type { PlannedCondition } from "../../plan.ts";
import { COMPLETE_ENABLEMENTS } from "../../well-known.ts";
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

/** The most names of unread groups that a message holds. */
const MOST_NAMED = 10;

/** Characters of names; some ten times what large members have. */
const MOST_TEXT = 500_000;

/** Decides the list of the member's API and how complete it is. */
export function decideEnablements(
  { resources, failed }: EnablementView,
  former: ApiEnablements = [],
): EnablementPlan {
  const byVersion = new Map<string, Map<string, string>>();
  let text = 0;
  for (const { group, version, plural, kind } of resources) {
    const groupVersion = group === "" ? version : `${group}/${version}`;
    text += plural.length + kind.length + (byVersion.has(groupVersion) ? 0 : groupVersion.length);
    if (text > MOST_TEXT) break;
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
  const condition = conditionOf(apiEnablements, failed, text > MOST_TEXT);
  return { apiEnablements, condition };
}

function conditionOf(
  known: ApiEnablements,
  failed: readonly string[],
  isTooLong: boolean,
): PlannedCondition<EnablementReason> {
  const type = COMPLETE_ENABLEMENTS;
  if (known.length === 0)
    return { type, status: "False", reason: "Empty", message: "no API of the member is known" };
  if (isTooLong)
    return {
      type,
      status: "False",
      reason: "Partial",
      message: "the API is too large to be listed",
    };
  if (failed.length === 0)
    return { type, status: "True", reason: "Complete", message: "the whole API is known" };
  const named = failed.toSorted(compareText).slice(0, MOST_NAMED).join(", ");
  const more = failed.length > MOST_NAMED ? ` and ${failed.length - MOST_NAMED} more` : "";
  const message = `could not be read: ${named}${more}`;
  return { type, status: "False", reason: "Partial", message };
}
