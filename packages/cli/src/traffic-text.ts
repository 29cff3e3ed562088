/** What `lifeboat traffic`, `remedy list`, `status` and `explain` show of Remedies and of the traffic that they block. */
import {
  type Cluster,
  findCondition,
  humanDuration,
  type MultiClusterIngress,
  REMEDY_ACTIONS,
  type Remedy,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import {
  causeOf,
  hasAction,
  namesOfSource,
  readSources,
  type RemedySource,
} from "@lifeboat/core/remedy/actions";
import { ALL_BACKENDS_BLOCKED } from "@lifeboat/core/remedy/ingress";
import { type DrainCause, publishedBackends, type PublishedService } from "@lifeboat/core/traffic";
import { columns, hanging } from "./wrap.ts";

/** Every ingress with every cluster that has a backend of it. */
export function trafficLines(
  ingresses: readonly MultiClusterIngress[],
  clusters: readonly Cluster[],
  now: Instant,
): readonly string[] {
  if (ingresses.length === 0)
    return ["There is no MultiClusterIngress.", ...clusterTraffic(clusters, now)];
  const byName = new Map(clusters.map((cluster) => [cluster.metadata.name, cluster]));
  const rows = ingresses.flatMap((ingress) => ingressRows(ingress, byName, now));
  const warnings = ingresses.flatMap(({ metadata: { namespace = "", name }, status }) => {
    const all = findCondition(status?.conditions, ALL_BACKENDS_BLOCKED);
    return all?.status === "True" ? hanging("", `${namespace}/${name}: ${all.message}`) : [];
  });
  return [
    ...columns(["INGRESS", "CLUSTER", "STATE", "SINCE", "WHY"], rows),
    ...(warnings.length === 0 ? [] : ["", ...warnings]),
  ];
}

function ingressRows(
  ingressObject: MultiClusterIngress,
  clusters: ReadonlyMap<string, Cluster>,
  now: Instant,
): readonly (readonly string[])[] {
  const { metadata, status } = ingressObject;
  const { services } = publishedBackends(ingressObject);
  const ingress = `${metadata.namespace ?? ""}/${metadata.name}`;
  const locations = status?.serviceLocations ?? [];
  const blocked = new Set(status?.trafficBlockClusters);
  const names = [...new Set(locations.flatMap(({ clusters: some = [] }) => some))].sort();
  const missing = locations.filter(({ clusters: some = [] }) => some.length === 0);
  return [
    ...names.map((cluster) => {
      const found = clusters.get(cluster);
      const isBlocked = blocked.has(cluster);
      const { since, why } = found === undefined ? NOTHING : blockText(found, isBlocked, now);
      if (isBlocked) return [ingress, cluster, "blocked", since, why];
      const [state, backendSince, backendWhy] = backendText(services, cluster, now);
      const whys = [why, backendWhy].filter((text) => text !== "");
      return [ingress, cluster, state, since || backendSince, whys.join("; ")];
    }),
    ...missing.map((one) => [ingress, "-", "missing", "", `Service ${one.name} is in no cluster`]),
  ];
}

const NOTHING = { since: "", why: "" };

/** State, since when and why, of a cluster that nothing blocks, from what is published of its backends. */
function backendText(
  services: Readonly<Record<string, PublishedService>>,
  cluster: string,
  now: Instant,
): readonly [state: string, since: string, why: string] {
  const all = Object.entries(services).flatMap(([name, { clusters }]) => {
    const published = clusters[cluster];
    return published === undefined ? [] : [{ name, ...published }];
  });
  const named = (some: readonly { readonly name: string }[]): string =>
    `Service${some.length > 1 ? "s" : ""} ${some.map(({ name }) => name).join(", ")}`;
  const unreached = all.filter(({ addresses }) => addresses.length === 0);
  if (unreached.length > 0)
    return [
      "unreached",
      "",
      `${named(unreached)} has no address there: no load balancer, no node port, or no ready pod`,
    ];
  const draining = all.filter(({ state }) => state === "draining");
  if (draining.length > 0) {
    const causes = [...new Set(draining.map(({ cause }) => cause))];
    const whys = causes.map(
      (cause) => `${named(draining.filter((one) => one.cause === cause))} ${drainText(cause)}`,
    );
    const [first] = draining
      .flatMap(({ drainingSince = "" }) => parseTime(drainingSince) ?? [])
      .sort((a, b) => a - b);
    return ["draining", first === undefined ? "" : humanDuration(now - first), whys.join("; ")];
  }
  const since = parseTime(all.find((one) => one.unconfirmedSince)?.unconfirmedSince ?? "");
  if (since === undefined) return ["serving", "", ""];
  return ["serving", humanDuration(now - since), "not confirmed since: the cluster is not Ready"];
}

function drainText(cause: DrainCause | undefined): string {
  if (cause === "leaves") return "leaves: its substitute is healthy";
  if (cause === "idle") return "has no ready replica there";
  if (cause === "gone") return "is not placed there with a workload";
  return "leaves, or has no ready replica there";
}

/** Why a cluster is blocked, or why it is not although a Remedy asks for it. */
function blockText(
  cluster: Cluster,
  isBlocked: boolean,
  now: Instant,
): { readonly since: string; readonly why: string } {
  const sources = readSources(cluster).filter(({ action }) => action === TRAFFIC_CONTROL);
  const [first] = sources;
  if (first === undefined) return NOTHING;
  const given = sources.filter(({ held }) => held !== true);
  const since = sinceText(given[0] ?? first, now);
  if (isBlocked) return { since, why: given.map(sourceText).join("; ") };
  if (given.length === 0)
    return { since, why: `held by the brake: ${sources.map(namesOfSource).join("; ")}` };
  const names = given.map(namesOfSource).join("; ");
  return hasAction(cluster, TRAFFIC_CONTROL)
    ? { since, why: `${names} would block it, and with it the last backend` }
    : { since, why: `${names} will block it` };
}

function sourceText(source: RemedySource): string {
  return `${namesOfSource(source)} (${source.cause === "Order" ? "a person's order" : "by conditions"})`;
}

function sinceText({ since }: RemedySource, now: Instant): string {
  const time = parseTime(since);
  return time === undefined ? "" : humanDuration(now - time);
}

/** The clusters that Remedies block or would block, a line each. */
export function clusterTraffic(clusters: readonly Cluster[], now: Instant): readonly string[] {
  return clusters.flatMap((cluster) => {
    const { name } = cluster.metadata;
    const isBlocked = hasAction(cluster, TRAFFIC_CONTROL);
    const { since, why } = blockText(cluster, isBlocked, now);
    if (why === "") return [];
    return [`${name} ${isBlocked ? "gets no traffic" : "gets traffic"}: ${why}, for ${since}`];
  });
}

/** Every Remedy: when it acts, with what, and on which clusters now. */
export function remedyLines(
  remedies: readonly Remedy[],
  clusters: readonly Cluster[],
): readonly string[] {
  if (remedies.length === 0) return ["There is no Remedy."];
  const rows = remedies.map((remedy) => {
    const { actions = [], clusterAffinity } = remedy.spec;
    const { clusterNames = [] } = clusterAffinity ?? {};
    const active = clusters.filter((cluster) => causeOf(remedy, cluster) !== undefined);
    const held = active.filter((cluster) => isHeld(cluster, remedy));
    return [
      remedy.metadata.name,
      actions.join(", ") || "nothing",
      clusterNames.join(", ") || "all clusters",
      active.map((one) => one.metadata.name + (held.includes(one) ? " (held)" : "")).join(", ") ||
        "none",
      whenText(remedy),
    ];
  });
  return [
    ...columns(["REMEDY", "ACTIONS", "CLUSTERS", "ACTS ON", "WHEN"], rows),
    ...unknownLines(remedies),
  ];
}

function unknownLines(remedies: readonly Remedy[]): readonly string[] {
  const lines = remedies.flatMap(({ metadata, spec: { actions = [] } }) => {
    const unknown = actions.filter((action) => !REMEDY_ACTIONS.includes(action));
    return unknown.length === 0
      ? []
      : hanging(
          "",
          `${metadata.name}: no part of the control plane carries out ${unknown.join(", ")}`,
        );
  });
  return lines.length === 0 ? [] : ["", ...lines];
}

function isHeld(cluster: Cluster, { metadata }: Remedy): boolean {
  return readSources(cluster).some(
    ({ held, remedies }) => held === true && remedies.includes(metadata.name),
  );
}

function whenText({ spec: { decisionMatches = [] } }: Remedy): string {
  if (decisionMatches.length === 0) return "always";
  return decisionMatches
    .map(({ clusterConditionMatch: match }) => {
      if (match === undefined) return "never";
      const not = match.operator === "NotEqual" ? "not " : "";
      return `${match.conditionType} is ${not}${match.conditionStatus}`;
    })
    .join(" or ");
}
