/**
 * Reconciles a policy: its finalizer, and an Event when it selects nothing.
 *
 * 1. A policy that is being deleted goes when no template and no binding bears its id any more. Templates are released by
 *    their own controller; a binding whose template cannot be seen, or is none of ours, is released here.
 * 2. What a released binding runs keeps running.
 * 3. A policy that selected nothing for ten seconds after it came or changed gets one Event for that generation. After a
 *    restart it may get another: Events live no longer than an hour themselves.
 */
import {
  type AnyObject,
  clusterPropagationPolicies,
  formatKey,
  keyOf,
  type ObjectKey,
  propagationPolicies,
  type Resource,
} from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import {
  claimIdsOf,
  claimOf,
  isClaimOf,
  isClusterPolicy,
  type Policy,
  policyIdOf,
  releasedBinding,
} from "@lifeboat/core/propagation/matching";
import {
  checkAgainAt,
  type Controller,
  createController,
  done,
  type Outcome,
  ownKey,
  watching,
} from "@lifeboat/kit";
import {
  type Binding,
  bindingResource,
  bindingsBy,
  watchingBindings,
} from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { watchingTemplates } from "../../context/templates.ts";
import { policiesWithId, policyOf, selectedBy, templateOf } from "./lookups.ts";
import type { Ignores } from "./template-controller.ts";

const CONCURRENCY = 2;
/** A policy and its resources often come in one stream: no Event comes before it had time to arrive. */
const PATIENCE_MS = 10_000;
const MAX_NAMED = 3;

/** Builds the controller of policies. */
export function createPolicyController(context: PlaneContext, ignores: Ignores): Controller {
  const looks = new PolicyLooks(context, ignores);
  const { informers, templates } = context;
  return createController(context, {
    name: "detector-policies",
    concurrency: CONCURRENCY,
    watches: [
      watching(informers.propagationPolicies, ownKey),
      watching(informers.clusterPropagationPolicies, ownKey),
      ...watchingBindings(informers, (old, now) => looks.leavingPolicy(old, now)),
      watchingTemplates(templates, (_resource, old, now) => looks.leavingPolicy(old, now)),
    ],
    reconcile: (key, signal) => looks.look(key, signal),
  });
}

/** What is known of a policy's present generation. */
interface Seen {
  readonly uid: string;
  readonly generation: number | undefined;
  readonly since: Instant;
  /** Whether nothing is left to report about it. */
  readonly settled: boolean;
}

class PolicyLooks {
  readonly #context: PlaneContext;
  readonly #ignores: Ignores;
  readonly #seen = new Map<string, Seen>();

  constructor(context: PlaneContext, ignores: Ignores) {
    this.#context = context;
    this.#ignores = ignores;
  }

  /** The policies that are being deleted and that an object no longer holds up. */
  leavingPolicy(
    old: AnyObject | Binding | undefined,
    now: AnyObject | Binding | undefined,
  ): readonly ObjectKey[] {
    if (old === undefined) return [];
    const left = now?.metadata.deletionTimestamp === undefined ? claimIdsOf(now) : [];
    return claimIdsOf(old)
      .filter((id) => !left.includes(id))
      .flatMap((id) => policiesWithId(this.#context, id))
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(keyOf);
  }

  async look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const policy = policyOf(this.#context, key);
    if (policy === undefined) {
      this.#seen.delete(formatKey(key));
      return done;
    }
    if (policy.metadata.deletionTimestamp !== undefined) return this.#leave(policy, signal);
    const finalizer = finalizerOf(policy);
    const finalizers = policy.metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer))
      await this.#setFinalizers(policy, [...finalizers, finalizer], signal);
    return this.#tell(key, policy);
  }

  async #leave(policy: Policy, signal: AbortSignal): Promise<Outcome> {
    const finalizer = finalizerOf(policy);
    const finalizers = policy.metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) return done;
    if (await this.#isNeeded(policy, signal)) return done;
    const others = finalizers.filter((name) => name !== finalizer);
    await this.#setFinalizers(policy, others, signal);
    return done;
  }

  /** Whether something still bears the policy's id that another reconcile will release. */
  async #isNeeded(policy: Policy, signal: AbortSignal): Promise<boolean> {
    const id = policyIdOf(policy);
    if (id === "") return false;
    const { informers, plane, templates } = this.#context;
    let isNeeded = templates
      .claimedBy(id)
      .some((template) => isHeldBy(template, policy) && !this.#ignores(template));
    for (const binding of bindingsBy(informers, "policy", id)) {
      if (!isHeldBy(binding, policy)) continue;
      const template = templateOf(this.#context, binding);
      if (template !== undefined && !this.#ignores(template)) isNeeded = true;
      else
        await plane.update(bindingResource(keyOf(binding)), releasedBinding(binding), { signal });
    }
    return isNeeded;
  }

  async #setFinalizers(
    policy: Policy,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const metadata = { ...policy.metadata, finalizers };
    await this.#context.plane.update(resourceOfPolicy(policy), { ...policy, metadata }, { signal });
  }

  /** Reports once per generation that a policy selects nothing. */
  #tell(key: ObjectKey, policy: Policy): Outcome {
    const { events, time } = this.#context;
    const { now, due: dueTime } = time.moment();
    const name = formatKey(key);
    const { uid, generation } = policy.metadata;
    const before = this.#seen.get(name);
    const isSame = before?.uid === uid && before.generation === generation;
    const seen = isSame ? before : { uid, generation, since: now, settled: false };
    this.#seen.set(name, seen);
    if (seen.settled) return done;
    const due = dueTime(seen.since, PATIENCE_MS);
    if (!this.#selectsNothing(policy)) {
      this.#seen.set(name, { ...seen, settled: true });
      return done;
    }
    if (now < due) return checkAgainAt(due);
    events.record(policy, {
      type: "Warning",
      reason: "NoResourceSelected",
      message: this.#nothing(policy),
    });
    this.#seen.set(name, { ...seen, settled: true });
    return done;
  }

  #selectsNothing(policy: Policy): boolean {
    for (const template of selectedBy(this.#context, policy))
      if (!this.#ignores(template)) return false;
    return true;
  }

  #nothing({ spec }: Policy): string {
    const kinds = new Map<string, string>();
    for (const { apiVersion, kind } of spec.resourceSelectors) {
      const text = `${kind} (${apiVersion})`;
      const isServed = this.#context.templates.resourceOf(apiVersion, kind) !== undefined;
      kinds.set(text, isServed ? text : `${text}, which is not served here`);
    }
    const named = [...kinds.values()].slice(0, MAX_NAMED);
    const more = kinds.size > named.length ? `; and ${kinds.size - named.length} more` : "";
    return `The policy selects no resource. It looks for ${named.join("; ")}${more}`;
  }
}

/** Whether an object that bears a policy's id is that policy's, and not that of another one with a copied id. */
function isHeldBy(object: AnyObject | Binding, policy: Policy): boolean {
  const claim = claimOf(object);
  return claim === undefined || claim.id !== policyIdOf(policy) || isClaimOf(claim, policy);
}

function finalizerOf(policy: Policy): string {
  return isClusterPolicy(policy) ? wellKnown.CLUSTER_POLICY_FINALIZER : wellKnown.POLICY_FINALIZER;
}

function resourceOfPolicy(policy: Policy): Resource<Policy> {
  return isClusterPolicy(policy) ? clusterPropagationPolicies : propagationPolicies;
}
