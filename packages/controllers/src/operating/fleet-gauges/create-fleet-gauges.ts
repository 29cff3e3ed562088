/**
 * Counts what a person is called for, and shows it as metrics: workloads under strength and waiting for a person, evacuations by
 * phase, brakes, changes of readiness. The rules are in core/operating/strength.ts. It writes nothing.
 *
 * 1. Counts follow changes: a change of a binding costs that binding, a cluster that falls silent or returns the workloads on it.
 *    A scrape walks nothing.
 * 2. Nothing is shown before all caches are complete, and nothing after this process has ceased to lead.
 */
import {
  type Cluster,
  EVACUATION_PHASES,
  findCondition,
  formatKey,
  hasCondition,
  keyOf,
} from "@lifeboat/api";
import { PLANE_MAY_BE_ISOLATED } from "@lifeboat/core/failover/evacuation";
import type { FenceTrust } from "@lifeboat/core/failover/eviction-tasks";
import { READY } from "@lifeboat/core/failover/health";
import {
  mattersForStrength,
  PERSON_REASONS,
  type Strength,
  strengthOf,
  waitingIn,
} from "@lifeboat/core/operating";
import { MASS_DELETION, RESTORED } from "@lifeboat/core/propagation/brake";
import type { Service } from "@lifeboat/kit";
import { type Binding, bindingsBy } from "../../context/bindings.ts";
import { clusterReadyState } from "../../context/cluster-metrics.ts";
import type { PlaneContext } from "../../context/context.ts";
import { FLEET_RECORD } from "../../context/fleet-record.ts";
import * as declared from "./metrics.ts";

/** Builds the service. */
export function createFleetGauges(context: PlaneContext, trust: FenceTrust): Service {
  return new FleetGauges(context, trust);
}

const BRAKES = [MASS_DELETION, RESTORED, PLANE_MAY_BE_ISOLATED] as const;
const PAUSED = "Paused";

class FleetGauges implements Service {
  readonly name = "fleet-gauges";
  readonly #context: PlaneContext;
  readonly #trust: FenceTrust;
  readonly #gauges;
  readonly #readyChanges;
  /** Of every workload that counts, by its key. */
  readonly #strengths = new Map<string, Strength>();
  #underStrength = 0;
  #awaitingFence = 0;

  constructor(context: PlaneContext, trust: FenceTrust) {
    const { metrics } = context;
    this.#context = context;
    this.#trust = trust;
    this.#gauges = {
      workloads: metrics.gauge(declared.workloads),
      underStrength: metrics.gauge(declared.workloadsUnderStrength),
      waiting: metrics.gauge(declared.workloadsWaitingForPerson),
      evacuations: metrics.gauge(declared.evacuationsByPhase),
      brake: metrics.gauge(declared.brake),
      ready: metrics.gauge(clusterReadyState),
    };
    this.#readyChanges = metrics.counter(declared.readyChanges);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers } = this.#context;
    const { clusters, resourceBindings, clusterResourceBindings } = informers;
    const { evacuations, evacuationBudgets } = informers;
    const sources = [clusters, resourceBindings, clusterResourceBindings, evacuations];
    for (const source of [...sources, evacuationBudgets])
      if (!(await source.whenSynced(signal))) return;
    if (signal.aborted) return;
    const changed = (old: Binding | undefined, now: Binding | undefined): void =>
      this.#count(old, now);
    const stops = [
      resourceBindings.onChange(changed),
      clusterResourceBindings.onChange(changed),
      clusters.onChange((old, now) => this.#clusterChanged(old, now)),
      evacuations.onChange(() => this.#showEvacuations()),
      evacuationBudgets.onChange(() => this.#showBrakes()),
    ];
    this.#showStrengths();
    this.#showEvacuations();
    this.#showBrakes();
    try {
      await aborted(signal);
    } finally {
      for (const stop of stops) stop();
      this.#showNothing();
    }
  }

  #count(old: Binding | undefined, now: Binding | undefined): void {
    const key = keyText(now ?? old);
    const { informers } = this.#context;
    const clusterOf = (name: string): Cluster | undefined =>
      informers.clusters.get({ namespace: "", name });
    const before = this.#strengths.get(key);
    const after = now && strengthOf(now, clusterOf, this.#trust);
    if (after === undefined) this.#strengths.delete(key);
    else this.#strengths.set(key, after);
    this.#underStrength +=
      Number(after?.isUnderStrength ?? 0) - Number(before?.isUnderStrength ?? 0);
    this.#awaitingFence += Number(after?.awaitsFence ?? 0) - Number(before?.awaitsFence ?? 0);
    this.#showStrengths();
  }

  #clusterChanged(old: Cluster | undefined, now: Cluster | undefined): void {
    const { name } = (now ?? old)?.metadata ?? { name: "" };
    const was = readyOf(old);
    const is = readyOf(now);
    if (was !== undefined && is !== undefined && was !== is)
      this.#readyChanges.add(1, { member_cluster: name, status: is });
    this.#showReady(old, now);
    // Gauges go with their controllers; what was counted of a cluster that left goes here.
    if (now === undefined) this.#context.metrics.forget("member_cluster", name);
    if (!mattersForStrength(old, now, this.#trust)) return;
    for (const binding of bindingsBy(this.#context.informers, "cluster", name))
      this.#count(binding, binding);
  }

  /** Of Pull clusters: those that are pushed to are shown by the controller that probes them. */
  #showReady(old: Cluster | undefined, now: Cluster | undefined): void {
    if (now?.spec.syncMode === "Pull")
      this.#gauges.ready.set(Number(readyOf(now) === "True"), {
        member_cluster: now.metadata.name,
      });
    else if (old?.spec.syncMode === "Pull")
      this.#gauges.ready.remove({ member_cluster: old.metadata.name });
  }

  #showStrengths(): void {
    this.#gauges.workloads.set(this.#strengths.size, {});
    this.#gauges.underStrength.set(this.#underStrength, {});
    this.#gauges.waiting.set(this.#awaitingFence, { reason: "Fence" });
  }

  /** There are few of them: those under way, and the last ten. */
  #showEvacuations(): void {
    const all = this.#context.informers.evacuations.list();
    const open = all.filter(({ status }) => status?.finishedAt === undefined);
    for (const phase of EVACUATION_PHASES) {
      const count = open.filter(({ status }) => (status?.phase ?? "Recording") === phase).length;
      this.#gauges.evacuations.set(count, { phase });
    }
    for (const reason of PERSON_REASONS) {
      if (reason === "Fence") continue;
      const count = all.reduce((sum, one) => sum + (waitingIn(one).get(reason) ?? 0), 0);
      this.#gauges.waiting.set(count, { reason });
    }
  }

  #showBrakes(): void {
    const record = this.#context.informers.evacuationBudgets.get(FLEET_RECORD);
    for (const brake of BRAKES)
      this.#gauges.brake.set(Number(hasCondition(record?.status?.conditions, brake)), { brake });
    this.#gauges.brake.set(Number(record?.spec.paused === true), { brake: PAUSED });
  }

  /** Another replica counts from now on, and two must not show different numbers. */
  #showNothing(): void {
    this.#strengths.clear();
    this.#underStrength = 0;
    this.#awaitingFence = 0;
    for (const cluster of this.#context.informers.clusters.list())
      this.#showReady(cluster, undefined);
    const { workloads, underStrength, waiting, evacuations, brake } = this.#gauges;
    workloads.remove({});
    underStrength.remove({});
    for (const reason of PERSON_REASONS) waiting.remove({ reason });
    for (const phase of EVACUATION_PHASES) evacuations.remove({ phase });
    for (const one of [...BRAKES, PAUSED]) brake.remove({ brake: one });
  }
}

/** Keys of both scopes, apart. */
function keyText(binding: Binding | undefined): string {
  return binding === undefined ? "" : formatKey(keyOf(binding));
}

function readyOf(cluster: Cluster | undefined): string | undefined {
  return findCondition(cluster?.status?.conditions, READY)?.status;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
