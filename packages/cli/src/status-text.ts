/**
 * The state of the fleet at a glance: how it is and what waits for a person (status-page-text.ts), then may anything move by itself,
 * what makes it move, and what is moving.
 */
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
import { formatDuration, type Instant, parseTime, plainMoment } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { isMoving, resultOf } from "@lifeboat/core/binding";
import { LEAVING, workloadOf } from "@lifeboat/core/clusters";
import { parseReport } from "@lifeboat/core/clusters/shares";
import {
  DEFAULT_RATES,
  overrideOf,
  overrideUntil,
  type Rate,
  type RateOptions,
  rateReasons,
  setRateText,
} from "@lifeboat/core/failover/evacuation";
import { isFederated } from "@lifeboat/core/federated";
import type { StoredNotices } from "@lifeboat/core/notifications";
import {
  type ControllersState,
  failoverState,
  type FailoverState,
  type Hidden,
  isReturning,
  statusPage,
  type StatusPage,
} from "@lifeboat/core/operating";
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import type { ReportedServer } from "@lifeboat/dns";
import type { Lease } from "@lifeboat/kit";
import { gateNames, SIGNED_BY_OTHERS } from "@lifeboat/plane";
import { detectorTexts } from "./detector-texts.ts";
import { listEvacuations } from "./evacuation-text.ts";
import { answersWithinMs, type FailingProbes, NO_PROBES } from "./failing-probes.ts";
import { fenceTrust } from "./fence-trust.ts";
import { tunnelsText } from "./open-tunnels.ts";
import { notifyTexts } from "./notifications-text.ts";
import { pageLines } from "./status-page-text.ts";
import { formatTaint } from "./taints.ts";
import { clusterTraffic } from "./traffic-text.ts";
import { columns, hanging } from "./wrap.ts";

export interface StatusView {
  /** What the control plane was started with; undefined: no controllers have ever run. */
  readonly settings: PublishedSettings | undefined;
  /** The Lease of the replicas that run the controllers; undefined: they were not elected. */
  readonly leader: Lease | undefined;
  /** The Leases of replicas that share out members; absent: they do not. */
  readonly replicas?: readonly Lease[];
  /** The Leases of load balancers, and how many ingresses there are; absent: none of either. */
  readonly traffic?: { readonly leases: readonly Lease[]; readonly ingresses: number };
  readonly clusters: readonly Cluster[];
  readonly policies: readonly ClusterTaintPolicy[];
  readonly evacuations: readonly Evacuation[];
  /** Of both scopes. */
  readonly bindings: readonly ResourceBinding[];
  readonly budget: EvacuationBudget | undefined;
  /** In words (see commands/brake.ts). */
  readonly brake: string;
  /** The clusters whose agents have a tunnel open; undefined: not known. */
  readonly tunnels?: ReadonlySet<string> | undefined;
  /** How many certificates of clients are approved and wait for a signature; absent: not known. */
  readonly waiting?: number | undefined;
  /** The same of blocks of traffic; undefined: off. */
  readonly trafficBrake: string | undefined;
  /** The servers of the federation's names that reported. */
  readonly nameServers: readonly ReportedServer[];
  /** The clusters that do not answer although they count as Ready; absent: not known. */
  readonly probes?: FailingProbes;
  /** What was sent to people; absent: notices are off, or not known. */
  readonly notices?: StoredNotices;
  /** What the user may not read; absent: nothing. */
  readonly hidden?: ReadonlySet<HiddenPart>;
}

/** What a user may be refused, as people call it. */
export const HIDDEN_PARTS = {
  clusters: "clusters",
  workloads: "bindings",
  evacuations: "evacuations",
  settings: "the settings of the controllers",
  guards: "the EvacuationBudget",
  policies: "cluster taint policies",
  notices: "notices",
  probes: "metrics",
  leases: "leases of lifeboat-system",
  ingresses: "ingresses",
} as const;

export type HiddenPart = keyof typeof HIDDEN_PARTS;

export function isHidden({ hidden }: StatusView, part: HiddenPart): boolean {
  return hidden?.has(part) ?? false;
}

const NOT_ALLOWED = "not known: you may not read it";

const LABEL = 10;

/** The lines for people, at most 80 columns. */
export function statusLines(view: StatusView, now: Instant): readonly string[] {
  const line = (label: string, text: string): readonly string[] =>
    hanging(label.padEnd(LABEL), text);
  const state = stateOfFleet(view, now);
  const isKnown = isStateKnown(view);
  return [
    ...pageLines(pageOf(view, now), view.probes ?? NO_PROBES, now),
    "",
    ...hiddenTexts(view).flatMap((text) => line("Hidden", text)),
    ...probesTexts(view).flatMap((text) => line("Probes", text)),
    ...line("State", isKnown ? `${state.reason}: ${state.message}` : NOT_ALLOWED),
    ...(view.leader === undefined ? [] : line("Leader", leaderText(view.leader, now))),
    ...replicaTexts(view, now).flatMap((text) => line("Replicas", text)),
    ...trafficTexts(view, now).flatMap((text) => line("Traffic", text)),
    ...line("Gates", isHidden(view, "settings") ? NOT_ALLOWED : gatesText(view.settings)),
    ...approvalTexts(view.settings).flatMap((text) => line("Approval", text)),
    ...(isHidden(view, "clusters") ? [] : line("Fleet", fleetText(view.clusters, state))),
    ...agentLines(view, line),
    ...registrationTexts(view).flatMap((text) => line("Register", text)),
    ...line("Rate", isKnown ? rateText(state, ratesOf(view.settings)) : NOT_ALLOWED),
    ...overrideTexts(view, now).flatMap((text) => line("Rate", text)),
    ...failbackTexts(view).flatMap((text) => line("Failback", text)),
    ...staleTexts(state, now).flatMap((text) => line("Stale", text)),
    ...line("Guard", isHidden(view, "guards") ? NOT_ALLOWED : `deletion guard ${view.brake}`),
    ...(view.trafficBrake === undefined ? [] : line("Guard", `traffic guard ${view.trafficBrake}`)),
    ...clusterTraffic(view.clusters, now).flatMap((text) => line("Traffic", text)),
    ...detectorTexts(view.clusters).flatMap((text) => line("Detectors", text)),
    ...namesTexts(view.nameServers, now).flatMap((text) => line("Names", text)),
    ...(isHidden(view, "notices")
      ? line("Notices", NOT_ALLOWED)
      : notifyTexts(view.settings, view.notices, now).flatMap((text) => line("Notices", text))),
    ...lastCopies(view).flatMap((text) => line("Stuck", text)),
    ...federated(view).flatMap((text) => line("Sets", text)),
    ...leaving(view).flatMap((text) => line("Leaving", text)),
    ...policyLines(view, !isKnown || state.reason === "GateOff" || state.reason === "NoPolicy"),
    "",
    ...(isHidden(view, "evacuations")
      ? ["Evacuations are not shown: you may not list them."]
      : evacuationLines(view.evacuations, now)),
  ];
}

/** Whether the user may read all that tells what failover does at this moment. */
export function isStateKnown(view: StatusView): boolean {
  const parts = ["clusters", "settings", "guards", "policies", "evacuations"] as const;
  return !parts.some((part) => isHidden(view, part));
}

/** What is missing on the page, and which user can grant it. */
function hiddenTexts({ hidden }: StatusView): readonly string[] {
  if (hidden === undefined || hidden.size === 0) return [];
  const names = [...hidden].map((one) => HIDDEN_PARTS[one]);
  return [`you may not read ${names.join(", ")}: an administrator gives you the role`];
}

/** A cluster whose probes fail counts as Ready for a while: where that cannot be seen, the page says so. */
function probesTexts({ probes, clusters, settings, hidden }: StatusView): readonly string[] {
  const modes = new Set(clusters.map(({ spec }) => spec.syncMode));
  if (probes !== undefined || modes.size === 0) return [];
  const withinMs = answersWithinMs(settings);
  const longest = Math.max(...[...modes].map((mode) => withinMs[mode]));
  const why = hidden?.has("probes")
    ? "you may not read the metrics"
    : "this API server does not have them, the metrics of the controllers do";
  return [
    `not known here: ${why}. A cluster that does not answer is shown as down after ${humanDuration(longest)}`,
  ];
}

/** The same for the first part of the page. */
function hiddenOnPage(view: StatusView): ReadonlySet<Hidden> {
  // Name servers report in Leases which change waits for a person.
  const decisions = (["evacuations", "guards", "leases"] as const).some((part) =>
    isHidden(view, part),
  );
  return new Set<Hidden>([
    ...(isHidden(view, "clusters") ? (["clusters"] as const) : []),
    ...(isHidden(view, "workloads") ? (["workloads"] as const) : []),
    ...(decisions ? (["decisions"] as const) : []),
  ]);
}

/** The page that the lines show, also for `-o json`. */
export function pageOf(view: StatusView, now: Instant): StatusPage {
  const { settings, clusters, policies, evacuations, bindings, budget } = view;
  return statusPage(
    {
      controllers: controllersOf(view, now),
      clusters,
      policies,
      evacuations,
      bindings,
      budget,
      trust: fenceTrust(settings),
      failover: isFailoverOn(settings),
      heldNames: heldNames(view.nameServers, now),
      notAnswering: view.probes && new Set(view.probes.keys()),
      hidden: hiddenOnPage(view),
    },
    now,
  );
}

/** Where replicas elect a leader, no controllers run while none holds the Lease. */
function controllersOf(view: StatusView, now: Instant): ControllersState {
  const { settings, leader } = view;
  const isElected = (settings?.["leader-elect-resource"] ?? "") !== "";
  if (isHidden(view, "settings") || (isElected && isHidden(view, "leases")))
    return { state: "Hidden" };
  if (settings === undefined) return { state: "Never" };
  if (leader === undefined || isHeld(leader, now)) return { state: "Running" };
  return { state: "Away", since: parseTime(leader.spec?.renewTime ?? "") };
}

function isHeld({ spec = {} }: Lease, now: Instant): boolean {
  const renewed = parseTime(spec.renewTime ?? "");
  if ((spec.holderIdentity ?? "") === "" || renewed === undefined) return false;
  return now - renewed <= (spec.leaseDurationSeconds ?? 0) * 1000;
}

function agentLines(
  { clusters, tunnels }: StatusView,
  line: (label: string, text: string) => readonly string[],
): readonly string[] {
  const text = tunnelsText(clusters, tunnels);
  return text === undefined ? [] : line("Agents", text);
}

/** How clusters register where another process signs their certificates; the embedded server does all of it, always. */
function registrationTexts({ settings, waiting = 0 }: StatusView): readonly string[] {
  const value = settings?.["registration"];
  if (value !== SIGNED_BY_OTHERS) {
    const isManager = settings?.["leader-elect-resource"] !== undefined;
    return isManager ? ["by a token: off (lifeboat manager --registration)"] : [];
  }
  const late = `${waiting} approved ${waiting === 1 ? "request waits" : "requests wait"} for a signature: it needs --cluster-signing-cert-file`;
  return [
    `by a token; kube-controller-manager signs certificates${waiting === 0 ? "" : `. ${late}`}`,
  ];
}

/** What each server of the federation's names answers from; nothing when none ever reported. */
export function namesTexts(servers: readonly ReportedServer[], now: Instant): readonly string[] {
  return servers.flatMap((server) => {
    const { instance, state, renewTime } = server;
    if (!isReporting(server, now)) {
      const renewed = parseTime(renewTime);
      const age = renewed === undefined ? "never" : `${humanDuration(now - renewed)} ago`;
      return [`${instance} on ${state.listen} last reported ${age}`];
    }
    const { names, federation, zone, listen, held, clashes = [] } = state;
    return [
      `${names} of ${federation}.svc.${zone}, served by ${instance} on ${listen}`,
      ...(held === undefined ? [] : [`${instance}: ${held}`]),
      ...clashes,
    ];
  });
}

/** The changes that servers hold until a person confirms them. */
function heldNames(servers: readonly ReportedServer[], now: Instant): readonly string[] {
  return servers.flatMap((server) => {
    const { held } = server.state;
    return held === undefined || !isReporting(server, now) ? [] : [`${server.instance}: ${held}`];
  });
}

function isReporting({ renewTime, leaseSeconds }: ReportedServer, now: Instant): boolean {
  const renewed = parseTime(renewTime);
  return renewed !== undefined && now - renewed <= leaseSeconds * 1000;
}

const MAX_NAMES = 5;

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

/** The federated StatefulSets: how many, and those that report something. */
function federated({ bindings }: StatusView): readonly string[] {
  const sets = bindings.filter(isFederated);
  if (sets.length === 0) return [];
  const troubled = sets.flatMap((binding) => {
    const [first] = FEDERATED_CONDITIONS.flatMap((type) => {
      const found = findCondition(binding.status?.conditions, type);
      return found?.status === "False" ? [found] : [];
    });
    const { namespace = "", name } = binding.spec.resource;
    return first === undefined ? [] : [`${namespace}/${name}: ${first.reason}. ${first.message}`];
  });
  const counted = `${sets.length} federated StatefulSet${sets.length === 1 ? "" : "s"}`;
  if (troubled.length === 0) return [`${counted}, all as they should be`];
  const rest = troubled.length - MAX_NAMES;
  return [
    `${counted}, of which ${troubled.length} ${troubled.length === 1 ? "reports" : "report"} something`,
    ...troubled.slice(0, MAX_NAMES),
    ...(rest > 0 ? [`and ${rest} more: lifeboat get statefulsets`] : []),
  ];
}

/** What matters first comes first. */
const FEDERATED_CONDITIONS = [
  "IdentitiesAssigned",
  "RolloutComplete",
  "HeadlessServiceFound",
  "PodServicesAddressed",
  "NamesUnique",
] as const;

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
export function leaderText(lease: Lease, now: Instant): string {
  const { spec = {} } = lease;
  const { holderIdentity = "" } = spec;
  const renewed = parseTime(spec.renewTime ?? "");
  const acquired = parseTime(spec.acquireTime ?? "");
  if (holderIdentity === "" || renewed === undefined)
    return "none: no replica of `lifeboat manager` holds the Lease";
  const name = hostOf(holderIdentity);
  if (!isHeld(lease, now))
    return `none: ${name} renewed the Lease ${humanDuration(now - renewed)} ago and has not since`;
  return acquired === undefined ? name : `${name}, for ${humanDuration(now - acquired)}`;
}

function hostOf(holderIdentity: string): string {
  return holderIdentity.replace(/_[0-9a-f-]{36}$/, "");
}

/** How replicas share out the members: `host-a 3 members, host-b none: it reaches too few`. */
function replicaTexts({ replicas = [] }: StatusView, now: Instant): readonly string[] {
  const running = replicas.filter((lease) => isHeld(lease, now));
  if (running.length === 0) return [];
  const texts = running.map(({ metadata, spec }) => {
    const { isBlind, members, ceded } = parseReport(
      metadata.annotations?.[wellKnown.REPLICA_REPORT],
    );
    const many = members === 1 ? "one member" : `${members} members`;
    const share = isBlind && members === 0 ? "none: it reaches too few members" : many;
    const lost = ceded.length === 0 ? "" : ` (cannot reach ${ceded.join(", ")})`;
    return `${hostOf(spec?.holderIdentity ?? "")} ${share}${lost}`;
  });
  return [`members are shared out: ${texts.toSorted().join("; ")}`];
}

/** Which load balancers of ours serve, as far as their Leases show; nothing while there is neither one nor an ingress. */
function trafficTexts(view: StatusView, now: Instant): readonly string[] {
  const { leases = [], ingresses = 0 } = view.traffic ?? {};
  if (leases.length === 0 && ingresses === 0) return [];
  const serving = leases.filter(({ spec = {} }) => {
    const renewed = parseTime(spec.renewTime ?? "");
    return renewed !== undefined && now - renewed <= (spec.leaseDurationSeconds ?? 0) * 1000;
  });
  const counted = ingresses === 1 ? "one ingress" : `${ingresses} ingresses`;
  const what = isHidden(view, "ingresses") ? "ingresses that you may not read" : counted;
  if (isHidden(view, "leases")) return [`${what}; which load balancers serve is ${NOT_ALLOWED}`];
  if (serving.length === 0) return [`${what}, and no load balancer of ours serves`];
  const names = serving.map(({ metadata }) => metadata.name);
  return [`${what}, served by ${names.slice(0, MAX_NAMES).join(", ")}`];
}

function gatesText(settings: PublishedSettings | undefined): string {
  if (settings === undefined) return "unknown: no controllers have run on this control plane";
  const entries = (settings["feature-gates"] ?? "").split(",");
  return gateNames
    .map((gate) => `${gate} ${entries.includes(`${gate}=true`) ? "on" : "off"}`)
    .join(", ");
}

function isFailoverOn(settings: PublishedSettings | undefined): boolean {
  return (settings?.["feature-gates"] ?? "").split(",").includes("Failover=true");
}

export function stateOfFleet(
  { settings, clusters, policies, evacuations, bindings, budget }: StatusView,
  now: Instant,
) {
  return failoverState({
    hasControllers: settings !== undefined,
    failover: isFailoverOn(settings),
    hasEvictingPolicy: policies
      .flatMap(rulesOf)
      .some(({ effect }) => EVICTING_EFFECTS.includes(effect)),
    isPaused: budget?.spec.paused === true,
    isolationAgreedAt: budget?.spec.isolationAgreedAt,
    rateOverride: overrideOf(budget?.spec.rateOverride, plainMoment(now)),
    rates: ratesOf(settings),
    clusters,
    evacuations,
    bindings,
  });
}

/** The workloads that return by themselves after an outage. */
function failbackTexts({ bindings, clusters }: StatusView): readonly string[] {
  const byName = new Map(clusters.map((one) => [one.metadata.name, one]));
  const returning = bindings.filter((one) => isReturning(one, (name) => byName.get(name)));
  if (returning.length === 0) return [];
  return [`${namesOf(returning)} ${returning.length === 1 ? "returns" : "return"} after an outage`];
}

/** The switch of the fleet, when it is not the default. */
function approvalTexts(settings: PublishedSettings | undefined): readonly string[] {
  return settings?.["evacuation-approval"] === "Required"
    ? ["Required: nothing leaves a failed cluster before a person approves it"]
    : [];
}

/** The rate that a person set, while it holds, and how to end it. */
function overrideTexts({ budget }: StatusView, now: Instant): readonly string[] {
  const { rateOverride } = budget?.spec ?? {};
  const until = overrideUntil(rateOverride, plainMoment(now));
  if (rateOverride === undefined || until === undefined) return [];
  const left = humanDuration(until - now);
  return [
    `a person set ${setRateText(rateOverride)} for ${left} more: ${rateOverride.reason}; \`lifeboat evacuations rate --clear\` ends it`,
  ];
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
function rateText({ rate, mayMove }: FailoverState, rates: RateOptions): string {
  const { perSecond, reason } = rate;
  const said = `${perSecond}/s${brakedText(rate, rates)} ${reason}`;
  const isPlain = mayMove || perSecond === 0;
  return isPlain ? `${said}: ${rateReasons[reason]}` : `${said}, once something may move`;
}

/** What the rate falls to, and when, where nothing else decides it. */
function brakedText({ reason, counted }: Rate, rates: RateOptions): string {
  if (!FLEET_RATES.has(reason)) return ",";
  const braked = counted > rates.largeFleetThreshold ? rates.secondaryRate : 0;
  return `; ${braked}/s above ${Math.round(rates.unhealthyThreshold * 100)} % failed.`;
}

const FLEET_RATES: ReadonlySet<Rate["reason"]> = new Set([
  "FleetHealthy",
  "FleetUnhealthy",
  "FleetTooUnhealthy",
]);

export function ratesOf(settings: PublishedSettings = {}): RateOptions {
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

/** Which conditions mark a cluster as failed, and what all policies do. `isSaid`: the state has said that nothing moves. */
function policyLines({ policies, settings }: StatusView, isSaid: boolean): readonly string[] {
  const rules = policies.flatMap(rulesOf);
  const evicting = rules.filter(({ effect }) => EVICTING_EFFECTS.includes(effect));
  const summary = !isFailoverOn(settings)
    ? "Nothing moves by itself: the feature gate Failover is off."
    : evicting.length === 0
      ? "No policy marks clusters as failed: nothing moves by itself."
      : `A cluster is failed when ${[...new Set(evicting.map(({ when }) => when))].join("; or ")}.`;
  const rows = rules.map(({ policy, taint, when }) => [policy, `${taint} when ${when}`]);
  return [
    ...(isSaid ? [] : ["", ...hanging("", summary)]),
    ...(rules.length === 0 ? [] : ["", ...columns(["TAINT POLICY", "WHAT IT ADDS"], rows)]),
  ];
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
