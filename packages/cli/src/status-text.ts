/** The state of failover at a glance: may anything move by itself, what makes it move, and what is moving. */
import {
  type Cluster,
  type ClusterTaintPolicy,
  type Evacuation,
  EVICTING_EFFECTS,
  type EvacuationBudget,
  findCondition,
  humanDuration,
  type ResourceBinding,
} from "@lifeboat/api";
import { formatDuration, type Instant, parseTime } from "@lifeboat/base";
import { isDrained, isMoving, resultOf } from "@lifeboat/core/binding";
import { LEAVING, workloadOf } from "@lifeboat/core/clusters";
import {
  DEFAULT_RATES,
  isFailed,
  type RateOptions,
  rateReasons,
} from "@lifeboat/core/failover/evacuation";
import { failoverState, type FailoverState } from "@lifeboat/core/operating";
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import type { Lease } from "@lifeboat/kit";
import { awaitsFence } from "./awaits-fence.ts";
import { listEvacuations } from "./evacuation-text.ts";
import { GATES } from "./failover-options.ts";
import { formatTaint } from "./taints.ts";
import { columns, hanging } from "./wrap.ts";

export interface StatusView {
  /** What the control plane was started with; undefined: no controllers have ever run. */
  readonly settings: PublishedSettings | undefined;
  /** The Lease of the replicas that run the controllers; undefined: they were not elected. */
  readonly leader: Lease | undefined;
  readonly clusters: readonly Cluster[];
  readonly policies: readonly ClusterTaintPolicy[];
  readonly evacuations: readonly Evacuation[];
  /** Of both scopes. */
  readonly bindings: readonly ResourceBinding[];
  readonly budget: EvacuationBudget | undefined;
  /** In words (see commands/brake.ts). */
  readonly brake: string;
}

const LABEL = 10;

/** The lines for people, at most 80 columns. */
export function statusLines(view: StatusView, now: Instant): readonly string[] {
  const line = (label: string, text: string): readonly string[] =>
    hanging(label.padEnd(LABEL), text);
  const paused = "a person paused all evacuations; `lifeboat evacuations resume --all`";
  const state = stateOfFleet(view);
  return [
    ...line("State", `${state.reason}: ${state.message}`),
    ...(view.leader === undefined ? [] : line("Leader", leaderText(view.leader, now))),
    ...line("Gates", gatesText(view.settings)),
    ...line("Fleet", fleetText(view.clusters, state)),
    ...line("Rate", rateText(state)),
    ...staleTexts(state, now).flatMap((text) => line("Stale", text)),
    ...(view.budget?.spec.paused === true ? line("Paused", paused) : []),
    ...line("Brake", view.brake),
    ...unproven(view).flatMap((text) => line("Waiting", text)),
    ...lastCopies(view).flatMap((text) => line("Stuck", text)),
    ...leaving(view).flatMap((text) => line("Leaving", text)),
    "",
    ...clusterLines(view.clusters),
    "",
    ...policyLines(view),
    "",
    ...evacuationLines(view.evacuations, now),
  ];
}

const MAX_NAMES = 5;

/** The workloads that wait for a proof that a silent cluster is off (D10), by cluster. */
function unproven({ clusters, bindings, settings }: StatusView): readonly string[] {
  return clusters.flatMap((cluster) => {
    const waiting = bindings.filter((binding) => awaitsFence(binding, cluster, settings));
    if (waiting.length === 0) return [];
    const { name } = cluster.metadata;
    return [
      `${namesOf(waiting)} until ${name} answers, or a person declares it off: lifeboat fence ${name}`,
    ];
  });
}

/** The workloads that have no cluster, and where a copy is kept nevertheless. */
function lastCopies({ bindings }: StatusView): readonly string[] {
  return bindings.flatMap((binding) => {
    const { spec, status } = binding;
    const isNeeded = (spec.requiredBy ?? []).some(({ clusters = [] }) => clusters.length > 0);
    const hasCluster = resultOf(binding).length > 0 || isNeeded;
    const copies = (status?.aggregatedStatus ?? []).map(({ clusterName }) => clusterName);
    if (hasCluster || isMoving(binding) || copies.length === 0) return [];
    return [
      `${namesOf([binding])} has no cluster; its copy on ${copies.join(", ")} stays until it has one`,
    ];
  });
}

/** What clusters wait for that are being deleted. */
function leaving({ clusters }: StatusView): readonly string[] {
  return clusters.filter(isLeaving).map(({ metadata, status }) => {
    const { message } = findCondition(status?.conditions, LEAVING) ?? {};
    return `${metadata.name}: ${message ?? "it is being deleted"}`;
  });
}

function isLeaving({ metadata }: Cluster): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function namesOf(bindings: readonly ResourceBinding[]): string {
  const names = bindings.map(workloadOf);
  const rest = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Which replica leads, as far as its Lease shows. */
export function leaderText({ spec = {} }: Lease, now: Instant): string {
  const { holderIdentity = "", leaseDurationSeconds = 0 } = spec;
  const renewed = parseTime(spec.renewTime ?? "");
  const acquired = parseTime(spec.acquireTime ?? "");
  if (holderIdentity === "" || renewed === undefined)
    return "none: no replica of `lifeboat manager` holds the Lease";
  const name = holderIdentity.replace(/_[0-9a-f-]{36}$/, "");
  if (now - renewed > leaseDurationSeconds * 1000)
    return `none: ${name} renewed the Lease ${humanDuration(now - renewed)} ago and has not since`;
  return acquired === undefined ? name : `${name}, for ${humanDuration(now - acquired)}`;
}

function gatesText(settings: PublishedSettings | undefined): string {
  if (settings === undefined) return "unknown: no controllers have run on this control plane";
  const entries = (settings["feature-gates"] ?? "").split(",");
  return Object.keys(GATES)
    .map((gate) => `${gate} ${entries.includes(`${gate}=true`) ? "on" : "off"}`)
    .join(", ");
}

function isFailoverOn(settings: PublishedSettings | undefined): boolean {
  return (settings?.["feature-gates"] ?? "").split(",").includes("Failover=true");
}

function stateOfFleet({ settings, clusters, policies, evacuations, bindings, budget }: StatusView) {
  return failoverState({
    hasControllers: settings !== undefined,
    failover: isFailoverOn(settings),
    hasEvictingPolicy: policies
      .flatMap(rulesOf)
      .some(({ effect }) => EVICTING_EFFECTS.includes(effect)),
    isPaused: budget?.spec.paused === true,
    isolationAgreedAt: budget?.spec.isolationAgreedAt,
    rates: ratesOf(settings),
    clusters,
    evacuations,
    bindings,
  });
}

/** What is known of clusters that do not answer is as old as that. */
function staleTexts({ stale }: FailoverState, now: Instant): readonly string[] {
  return stale
    .filter(({ workloads }) => workloads > 0)
    .map(({ cluster, since, workloads }) => {
      const what = workloads === 1 ? "one copy" : `${workloads} copies`;
      const age = since === undefined ? "an unknown time" : humanDuration(now - since);
      return `the status of ${what} on ${cluster} is ${age} old: the cluster does not answer`;
    });
}

function fleetText(clusters: readonly Cluster[], { notReady, rate }: FailoverState): string {
  const { failed, counted } = rate;
  const drained = clusters.length - counted;
  const share = counted === 0 ? 0 : Math.round((100 * failed) / counted);
  const parts = [
    `${clusters.length} cluster${clusters.length === 1 ? "" : "s"}`,
    ...(drained === 0 ? [] : [`${drained} drained`]),
    ...(notReady === 0 ? [] : [`${notReady} not Ready`]),
    `${failed} failed (${share} %)`,
  ];
  return parts.join(", ");
}

/** While nothing may move, the rate is only what it would be. */
function rateText({ rate: { perSecond, reason }, mayMove }: FailoverState): string {
  const said = `${perSecond} per second, ${reason}`;
  const isPlain = mayMove || perSecond === 0;
  return isPlain ? `${said}: ${rateReasons[reason]}` : `${said}, once something may move`;
}

function ratesOf(settings: PublishedSettings = {}): RateOptions {
  const number = (name: string, fallback: number): number => {
    const value = Number(settings[name] ?? fallback);
    return Number.isFinite(value) ? value : fallback;
  };
  return {
    rate: number("resource-eviction-rate", DEFAULT_RATES.rate),
    secondaryRate: number("secondary-resource-eviction-rate", DEFAULT_RATES.secondaryRate),
    unhealthyThreshold: number("unhealthy-cluster-threshold", DEFAULT_RATES.unhealthyThreshold),
    largeFleetThreshold: number("large-cluster-num-threshold", DEFAULT_RATES.largeFleetThreshold),
  };
}

function clusterLines(clusters: readonly Cluster[]): readonly string[] {
  if (clusters.length === 0) return ["No clusters are joined: join one with `lifeboat join`."];
  const rows = clusters.map((cluster) => [
    cluster.metadata.name,
    findCondition(cluster.status?.conditions, "Ready")?.status ?? "",
    stateOf(cluster),
    (cluster.spec.taints ?? []).map(formatTaint).join(", "),
  ]);
  return columns(["CLUSTER", "READY", "STATE", "TAINTS"], rows);
}

function stateOf(cluster: Cluster): string {
  const states = [
    ...(isLeaving(cluster) ? ["leaving"] : []),
    ...(isDrained(cluster) ? ["drained"] : isFailed(cluster) ? ["failed"] : []),
  ];
  return states.join(", ");
}

/** Which conditions mark a cluster as failed, and what all policies do. */
function policyLines({ policies, settings }: StatusView): readonly string[] {
  const rules = policies.flatMap(rulesOf);
  const evicting = rules.filter(({ effect }) => EVICTING_EFFECTS.includes(effect));
  const summary = !isFailoverOn(settings)
    ? "Nothing moves by itself: the feature gate Failover is off."
    : evicting.length === 0
      ? "No policy marks clusters as failed: nothing moves by itself."
      : `A cluster is failed when ${[...new Set(evicting.map(({ when }) => when))].join("; or ")}.`;
  if (rules.length === 0) return hanging("", summary);
  const rows = rules.map(({ policy, taint, when }) => [policy, `${taint} when ${when}`]);
  return [...hanging("", summary), "", ...columns(["TAINT POLICY", "WHAT IT ADDS"], rows)];
}

interface Rule {
  readonly policy: string;
  readonly taint: string;
  readonly effect: string;
  readonly when: string;
}

function rulesOf({ metadata, spec }: ClusterTaintPolicy): readonly Rule[] {
  const rule = (taint: { key: string; effect: string; value?: string }, when: string): Rule => ({
    policy: metadata.name,
    taint: formatTaint(taint),
    effect: taint.effect,
    when,
  });
  const windowed = (spec.taintsToAdd ?? []).map(({ addOnMatchSeconds = 300, ...taint }) => {
    const span = formatDuration(addOnMatchSeconds * 1000);
    return rule(taint, `${conditionsText(spec.matchConditions, "always")} for ${span}`);
  });
  const plain = (spec.taints ?? []).map((taint) =>
    rule(taint, conditionsText(spec.addOnConditions, "never")),
  );
  return [...windowed, ...plain];
}

function conditionsText(
  conditions: ClusterTaintPolicy["spec"]["matchConditions"],
  none: string,
): string {
  if (conditions === undefined || conditions.length === 0) return none;
  return conditions
    .map(({ conditionType, operator, statusValues }) => {
      const values = statusValues.join(" or ");
      return `${conditionType} is ${operator === "NotIn" ? "not " : ""}${values}`;
    })
    .join(" and ");
}

/** Those that are not over; how many there were is said. */
function evacuationLines(all: readonly Evacuation[], now: Instant): readonly string[] {
  const open = all.filter(({ status }) => status?.finishedAt === undefined);
  const over = all.length - open.length;
  const what = over === 1 ? "One evacuation is" : `${over} evacuations are`;
  const rest = over === 0 ? [] : [`${what} over: \`lifeboat evacuations\``];
  return open.length === 0
    ? ["No evacuation is under way.", ...rest]
    : [...listEvacuations(open, now), ...rest];
}
