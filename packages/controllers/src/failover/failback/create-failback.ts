/**
 * Lets workloads return by themselves to where they ran before an outage, where their policy asks for it (D31). One key per
 * binding; the rules are in core/operating/failback.ts.
 *
 * 1. One binding is decided at a time, so that no two of a policy begin on the same count. A return that the cache does not show yet is
 *    counted by what this process wrote.
 * 2. A return is one write of the binding with the version that it was decided on. It carries the mark of its outage: after a crash or a
 *    lost answer the binding shows whether the return has begun.
 * 3. Just before the write the clusters are read from the server: one that failed again meanwhile gets nothing.
 * 4. Only bindings that were evicted from a cluster are kept in mind; all others cost nothing.
 */
import {
  type Cluster,
  clusters,
  type Evacuation,
  failure,
  formatKey,
  keyOf,
  type ObjectKey,
  orNothing,
  Refused,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { isOn } from "@lifeboat/core/binding";
import { isFailed } from "@lifeboat/core/failover/evacuation";
import { isAnswering } from "@lifeboat/core/failover/eviction-tasks";
import { asksForFailback, decideFailback, isReturning, sharesOf } from "@lifeboat/core/operating";
import {
  checkAgainAt,
  compareVersions,
  createController,
  done,
  type Outcome,
  type Service,
  watching,
} from "@lifeboat/kit";
import {
  type Binding,
  bindingOf,
  bindingResource,
  bindingsBy,
  policyOf,
  recordOnWorkload,
  watchingBindings,
} from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { FLEET_RECORD } from "../../context/fleet-record.ts";
import { worksOf } from "../../context/observe-works.ts";
import { watchingTemplates } from "../../context/templates.ts";

export interface FailbackOptions {
  /** The gate `Failover`: while it is off, nothing moves by itself (D18). */
  readonly failover: boolean;
  readonly statefulFailoverInjection: boolean;
}

/** Builds the controller; none while the gate is off. */
export function createFailback(
  context: PlaneContext,
  options: FailbackOptions,
): readonly Service[] {
  if (!options.failover) return [];
  const { informers } = context;
  const failback = new Failback(context, options.statefulFailoverInjection);
  const all = (): readonly ObjectKey[] => failback.candidates;
  return [
    createController(context, {
      name: "failback",
      concurrency: 1,
      watches: [
        ...watchingBindings(informers, (old, now) => failback.bindingChanged(old, now)),
        watching(informers.clusters, (old, now) => (isSameCluster(old, now) ? [] : all())),
        watching(informers.evacuations, (old, now) => (isOver(old) === isOver(now) ? [] : all())),
        watching(informers.evacuationBudgets, all),
        // What a workload carries is on its binding again when it changes: nothing is decided before they are known (D20).
        watching(informers.works, () => []),
        watchingTemplates(context.templates, () => []),
        watching(informers.propagationPolicies, all),
        watching(informers.clusterPropagationPolicies, all),
      ],
      reconcile: (key, signal) => failback.look(key, signal),
    }),
  ];
}

class Failback {
  readonly #context: PlaneContext;
  readonly #carriesState: boolean;
  /** The bindings that were evicted from a cluster for a taint, by their keys. */
  readonly #candidates = new Map<string, ObjectKey>();
  /** What this process wrote, by the key of the binding: its version. */
  readonly #begun = new Map<string, string>();

  constructor(context: PlaneContext, carriesState: boolean) {
    this.#context = context;
    this.#carriesState = carriesState;
  }

  get candidates(): readonly ObjectKey[] {
    return [...this.#candidates.values()];
  }

  /** The keys to decide again: the binding itself, and those that wait for its return to end. */
  bindingChanged(old: Binding | undefined, now: Binding | undefined): readonly ObjectKey[] {
    const key = keyOf((now ?? old) as Binding);
    const id = formatKey(key);
    if (now?.metadata.annotations?.[wellKnown.EVICTED_FOR] === undefined) {
      this.#candidates.delete(id);
      this.#begun.delete(id);
    } else this.#candidates.set(id, key);
    const returned = (old ?? now)?.metadata.annotations?.[wellKnown.FAILED_BACK] !== undefined;
    if (returned) return this.candidates;
    return this.#candidates.has(id) ? [key] : [];
  }

  async look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { informers, time, plane, log, events, targetRoom, templates } = this.#context;
    const binding = bindingOf(informers, key);
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return done;
    const policy = policyOf(informers, binding);
    if (!asksForFailback(policy) || this.#isBehind(key, binding)) return done;
    const moment = time.moment();
    const decision = decideFailback(
      {
        binding,
        clusters: informers.clusters.list(),
        fleet: targetRoom.fleetFor(binding, moment),
        evacuations: informers.evacuations.list(),
        budget: informers.evacuationBudgets.get(FLEET_RECORD)?.spec,
        returning: this.#returningWith(binding),
        state: {
          enabled: this.#carriesState,
          policy,
          template: templates.get(binding.spec.resource),
          works: worksOf(this.#context, binding),
        },
      },
      moment,
    );
    if (decision.outcome === "stays") {
      const { reason, until } = decision;
      log.debug("a workload does not return for now", { binding: formatKey(key), reason });
      return until === undefined ? done : checkAgainAt(until);
    }
    const back = decision.targets.filter(({ name }) => !isOn(binding, name));
    targetRoom.promise(binding, decision.targets);
    let written: Binding | undefined;
    try {
      await Promise.all(back.map(({ name }) => this.#confirm(name, signal)));
      written = await plane.update(bindingResource(key), decision.binding, { signal });
    } finally {
      if (written === undefined) targetRoom.forget(bindingOf(informers, key) ?? binding);
    }
    this.#begun.set(formatKey(key), written.metadata.resourceVersion);
    const to = sharesOf(decision.targets);
    log.info("a workload returns to where it ran before an outage", {
      binding: formatKey(key),
      to,
      outage: written.metadata.annotations?.[wellKnown.FAILED_BACK],
    });
    recordOnWorkload(events, written, {
      type: "Normal",
      reason: "FailbackDecided",
      message: `Returns to ${to}: the clusters are back, and the policy asks for failback.`,
    });
    for (const message of decision.warnings)
      recordOnWorkload(events, written, {
        type: "Warning",
        reason: "StateNotPreserved",
        message,
      });
    return done;
  }

  /** Whether the cache shows a state from before this process wrote. */
  #isBehind(key: ObjectKey, { metadata }: Binding): boolean {
    const begun = this.#begun.get(formatKey(key));
    return begun !== undefined && compareVersions(metadata.resourceVersion, begun) < 0;
  }

  /** How many others of the policy are on their way. */
  #returningWith(binding: Binding): number {
    const { informers } = this.#context;
    const { labels = {} } = binding.metadata;
    const policy = labels[wellKnown.POLICY_ID] ?? labels[wellKnown.CLUSTER_POLICY_ID] ?? "";
    const clusterOf = (name: string): Cluster | undefined =>
      informers.clusters.get({ namespace: "", name });
    return bindingsBy(informers, "policy", policy).filter(
      (one) =>
        one.metadata.uid !== binding.metadata.uid &&
        (this.#isBehind(keyOf(one), one) || isReturning(one, clusterOf)),
    ).length;
  }

  async #confirm(name: string, signal: AbortSignal): Promise<void> {
    const { plane } = this.#context;
    const cluster = await orNothing(plane.get(clusters, { namespace: "", name }, { signal }));
    if (cluster !== undefined && isAnswering(cluster) && !isFailed(cluster)) return;
    throw new Refused(failure(409, "Conflict", `cluster ${name} is not back`));
  }
}

function isOver(evacuation: Evacuation | undefined): boolean {
  return evacuation === undefined || evacuation.status?.finishedAt !== undefined;
}

/** Whether a change of a cluster cannot let a workload return. */
function isSameCluster(old: Cluster | undefined, now: Cluster | undefined): boolean {
  if (old === undefined || now === undefined) return false;
  return (
    isAnswering(old) === isAnswering(now) &&
    old.spec === now.spec &&
    old.status?.resourceSummary === now.status?.resourceSummary
  );
}
