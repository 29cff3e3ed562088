/**
 * What the server writes into the status of a CustomResourceDefinition: which names it has got, whether it is served, and
 * that it is going away.
 *
 *   created ──(names free)──▶ NamesAccepted, Established ──(deleted)──▶ Terminating ──(objects gone)──▶ removed
 *      └──(a name is taken)──▶ NamesAccepted=False, not Established ──(name becomes free)──▶ as above
 *
 * 1. Names that were accepted stay accepted, also when the spec asks for others that are taken.
 * 2. Once established, always established.
 * 3. The answer is the status itself when there is nothing to write.
 */
import {
  type CrdCondition,
  type CrdNames,
  type CrdStatus,
  type CustomResourceDefinition,
  equalJson,
} from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";

/** Keeps a deleted CRD until its objects are gone. */
export const CRD_CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** Decides the status of a CRD among the other CRDs (its own group is enough). */
export function decideCrdStatus(
  crd: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: Instant,
): CrdStatus {
  const before: CrdStatus = crd.status ?? {};
  if (crd.metadata.deletionTimestamp !== undefined)
    return terminating(crd, before, DELETING, formatTime(now));
  const { accepted, verdict } = acceptNames(crd, others);
  const time = formatTime(now);
  const conditions = setCondition(before.conditions ?? [], verdict, time);
  const status: CrdStatus = {
    ...before,
    conditions: setCondition(conditions, established(conditions, verdict), time),
    acceptedNames: accepted,
  };
  return equalJson(status, before) ? before : status;
}

/** The CRD as it is once deletion was asked for: kept by our finalizer, and saying so. */
export function markCrdDeleted(crd: CustomResourceDefinition): CustomResourceDefinition {
  const finalizers = crd.metadata.finalizers ?? [];
  const metadata = finalizers.includes(CRD_CLEANUP_FINALIZER)
    ? crd.metadata
    : { ...crd.metadata, finalizers: [...finalizers, CRD_CLEANUP_FINALIZER] };
  const time = crd.metadata.deletionTimestamp ?? "";
  return { ...crd, metadata, status: terminating(crd, crd.status ?? {}, PENDING, time) };
}

type Verdict = Omit<CrdCondition, "lastTransitionTime">;

const PENDING: Verdict = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionPending",
  message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
};
const DELETING: Verdict = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress",
};

function terminating(
  crd: CustomResourceDefinition,
  before: CrdStatus,
  verdict: Verdict,
  time: string,
): CrdStatus {
  if (!(crd.metadata.finalizers ?? []).includes(CRD_CLEANUP_FINALIZER) && verdict === DELETING)
    return before;
  const conditions = setCondition(before.conditions ?? [], verdict, time);
  return conditions === before.conditions ? before : { ...before, conditions };
}

interface Accepted {
  readonly accepted: CrdNames;
  readonly verdict: Verdict;
}

function acceptNames(
  crd: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): Accepted {
  const wanted = crd.spec.names ?? {};
  const had = crd.status?.acceptedNames ?? {};
  const taken = takenNames(crd, others);
  const accepted: Mutable<CrdNames> = { ...had };
  let conflict: { reason: string; message: string } | undefined;
  for (const [field, reason, used] of [
    ["plural", "PluralConflict", taken.resources],
    ["singular", "SingularConflict", taken.resources],
    ["kind", "KindConflict", taken.kinds],
    ["listKind", "ListKindConflict", taken.kinds],
  ] as const) {
    const name = wanted[field] ?? "";
    if (name !== (had[field] ?? "") && used.has(name)) conflict = { reason, message: inUse(name) };
    else if (name !== "") accepted[field] = name;
    // The order of the checks decides which conflict is shown: short names come before kinds.
    if (field === "singular") conflict = acceptShortNames(wanted, had, taken, accepted) ?? conflict;
  }
  if (wanted.categories === undefined) delete accepted.categories;
  else accepted.categories = wanted.categories;
  const verdict: Verdict =
    conflict === undefined
      ? {
          type: "NamesAccepted",
          status: "True",
          reason: "NoConflicts",
          message: "no conflicts found",
        }
      : { type: "NamesAccepted", status: "False", ...conflict };
  return { accepted, verdict };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Taken {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function acceptShortNames(
  wanted: CrdNames,
  had: CrdNames,
  taken: Taken,
  accepted: Mutable<CrdNames>,
): { reason: string; message: string } | undefined {
  const ours = new Set(had.shortNames ?? []);
  const lost = (wanted.shortNames ?? []).filter(
    (name) => !ours.has(name) && taken.resources.has(name),
  );
  if (lost.length > 0) {
    const texts = lost.map(inUse);
    const message = texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
    return { reason: "ShortNamesConflict", message };
  }
  if (wanted.shortNames === undefined) delete accepted.shortNames;
  else accepted.shortNames = wanted.shortNames;
  return undefined;
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** Names that CRDs of the same group have got. A CRD's own names are not in its way. */
function takenNames(
  crd: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): Taken {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of others) {
    if (other.spec.group !== crd.spec.group || other.metadata.name === crd.metadata.name) continue;
    const names = other.status?.acceptedNames ?? {};
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])])
      if (name !== undefined && name !== "") resources.add(name);
    for (const name of [names.kind, names.listKind])
      if (name !== undefined && name !== "") kinds.add(name);
  }
  return { resources, kinds };
}

function established(conditions: readonly CrdCondition[], names: Verdict): Verdict {
  const old = conditions.find((condition) => condition.type === "Established");
  if (old?.status === "True") return old;
  if (names.status === "True")
    return {
      type: "Established",
      status: "True",
      reason: "InitialNamesAccepted",
      message: "the initial names have been accepted",
    };
  if (old !== undefined) return old;
  return {
    type: "Established",
    status: "False",
    reason: "NotAccepted",
    message: "not all names are accepted",
  };
}

/** Replaces or appends; the transition time moves only with the status. */
function setCondition(
  conditions: readonly CrdCondition[],
  verdict: Verdict,
  time: string,
): readonly CrdCondition[] {
  const old = conditions.find((condition) => condition.type === verdict.type);
  const moved = old?.status !== verdict.status || old.lastTransitionTime === undefined;
  const { type, status, reason, message } = verdict;
  const lastTransitionTime = moved ? time : old.lastTransitionTime;
  const next: CrdCondition = {
    type,
    status,
    lastTransitionTime,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
  if (old === undefined) return [...conditions, next];
  if (equalJson(old, next)) return conditions;
  return conditions.map((condition) => (condition === old ? next : condition));
}
