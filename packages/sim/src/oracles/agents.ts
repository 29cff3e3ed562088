/**
 * Oracles of members that pull: when a silent cluster is Unknown (A2), that nothing moves while the control plane itself may be
 * cut off (C11), which first copies agents make (E9), and what a stolen agent identity can change (H9).
 *
 * Times are true time: those of commits, not those that agents write.
 */
import type { AnyObject, Cluster, ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Committed, parseObject } from "../disk/ledger.ts";
import type { Write } from "../network/sim-client.ts";
import { onDecisions } from "./decisions.ts";
import type { AlwaysOracle, Judge } from "./oracle.ts";
import { bindingOf, BINDINGS, clusterNamed, isGoing, pairOf, readyOf, workOf } from "./reading.ts";
import { Silences } from "./silences.ts";
import { clusterOf, CLUSTERS, type Truth } from "./truth.ts";

/** The mark on every object that a stolen agent identity writes. */
export const FORGED = "test.example/forged";
/** The prefix of the caller that uses a stolen identity; the name of the member follows. */
export const FORGER = "forger ";

const LEASES = "coordination.k8s.io/leases";
/** What the plane may take for a write that nothing delays. */
const SLACK_MS = 10;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "unknown-follows-silence",
    promise:
      "A2: a Pull cluster becomes Unknown only when its Lease was not renewed for the whole grace period",
    on: "plane",
    tables: [CLUSTERS, LEASES],
    start: (truth) => {
      const renewals = new Renewals();
      return (change) => {
        if (change.table === LEASES) return renewals.take(change);
        const { before, now } = pairOf<Cluster>(change);
        if (before === undefined || now?.spec.syncMode !== "Pull") return [];
        if (readyOf(now) !== "Unknown" || readyOf(before) === "Unknown") return [];
        const { name } = now.metadata;
        const { clusterMonitorGracePeriodMs: graceMs } = truth.witness.controllers;
        // A renewal that came between the last reading of the Lease and the write was too late.
        const readAt = change.at - truth.roundTripMs - SLACK_MS;
        const silentMs = change.at - renewals.lastBefore(name, readAt);
        return silentMs >= graceMs
          ? []
          : [`${name} became Unknown ${silentMs} ms after its Lease was renewed`];
      };
    },
  },
  {
    name: "silence-is-noticed",
    promise:
      "A2: a Pull cluster that is silent for the grace period, one look of the monitor and what a write may take, is Unknown",
    on: "plane",
    tables: [CLUSTERS, LEASES],
    start: (truth) => {
      /** By cluster: when something was last heard of it. */
      const heard = new Map<string, number>();
      return (change) => {
        const name = change.key.split("/")[1] ?? "";
        const { before, now } = pairOf<Cluster>(change);
        const isMark = readyOf(now) === "Unknown" && readyOf(before) !== "Unknown";
        if (change.table === CLUSTERS && isMark) return [];
        const last = heard.get(name);
        if (change.row.type === "DELETED") heard.delete(name);
        else heard.set(name, change.at);
        if (change.table !== LEASES || last === undefined) return [];
        return isUnnoticed(truth, name, last, change.at)
          ? [`nothing was heard of ${name} for ${change.at - last} ms, and it was not Unknown`]
          : [];
      };
    },
  },
  onDecisions(
    "nothing-moves-when-most-are-silent",
    "C11: while more than half of the Pull clusters are silent that fell silent within a minute, nobody is evicted (D6)",
    (truth) => {
      const silences = Silences.of(truth);
      return ({ at }) => {
        const together = silences.togetherUntil(at - truth.lagMs);
        return together === undefined ? undefined : `${together} are silent`;
      };
    },
  ),
  {
    name: "no-first-copy-that-nothing-wants",
    promise:
      "E9: an agent makes a first copy only while the binding has its cluster in the result, or a workload that needs the resource has (D26)",
    on: "both",
    start: (truth) => {
      const wishes = new Wishes();
      return (change) => {
        if (change.server !== "plane") return judgeCopy(truth, wishes, change);
        if (BINDINGS.includes(change.table)) wishes.take(change);
        return [];
      };
    },
  },
  {
    name: "agents-change-only-their-own",
    promise:
      "H9: the identity of an agent changes nothing but reports about its own cluster and its Works, its Lease and its Secret; nothing that attracts work, and nothing of others (T2)",
    on: "plane",
    start: (truth) => (truth.circumstances.forgers.size === 0 ? () => [] : judgeForgery(truth)),
  },
];

/** When Leases of clusters were renewed. */
class Renewals {
  readonly #times = new Map<string, number[]>();

  take({ key, at, row }: Committed): readonly [] {
    const [namespace, name = ""] = key.split("/");
    if (namespace !== wellKnown.CLUSTER_NAMESPACE || row.type === "DELETED") return [];
    const times = this.#times.get(name) ?? [];
    times.push(at);
    this.#times.set(name, times.slice(-REMEMBERED));
    return [];
  }

  lastBefore(name: string, moment: number): number {
    return (this.#times.get(name) ?? []).findLast((at) => at <= moment) ?? Number.NEGATIVE_INFINITY;
  }
}

const REMEMBERED = 50;

/** Whether a silence was so long that the cluster must have become Unknown, and did not. */
function isUnnoticed(truth: Truth, name: string, last: number, at: number): boolean {
  const { clusterMonitorGracePeriodMs, clusterMonitorPeriodMs } = truth.witness.controllers;
  const { patienceMs } = truth.circumstances;
  const boundMs = clusterMonitorGracePeriodMs + clusterMonitorPeriodMs + patienceMs;
  if (at - last <= boundMs) return false;
  // A control plane that started, or could not read, meanwhile has waited for less.
  if (truth.wasLateSince(last) || !truth.witness.livedThrough(last, boundMs)) return false;
  const cluster = clusterNamed(truth, name);
  return cluster !== undefined && !isGoing(cluster) && readyOf(cluster) !== "Unknown";
}

/** The clusters that a binding wants copies in. */
function wantedBy(binding: ResourceBinding | undefined): readonly string[] {
  if (binding === undefined || isGoing(binding)) return [];
  const { clusters = [], requiredBy = [] } = binding.spec;
  return [...clusters, ...requiredBy.flatMap((other) => other.clusters ?? [])].map(
    ({ name }) => name,
  );
}

/** Until when bindings wanted copies in clusters that they want none in any more. */
class Wishes {
  readonly #until = new Map<string, number>();

  take(change: Committed): void {
    const { before, now } = pairOf(change);
    const still = new Set(wantedBy(now));
    for (const cluster of wantedBy(before))
      if (!still.has(cluster)) this.#until.set(`${change.key} ${cluster}`, change.at);
  }

  /** When a binding last wanted a copy there. */
  lastOf(binding: string, cluster: string): number {
    return this.#until.get(`${binding} ${cluster}`) ?? Number.NEGATIVE_INFINITY;
  }
}

function judgeCopy(truth: Truth, wishes: Wishes, change: Committed): readonly string[] {
  const { server, row, at, previous } = change;
  if (row.type !== "ADDED" || previous !== undefined) return [];
  const { liars, restored, slowAgents } = truth.circumstances;
  if (clusterNamed(truth, server)?.spec.syncMode !== "Pull") return [];
  if (liars.has(server) || restored.has(server) || slowAgents.has(server)) return [];
  const copy = parseObject(row.bytes);
  const { annotations = {}, labels = {}, ownerReferences } = copy.metadata;
  if (labels[wellKnown.MANAGED] !== "true" || ownerReferences !== undefined) return [];
  const name = annotations[wellKnown.BINDING_NAME] ?? annotations[wellKnown.CLUSTER_BINDING_NAME];
  if (name === undefined) return [];
  const binding = bindingOf(truth, copy);
  if (wantedBy(binding).includes(server)) return [];
  const key = `${annotations[wellKnown.BINDING_NAMESPACE] ?? ""}/${name}`;
  if (at - wishes.lastOf(key, server) <= truth.lagMs + truth.roundTripMs) return [];
  if (binding !== undefined && wasTried(workOf(truth, binding, server))) return [];
  return [`${server} got ${change.table} ${change.key}, which ${key} does not want there`];
}

/** Whether the Work was applied before: its copy is no first one. */
function wasTried(work: ReturnType<typeof workOf>): boolean {
  return (work?.status?.conditions ?? []).some(({ type }) => type === "Applied");
}

/** Judges what bears the mark of a forger. */
function judgeForgery({ circumstances: { forgers } }: Truth): Judge {
  return ({ table, key, row, previous }) => {
    if (row.type === "DELETED") return [];
    const { metadata, status, ...content } = parseObject(row.bytes) as Reported;
    const former = JSON.stringify(previous?.object ?? {});
    const isForged = (part: unknown): boolean =>
      JSON.stringify(part ?? {}).includes(FORGED) && !former.includes(FORGED);
    const isOwnLease = table === LEASES && forgers.has(metadata.name);
    if (!isOwnLease && isForged({ metadata, ...content })) return [`${table} ${key} was forged`];
    return isForged(withoutReports(forgers, status)) && !isOwnReport(forgers, table, metadata)
      ? [`the status of ${table} ${key} was forged`]
      : [];
  };
}

type Reported = AnyObject & {
  readonly status?: ResourceBinding["status"];
};

/** The status of a binding without what it shows of a forger's reports. */
function withoutReports(forgers: ReadonlySet<string>, status: Reported["status"]): unknown {
  const { aggregatedStatus, ...rest } = status ?? {};
  if (aggregatedStatus === undefined) return status;
  return [rest, aggregatedStatus.filter(({ clusterName }) => !forgers.has(clusterName))];
}

function isOwnReport(
  forgers: ReadonlySet<string>,
  table: string,
  { namespace, name }: AnyObject["metadata"],
): boolean {
  return forgers.has((table === CLUSTERS ? name : clusterOf(namespace)) ?? "");
}

/** The writes of a stolen agent identity that the server accepted, although an agent may not make them. */
export function judgeTaken({ from, verb, what, table, key }: Write): readonly string[] {
  if (!from.startsWith(FORGER)) return [];
  const member = from.slice(FORGER.length);
  const [namespace = "", name = ""] = key.split("/");
  const isOwn =
    table === CLUSTERS || table === LEASES ? name === member : clusterOf(namespace) === member;
  const isFree = verb !== "delete" && isOwn;
  return isFree ? [] : [`${from} was let ${verb} ${what}`];
}
