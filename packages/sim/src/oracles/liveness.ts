/**
 * Oracles of group L: how long things take. They judge when what was waited for happens; that it happens at all is for those
 * that judge a world that has converged (C8, O-graceful-8, H5).
 *
 * L-4 (a cluster is served although another has many entries) is judged with C8: clusters take turns. L-5 (once the trouble is
 * over everything is as before) is what every run ends with: it has to converge in bounded time, and to rest (H7).
 */
import type { AnyObject } from "@lifeboat/api";
import { type Committed, parseObject } from "../disk/ledger.ts";
import { type Decision, decisionsOf, Eligibility, noTarget, taintOf } from "./decisions.ts";
import { type Borne, policiesFor, windowsOf } from "./fleet.ts";
import type { AlwaysOracle, Judge } from "./oracle.ts";
import { slowestTokenMs } from "./rate.ts";
import { BINDINGS, bindingOf, isOfPerson, manifestsOf, modeOf, WORKLOADS } from "./reading.ts";
import { Silences } from "./silences.ts";
import { clusterOf, isHealthyCopy, tableOf, type Truth, WORKS } from "./truth.ts";

/** What a Work may take from being written to its object in the member. */
const ARRIVAL_MS = 5000;
/** Members are asked so often whether they are well. */
const PROBE_MS = 10_000;
/** What may come on top of what a failover waits for: writes, whole seconds, and looking again. */
const FAILOVER_SLACK_MS = 10_000;
/** Pods of simulated members start within this. */
const START_MS = 5000;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "failover-is-in-time",
    promise:
      "L-2: when nothing else is wrong, a workload leaves a lost cluster within detection, the add window, its toleration and its place in line by the rate, and its new copy is healthy a start later",
    on: "both",
    tables: [...BINDINGS, ...WORKLOADS],
    start: (truth) => {
      const eligibility = Eligibility.of(truth);
      Silences.of(truth);
      const leaving = new Leaving();
      return (change) => {
        if (!truth.circumstances.onlyLosses) return [];
        if (change.server !== "plane") return leaving.judgeCopy(truth, change);
        return decisionsOf(change).flatMap((decision) => {
          leaving.begin(decision);
          const lateMs = lateness(decision, truth, eligibility);
          return lateMs > 0
            ? [`${decision.key} left ${decision.cluster} ${lateMs} ms later than it should`]
            : [];
        });
      };
    },
  },
  {
    name: "no-member-waits-for-another",
    promise:
      "L-3: what a Work says is in a member that answers within five seconds, however slow other members are",
    on: "both",
    tables: [WORKS, ...WORKLOADS],
    start: (truth) => {
      const made = new Map<string, number>();
      const takeWork = ({ key, row, at }: Committed): void => {
        const cluster = clusterOf(key.split("/", 1)[0]) ?? "";
        for (const manifest of manifestsOf(parseObject(row.bytes))) {
          const where = placeOf(cluster, tableOf(manifest.kind), keyOf(manifest));
          if (row.type === "ADDED") made.set(where, at);
          else if (row.type === "DELETED") made.delete(where);
        }
      };
      const judge: Judge = (change) => {
        const { server, table, key, row, at } = change;
        if (server === "plane") {
          if (table === WORKS) takeWork(change);
          return [];
        }
        const where = placeOf(server, table, key);
        const since = made.get(where);
        if (row.type !== "ADDED" || since === undefined) return [];
        made.delete(where);
        // A namespace that was deleted and made again has to go first.
        if (truth.circumstances.disturbed.has(server) || !key.startsWith("default/")) return [];
        const waitedMs = at - Math.max(since, truth.witness.startedAt);
        return waitedMs > ARRIVAL_MS && !truth.wasLateSince(since)
          ? [`${where} came ${waitedMs} ms after its Work`]
          : [];
      };
      return judge;
    },
  },
];

function placeOf(server: string, table: string, key: string): string {
  return `${server} ${table} ${key}`;
}

function keyOf({ metadata }: AnyObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

/** By how many milliseconds an eviction is later than it may be; 0 where something else may have kept it. */
function lateness(decision: Decision, truth: Truth, eligibility: Eligibility): number {
  const { at, binding, cluster } = decision;
  const borne = taintOf(decision, eligibility.fleet.clusters.get(cluster));
  if (borne === undefined || isOfPerson(truth, binding)) return 0;
  // Who has state to keep may be held because of it (D12).
  if (binding.spec.failover?.cluster?.statePreservation !== undefined) return 0;
  const costMs = slowestTokenMs(truth, eligibility.fleet, borne.since);
  const waits = eligibility
    .termsSince(binding.metadata.uid, borne.taint, borne.since)
    .flatMap((terms) => (terms === undefined ? [] : [terms.seconds * 1000]));
  const place = truth.evictions.filter((time) => time >= borne.since).length;
  const tolerated = taintedBy(borne, cluster, truth, eligibility) + Math.max(0, ...waits);
  const hasTarget = targetSince(decision, tolerated, eligibility);
  // While most Pull clusters are silent nothing moves (D6).
  const dueAt = Math.max(hasTarget, Silences.of(truth).endedAt);
  return Math.max(0, at - dueAt - place * costMs - FAILOVER_SLACK_MS);
}

/** From when on it has had somewhere to go, at the latest: who has no target waits until a taint leaves another cluster (D8). */
function targetSince({ before, cluster }: Decision, since: number, { fleet }: Eligibility): number {
  if (noTarget(before, cluster, fleet, { certainSince: since }) === undefined) return since;
  const others = [...fleet.clusters].filter(([name]) => name !== cluster);
  const lost = others.flatMap(([, known]) => known.lost);
  return Math.max(since, ...lost.map(({ until }) => until));
}

/** When the taint should have come at the latest: for a lost cluster, detection and the window of its policy after the loss. */
function taintedBy(
  borne: Borne,
  cluster: string,
  { witness }: Truth,
  { fleet }: Eligibility,
): number {
  const lost = witness.probes(cluster).filter(({ ok, since }) => !ok && since <= borne.since);
  if (!borne.isByPolicy || lost.length === 0) return borne.since;
  const since = Math.max(...lost.map((run) => run.since));
  const { clusterFailureThresholdMs } = witness.controllers;
  const windows = policiesFor(fleet, borne).map((known) => windowsOf(known, borne).addMs);
  const window = Math.max(0, ...windows);
  return since + clusterFailureThresholdMs + PROBE_MS + window;
}

/** Workloads that left a cluster, until a new copy of theirs is healthy. */
class Leaving {
  /** By the uid of the binding. */
  readonly #since = new Map<string, number>();

  begin({ at, binding, task }: Decision): void {
    // In mode Directly the old copy has to be gone first, which a silent cluster does not say.
    if (modeOf(task) !== "Directly") this.#since.set(binding.metadata.uid, at);
  }

  judgeCopy(truth: Truth, { at, row, previous, server, key }: Committed): readonly string[] {
    if (row.type === "DELETED") return [];
    const copy = parseObject(row.bytes);
    if (!isHealthyCopy(copy) || isHealthyCopy(previous?.object)) return [];
    const uid = bindingOf(truth, copy)?.metadata.uid ?? "";
    const since = this.#since.get(uid);
    this.#since.delete(uid);
    // The new place may be lost, too, and nobody has seen that yet.
    if (truth.circumstances.disturbed.has(server)) return [];
    const lateMs = at - (since ?? at) - START_MS - ARRIVAL_MS;
    return lateMs > 0 ? [`${key} became healthy in ${server} ${lateMs} ms too late`] : [];
  }
}
