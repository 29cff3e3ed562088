/**
 * How each workload of an evacuation fares, and the phases of an evacuation with their times: what `evacuations show` and
 * `evacuations watch` print. What objects no longer record (when a workload left, how long it took) is read from the history, and is
 * absent where that does not record it either.
 */
import type { Cluster, Evacuation, LedgerEntry } from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import { isOn, resultOf, shareIn, taskOf } from "../binding/index.ts";
import { formerResult } from "../failover/evacuation/former-result.ts";
import { awaitsFence, type FenceTrust } from "../failover/eviction-tasks/fence.ts";
import {
  evacuationEntries,
  type EvacuationEntriesView,
  type ListedEntry,
} from "../operating/evacuation-entries.ts";
import { sharesOf } from "../operating/shares.ts";
import { strengthOf } from "../operating/strength.ts";

export type MoveState = ListedEntry["state"] | "AwaitingFence" | "Healthy";

export interface Move extends ListedEntry {
  /** Of the workload: `Deployment shop/web`. */
  readonly workload: string;
  readonly progress: MoveState;
  /** `member1:2` */
  readonly from: string;
  /** `member2:1, member3:1`; "": it has not left. */
  readonly to: string;
  /** The labels that carry its state: `job=7`. */
  readonly carried: string;
  readonly leftAt?: Instant;
  /** From leaving until the old copy was given up. */
  readonly tookMs?: number;
  /** Why it is held. */
  readonly held?: string;
}

export interface MovesView extends EvacuationEntriesView {
  readonly clusters: readonly Cluster[];
  readonly trust: FenceTrust;
  /** Of the history, in the order of their numbers. */
  readonly history: readonly LedgerEntry[];
}

export function movesOf(view: MovesView): readonly Move[] {
  const { evacuation, history } = view;
  const { cluster } = evacuation.spec;
  const byName = new Map(view.clusters.map((one) => [one.metadata.name, one]));
  const times = timesOf(history, evacuation);
  const held = new Map(
    (evacuation.status?.held ?? []).map((one) => [
      one.binding.uid,
      [one.reason, one.message ?? ""].filter((text) => text !== "").join(": "),
    ]),
  );
  return evacuationEntries(view).map((listed) => {
    const { entry, state, binding } = listed;
    const { leftAt, overAt } = times.get(entry.binding.uid) ?? {};
    const task = binding && taskOf(binding, cluster);
    const left = (task && parseTime(task.creationTimestamp ?? "")) ?? leftAt;
    const why = state === "Held" ? held.get(entry.binding.uid) : undefined;
    const where = entry.binding.namespace === undefined ? "" : `${entry.binding.namespace}/`;
    const labels = task?.preservedLabelState ?? {};
    return {
      ...listed,
      workload: `${entry.resource.kind} ${where}${entry.resource.name}`,
      progress: progressOf(listed, byName, cluster, view.trust),
      from: fromText(listed, cluster),
      to: binding !== undefined && !isOn(binding, cluster) ? sharesOf(resultOf(binding)) : "",
      carried: Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(", "),
      ...(left === undefined ? {} : { leftAt: left }),
      ...(left === undefined || overAt === undefined || task !== undefined
        ? {}
        : { tookMs: Math.max(0, overAt - left) }),
      ...(why === undefined ? {} : { held: why }),
    };
  });
}

function progressOf(
  { state, binding }: ListedEntry,
  clusters: ReadonlyMap<string, Cluster>,
  cluster: string,
  trust: FenceTrust,
): MoveState {
  const source = clusters.get(cluster);
  if (binding === undefined) return state;
  if (state === "Evicted" && source !== undefined && awaitsFence(binding, source, trust))
    return "AwaitingFence";
  if (state !== "Done") return state;
  const strength = strengthOf(binding, (name) => clusters.get(name), trust);
  return strength === undefined || strength.isUnderStrength ? "Done" : "Healthy";
}

function fromText({ binding }: ListedEntry, cluster: string): string {
  if (binding === undefined) return cluster;
  const former = (formerResult(binding) ?? []).find(({ name }) => name === cluster);
  const replicas =
    shareIn(binding, cluster)?.replicas ?? taskOf(binding, cluster)?.replicas ?? former?.replicas;
  return sharesOf([{ name: cluster, ...(replicas === undefined ? {} : { replicas }) }]);
}

/** By the uid of the binding: when the workload left, and when that was over. */
function timesOf(
  history: readonly LedgerEntry[],
  { metadata, spec }: Evacuation,
): ReadonlyMap<string, { leftAt?: Instant; overAt?: Instant }> {
  const found = new Map<string, { leftAt?: Instant; overAt?: Instant }>();
  for (const { action, cluster, evacuation, subject, at } of history) {
    const time = parseTime(at);
    if (cluster !== spec.cluster || time === undefined) continue;
    if (action === "Evicted" && (evacuation ?? metadata.name) === metadata.name)
      found.set(subject.uid, { leftAt: time });
    const known = found.get(subject.uid);
    if ((action === "Cleared" || action === "TakenBack") && known?.leftAt !== undefined)
      known.overAt = time;
  }
  return found;
}

/** In the order in which they come about; "Cleaned" needs the source to answer again. */
export const PHASES = [
  "NotReady",
  "Tainted",
  "Recorded",
  "FirstReleased",
  "LastMoved",
  "Ended",
  "Returned",
  "Cleaned",
] as const;

export type Phase = (typeof PHASES)[number];

/** When each phase came about, as far as that is known. */
export function phasesOf(
  evacuation: Evacuation,
  cluster: Cluster | undefined,
  history: readonly LedgerEntry[],
): ReadonlyMap<Phase, Instant> {
  const { spec, status, metadata } = evacuation;
  const found = new Map<Phase, Instant>();
  const put = (phase: Phase, at: Instant | undefined): void => {
    if (at !== undefined) found.set(phase, at);
  };
  const started = parseTime(status?.startedAt ?? metadata.creationTimestamp ?? "");
  const taint = (status?.taints ?? []).map(({ taint: one }) => one.timeAdded ?? "").toSorted()[0];
  put("Tainted", parseTime(taint ?? "") ?? started);
  put("Ended", parseTime(status?.finishedAt ?? ""));
  for (const entry of history) {
    const at = parseTime(entry.at);
    if (at === undefined || entry.cluster !== spec.cluster) continue;
    const isAfter = started === undefined || at >= started - 1000;
    if (entry.action === "NotReady" && (started === undefined || at <= started + 1000))
      put("NotReady", at);
    if (entry.action === "Ready" && started !== undefined && at <= started)
      found.delete("NotReady");
    if (entry.evacuation === metadata.name && entry.action === "EvacuationBegan")
      put("Recorded", at);
    if (!isAfter) continue;
    if (entry.action === "Evicted" && !found.has("FirstReleased")) put("FirstReleased", at);
    if (entry.action === "Cleared" && found.has("FirstReleased")) put("LastMoved", at);
    if (entry.action === "Ready" && found.has("NotReady")) put("Returned", at);
  }
  const clean = cluster?.status?.conditions?.find(({ type }) => type === "StaleCopiesRemoved");
  if (found.has("Returned") && clean?.status === "True")
    put("Cleaned", parseTime(clean.lastTransitionTime));
  return found;
}
