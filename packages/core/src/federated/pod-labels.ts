/**
 * The labels of a pod of a federated StatefulSet that only its member can give: its own name (the Service of the pod selects
 * by it), a whole number that no other pod of the set has, and where its cluster is.
 *
 * 1. Labels are added and corrected, never taken away.
 * 2. Region and zone that the pod bears already are kept: the member knows better where its nodes are.
 * 3. How the pod came to its quorum is decided once: it keeps the first value.
 * 4. A pod that bears the labels of a set but not a name of that set is left alone.
 */
import { integerAt, textAt } from "../fields.ts";
import { compareText } from "../fields.ts";
import {
  FEDERATED_CLUSTER,
  FEDERATED_ID,
  FEDERATED_ID_BASE,
  FEDERATED_POD,
  FEDERATED_SET,
  FEDERATED_STATE,
} from "../well-known.ts";
import { copyName } from "./names.ts";

const REGION = "topology.kubernetes.io/region";
const ZONE = "topology.kubernetes.io/zone";

/** Where a cluster is. */
export interface Topology {
  readonly region?: string | undefined;
  readonly zone?: string | undefined;
}

/**
 * The labels that the pod lacks, or has with other values; undefined: none. `founders`: how many pods of its copy form the
 * quorum now; absent: not known, or the set is none.
 */
export function podLabelsToSet(
  pod: object,
  { region, zone }: Topology,
  founders?: number,
): Readonly<Record<string, string>> | undefined {
  const label = (key: string): string => textAt(pod, "metadata", "labels", key);
  const name = textAt(pod, "metadata", "name");
  const prefix = `${copyName(label(FEDERATED_SET), label(FEDERATED_CLUSTER))}-`;
  const ordinal = ordinalOf(name, prefix);
  if (ordinal === undefined || textAt(pod, "metadata", "deletionTimestamp") !== "")
    return undefined;
  const base = integerAt({ base: Number(label(FEDERATED_ID_BASE) || NaN) }, "base");
  const wanted: Record<string, string> = {
    [FEDERATED_POD]: name,
    ...(base !== undefined && { [FEDERATED_ID]: String(base + ordinal) }),
    ...(founders !== undefined &&
      label(FEDERATED_STATE) === "" && {
        [FEDERATED_STATE]: ordinal < founders ? "new" : "existing",
      }),
    ...(label(REGION) === "" && isLabelValue(region) && { [REGION]: region }),
    ...(label(ZONE) === "" && isLabelValue(zone) && { [ZONE]: zone }),
  };
  const missing = Object.entries(wanted).filter(([key, value]) => label(key) !== value);
  if (missing.length === 0) return undefined;
  return Object.fromEntries(missing.toSorted(([a], [b]) => compareText(a, b)));
}

function ordinalOf(name: string, prefix: string): number | undefined {
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^(?:0|[1-9][0-9]{0,8})$/.test(digits) ? Number(digits) : undefined;
}

/** A region is any text; a label is not. */
function isLabelValue(value: string | undefined): value is string {
  return value !== undefined && /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(value);
}
