/**
 * Evacuations: what happens to workloads on a cluster that bears a taint which moves them away.
 *
 *   recorder   one key per cluster: records the affected workloads, and progress          recorder.ts
 *   releaser   one key for the fleet: releases the next, under one rate                   releaser.ts
 *   board      what both know, from the informers                                         board.ts
 *   orders     what people paused and approved                                            orders.ts
 *   state      all that both read, and how one is asked to reconcile again                state.ts
 *
 * The rules are in core/failover/evacuation, with a map of the whole.
 */
import type { ObjectKey } from "@lifeboat/api";
import type { PurgeMode } from "@lifeboat/core/binding";
import {
  type ApprovalMode,
  DEFAULT_RATES,
  type RateOptions,
} from "@lifeboat/core/failover/evacuation";
import {
  type Controller,
  type ControllerWatch,
  createController,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { Board } from "./board.ts";
import { FleetRate } from "./fleet-rate.ts";
import { declareEvacuationMetrics } from "./metrics.ts";
import { pausesChanged } from "./orders.ts";
import { Recorder } from "./recorder.ts";
import { Releaser } from "./releaser.ts";
import type { EvacuationState, Wakes } from "./state.ts";
import { Statistics } from "./statistics.ts";

export interface EvacuationsOptions {
  /** The gate `Failover`: while it is off, only a person's drain moves anything (D18). */
  readonly failover: boolean;
  /** The gate `StatefulFailoverInjection`: while it is off, no state is read. */
  readonly statefulFailoverInjection: boolean;
  readonly rates: RateOptions;
  /** For workloads whose policy does not set `failover.cluster`. */
  readonly noExecutePurgeMode: PurgeMode;
  /** `--evacuation-approval`: whether all that has to leave waits for a person's approval (D30). */
  readonly approval: ApprovalMode;
}

export const DEFAULT_EVACUATIONS: EvacuationsOptions = Object.freeze({
  failover: false,
  statefulFailoverInjection: false,
  rates: DEFAULT_RATES,
  noExecutePurgeMode: "Gracefully",
  approval: "Policy",
});

/** Several clusters may be recorded at the same time. */
const RECORDERS = 4;
/** The one key of the releaser. */
const RELEASE: ObjectKey = { namespace: "", name: "release" };

/** Builds what records evacuations and carries them out. */
export function createEvacuations(
  context: PlaneContext,
  options: EvacuationsOptions,
): readonly Service[] {
  return [new Evacuations(context, options)];
}

class Evacuations implements Service {
  readonly name = "evacuation";
  readonly #context: PlaneContext;
  readonly #options: EvacuationsOptions;

  constructor(context: PlaneContext, options: EvacuationsOptions) {
    this.#context = context;
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers } = this.#context;
    const parts = this.#build();
    const { board, releaser } = parts;
    const subscriptions = [
      informers.clusters.onChange(() => releaser.mayHelp()),
      informers.propagationPolicies.onChange(() => releaser.mayHelp()),
      informers.clusterPropagationPolicies.onChange(() => releaser.mayHelp()),
      informers.evacuationSlices.onChange((old, now) => board.putSlice(old, now)),
      informers.evacuationBudgets.onChange((old, now) => {
        if (pausesChanged(old, now)) board.pausesChanged();
      }),
      informers.evacuations.onChange((old, now) => board.putEvacuation(old, now)),
      ...[informers.resourceBindings, informers.clusterResourceBindings].map((informer) =>
        informer.onChange((old, now) => board.putBinding(old, now)),
      ),
    ];
    // When one of the two breaks, so does the whole: it is started again as one.
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) stop.abort();
    const running = parts.controllers.map((one) => one.run(stop.signal).finally(onAbort));
    try {
      await Promise.all(running);
    } finally {
      signal.removeEventListener("abort", onAbort);
      for (const unsubscribe of subscriptions) unsubscribe();
      await Promise.allSettled(running);
    }
  }

  #build(): {
    readonly board: Board;
    readonly releaser: Releaser;
    readonly controllers: readonly Controller[];
  } {
    const context = this.#context;
    const { failover, approval, rates, noExecutePurgeMode, statefulFailoverInjection } =
      this.#options;
    const metrics = declareEvacuationMetrics(context.metrics);
    const wakes: Wakes = {
      record: (cluster) => recording.enqueue({ namespace: "", name: cluster }),
      release: () => releasing.enqueue(RELEASE),
    };
    const board = new Board(context, { failover, approval }, wakes);
    const state: EvacuationState = {
      context,
      failover,
      keepsState: statefulFailoverInjection,
      defaultPurgeMode: noExecutePurgeMode,
      rates,
      board,
      fleetRate: new FleetRate({ context, rates, board, metrics, wakes }),
      statistics: new Statistics(),
      metrics,
      wakes,
    };
    const releaser = new Releaser(state);
    const recorder = new Recorder(state);
    const recording = createController(context, {
      name: "evacuation-recorder",
      concurrency: RECORDERS,
      watches: [...this.#everything(), watching(context.informers.clusters, ownKey)],
      reconcile: (key, signal) => recorder.look(key, signal),
    });
    const releasing = createController(context, {
      name: "evacuation-releaser",
      concurrency: 1,
      watches: [
        ...this.#everything(),
        watching(context.informers.clusters, () => [RELEASE]),
        watching(context.informers.evacuationBudgets, () => [RELEASE]),
        // An entry may be held for the rules of its policy about state.
        watching(context.informers.propagationPolicies, () => [RELEASE]),
        watching(context.informers.clusterPropagationPolicies, () => [RELEASE]),
      ],
      reconcile: (_key, signal) => releaser.look(signal),
    });
    return { board, releaser, controllers: [recording, releasing] };
  }

  /** No entry is judged or released before every cache that it depends on is synced (D20). */
  #everything(): readonly ControllerWatch[] {
    const { informers, templates, interpretation } = this.#context;
    const sources = [
      informers.clusters,
      informers.evacuations,
      informers.evacuationSlices,
      informers.evacuationBudgets,
      informers.resourceBindings,
      informers.clusterResourceBindings,
      informers.propagationPolicies,
      informers.clusterPropagationPolicies,
      informers.priorityClasses,
      informers.works,
      templates,
      interpretation,
    ];
    return sources.map((source) => ({
      whenSynced: (signal) => source.whenSynced(signal),
      subscribe: () => () => {},
    }));
  }
}
