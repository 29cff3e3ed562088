/**
 * What the history shows of an object: a few facts, each with a key and a value. An entry of the history is the change of one
 * fact, so the entries that are missing after a crash are those by which the facts of the objects differ from the facts that the
 * history shows of.
 *
 * 1. A fact is a function of its object alone.
 * 2. Values are short: a result of very many clusters is a digest.
 */
import {
  type Cluster,
  type Evacuation,
  type EvacuationBudget,
  findCondition,
  type KubeObject,
  type LedgerEntry,
  type Remedy,
  type ResourceBinding,
} from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import { resultOf, tasksOf } from "../binding/index.ts";
import { setRateText } from "../failover/evacuation/rate.ts";
import { takenOutOf } from "../failover/evacuation/taken-out.ts";
import { sharesOf } from "../operating/shares.ts";
import { safeHash } from "../placement/division/hash.ts";
import { FENCED } from "../well-known.ts";

export type Workload = NonNullable<LedgerEntry["workload"]>;

export interface Fact {
  /** Its family, and what distinguishes it from others of the object: `taint my/dead:NoExecute`. */
  readonly key: string;
  readonly value: string;
  /** When it came about, as far as the object shows. */
  readonly at?: Instant;
  readonly cluster?: string;
  readonly workload?: Workload;
  readonly evacuation?: string;
  /** What it means, for people. */
  readonly message?: string;
}

/** The kinds whose changes stand in the history. */
export const HISTORY_KINDS = [
  "Cluster",
  "ResourceBinding",
  "ClusterResourceBinding",
  "Evacuation",
  "EvacuationBudget",
  "Remedy",
] as const;

/** The facts of an object of any kind; none of a kind that the history does not follow. */
export function factsOf(object: KubeObject): readonly Fact[] {
  switch (object.kind) {
    case "Cluster":
      return ofCluster(object as Cluster);
    case "ResourceBinding":
    case "ClusterResourceBinding":
      return ofBinding(object as ResourceBinding);
    case "Evacuation":
      return ofEvacuation(object as Evacuation);
    case "EvacuationBudget":
      return ofBudget(object as EvacuationBudget);
    case "Remedy":
      return ofRemedy(object as Remedy);
    default:
      return [];
  }
}

function ofCluster({ metadata, spec, status }: Cluster): readonly Fact[] {
  const cluster = metadata.name;
  const ready = findCondition(status?.conditions, "Ready");
  const fence = metadata.annotations?.[FENCED];
  return [
    { key: "joined", value: "yes", cluster, ...atTime(metadata.creationTimestamp) },
    ...(ready === undefined
      ? []
      : [
          {
            key: "ready",
            value: ready.status,
            cluster,
            message: `Ready is ${ready.status}${ready.reason === "" ? "" : ` (${ready.reason})`}`,
            ...atTime(ready.lastTransitionTime),
          },
        ]),
    ...(spec.taints ?? []).map(({ key, value = "", effect, timeAdded }) => ({
      key: `taint ${key}:${effect}`,
      value: timeAdded ?? "present",
      cluster,
      message: `taint ${key}${value === "" ? "" : `=${value}`}:${effect}`,
      ...atTime(timeAdded),
    })),
    ...(fence === undefined
      ? []
      : [{ key: "fence", value: safeHash(fence), cluster, message: "declared off" }]),
    ...(status?.remedyActions ?? []).map((action) => ({
      key: `action ${action}`,
      value: "yes",
      cluster,
      message: action,
    })),
  ];
}

/** Where a workload runs that is in none. */
export const NO_CLUSTER = "no cluster";

const MAX_VALUE = 1000;

function ofBinding(binding: ResourceBinding): readonly Fact[] {
  const { metadata, spec, status } = binding;
  const tasks = tasksOf(binding);
  const result = sharesOf(resultOf(binding));
  if (result === "" && tasks.length === 0) return [];
  const { kind, namespace, name } = spec.resource;
  const leaving = tasks.map(({ fromCluster }) => fromCluster);
  const value = placeText(result, leaving.toSorted());
  const times = [
    status?.lastScheduledTime,
    ...tasks.map(({ creationTimestamp }) => creationTimestamp),
  ]
    .filter((time) => time !== undefined)
    .toSorted();
  return [
    {
      key: "place",
      value: value.length > MAX_VALUE ? `${DIGEST}${safeHash(value)}` : value,
      workload: { kind, ...(namespace === undefined ? {} : { namespace }), name },
      message: result === "" ? NO_CLUSTER : result,
      ...atTime(times.at(-1) ?? metadata.creationTimestamp),
    },
  ];
}

const LEAVING = "; leaving ";
const DIGEST = "#";

function placeText(result: string, leaving: readonly string[]): string {
  return leaving.length === 0 ? result : `${result}${LEAVING}${leaving.join(", ")}`;
}

export interface Place {
  /** `member1:2` each. */
  readonly shares: ReadonlySet<string>;
  readonly leaving: ReadonlySet<string>;
}

/** What the value of a place means; undefined: it is a digest. */
export function readPlace(value: string): Place | undefined {
  if (value.startsWith(DIGEST)) return undefined;
  const at = value.indexOf(LEAVING);
  const parts = (text: string): ReadonlySet<string> =>
    new Set(text.split(", ").filter((part) => part !== ""));
  if (at < 0) return { shares: parts(value), leaving: new Set() };
  return { shares: parts(value.slice(0, at)), leaving: parts(value.slice(at + LEAVING.length)) };
}

/** The place of a binding itself, also where its value is a digest. */
export function placeOf(binding: ResourceBinding): Place {
  const shares = resultOf(binding).map((target) => sharesOf([target]));
  return {
    shares: new Set(shares),
    leaving: new Set(tasksOf(binding).map(({ fromCluster }) => fromCluster)),
  };
}

function ofEvacuation(evacuation: Evacuation): readonly Fact[] {
  const { metadata, spec, status } = evacuation;
  const about = { cluster: spec.cluster, evacuation: metadata.name };
  const total = status?.entries?.total ?? 0;
  const ended = isOver(status) ? (status?.phase ?? "Completed") : undefined;
  // Counts are written after the record: before, nothing can be recorded of it.
  const isRecorded =
    status?.entries !== undefined && (status.taints ?? []).some(({ recorded }) => recorded);
  return [
    ...(isRecorded
      ? [
          {
            key: "evacuation",
            value: ended === undefined ? "open" : "over",
            ...about,
            message:
              ended === undefined
                ? `${total === 0 ? "no" : total} workload${total === 1 ? "" : "s"}`
                : `${ended}: ${status?.entries?.done ?? 0} of ${total} moved`,
            ...atTime(ended === undefined ? status?.startedAt : status?.finishedAt),
          },
        ]
      : []),
    ...(spec.paused ? [{ key: "paused", value: "yes", ...about }] : []),
    ...(spec.approvals ?? []).map(({ at, namespace, uid, reason = "" }) => ({
      key: `approval ${safeHash(`${at} ${namespace ?? ""} ${uid ?? ""}`)}`,
      value: at,
      ...about,
      message: [
        uid === undefined ? "" : "one workload",
        namespace === undefined ? "" : `namespace ${namespace}`,
        reason,
      ]
        .filter((part) => part !== "")
        .join(", "),
      ...atTime(at),
    })),
    ...(status?.held ?? []).map(({ binding, reason, message = "", since }) => ({
      key: `held ${binding.uid}`,
      value: reason,
      ...about,
      workload: heldName(binding),
      message: message === "" ? reason : `${reason}: ${message}`,
      ...atTime(since),
    })),
    ...takenOutOf(evacuation).map((binding) => ({
      key: `out ${binding.uid}`,
      value: "yes",
      ...about,
      workload: heldName(binding),
    })),
  ];
}

/** One that ended is opened again for a moment when its cluster recovers, with nothing to do: that is no second beginning. */
function isOver(status: Evacuation["status"]): boolean {
  if (status?.finishedAt !== undefined) return true;
  const { queued = 0, evicted = 0, held = 0 } = status?.entries ?? {};
  const isCaused = (status?.taints ?? []).some(({ removedAt }) => removedAt === undefined);
  return !isCaused && queued + evicted + held === 0;
}

/** Evacuations name bindings; a binding is named after its workload: `web-deployment`. */
function heldName({
  namespace,
  name,
}: {
  readonly namespace?: string | undefined;
  readonly name: string;
}): Workload {
  const at = name.lastIndexOf("-");
  const named = at < 1 ? { kind: "", name } : { kind: name.slice(at + 1), name: name.slice(0, at) };
  return { ...named, ...(namespace === undefined ? {} : { namespace }) };
}

const WORDS = {
  brakeReleasedAt: "deletions go on after the mass-deletion brake",
  restoreAgreedAt: "a restored control plane may delete in members",
  trafficBlocksAgreedAt: "Remedies may block traffic again",
  isolationAgreedAt: "Pull clusters that fell silent together count as failed",
} as const;

function ofBudget({ spec }: EvacuationBudget): readonly Fact[] {
  const { rateOverride } = spec;
  const words = Object.entries(WORDS).flatMap(([name, message]) => {
    const at = spec[name as keyof typeof WORDS];
    return at === undefined ? [] : [{ key: `word ${name}`, value: at, message, ...atTime(at) }];
  });
  return [
    ...(spec.paused ? [{ key: "fleet-paused", value: "yes", message: "all evacuations" }] : []),
    ...(spec.pausedClusters ?? []).map((cluster) => ({
      key: `part-paused cluster ${cluster}`,
      value: "yes",
      cluster,
      message: `cluster ${cluster}`,
    })),
    ...(spec.pausedNamespaces ?? []).map((namespace) => ({
      key: `part-paused namespace ${namespace}`,
      value: "yes",
      message: `namespace ${namespace}`,
    })),
    ...(rateOverride === undefined
      ? []
      : [
          {
            key: "rate",
            value: `${rateOverride.perSecond} ${rateOverride.setAt}`,
            message: `${setRateText(rateOverride)} until ${rateOverride.until}: ${rateOverride.reason}`,
            ...atTime(rateOverride.setAt),
          },
        ]),
    ...words,
  ];
}

function ofRemedy({ metadata, spec }: Remedy): readonly Fact[] {
  const clusters = spec.clusterAffinity?.clusterNames ?? [];
  const where = clusters.length === 0 ? "all clusters" : clusters.slice(0, 10).join(", ");
  const [only] = clusters;
  return [
    {
      key: "remedy",
      value: "present",
      message: `Remedy ${metadata.name} for ${where}`,
      ...(clusters.length === 1 && only !== undefined ? { cluster: only } : {}),
      ...atTime(metadata.creationTimestamp),
    },
  ];
}

function atTime(text: string | undefined): { readonly at?: Instant } {
  const at = text === undefined ? undefined : parseTime(text);
  return at === undefined ? {} : { at };
}
