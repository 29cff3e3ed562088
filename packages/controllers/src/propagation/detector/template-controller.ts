/**
 * Reconciles a template: which policy claims it, and what its binding must be (core/propagation/matching), carried out in
 * at most two writes.
 *
 * With a policy the template's claim is written first and the binding then; without one the binding is released first.
 * A crash between the two leaves a state that the next reconcile brings to the same end.
 *
 * 1. Every change that can alter the result enqueues the template: of the template but for its status, of a policy that
 *    selects or has claimed it, of an override policy that such a policy depends on, of the parts of its binding that are
 *    ours, and of what its kind means.
 * 2. At rest nothing is written: what is right already is left alone.
 * 3. A template whose binding's name is taken waits for that binding to go; nothing polls.
 * 4. No binding is made for a template that the server does not have any more: it would be collected, and made again.
 * 5. A claim, or a change of a binding, that another writer undid a moment ago waits (../../context/recent-writes.ts).
 */
import {
  type AnyObject,
  equalJson,
  formatKey,
  keyOf,
  type ObjectKey,
  Refused,
  type Resource,
} from "@lifeboat/api";
import type { Replicas } from "@lifeboat/core/propagation/interpretation";
import {
  type BindingCommand,
  type BindingDecision,
  changeOfClaim,
  type Claim,
  type ClaimChange,
  claimedParts,
  claimOf,
  decideBinding,
  decideClaim,
  describePolicy,
  digestOf,
  type Policy,
  sameClaimedParts,
} from "@lifeboat/core/propagation/matching";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Instant } from "@lifeboat/base";
import {
  checkAgainAt,
  type Controller,
  type ControllerWatch,
  createController,
  done,
  type Outcome,
  watching,
} from "@lifeboat/kit";
import {
  type Binding,
  bindingOf,
  bindingResource,
  watchingBindings,
} from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { RecentWrites } from "../../context/recent-writes.ts";
import { isOnServer, watchingTemplates } from "../../context/templates.ts";
import {
  claimedOfKind,
  claimerOf,
  missingOverrides,
  policiesFor,
  templatesConcerned,
  templatesDependingOn,
} from "./lookups.ts";
import { declareDetectorMetrics, type DetectorMetrics } from "./metrics.ts";
import { keyOfTemplate, referenceOf, templateKey } from "./template-key.ts";

/** Whether policies leave an object alone. */
export type Ignores = (template: AnyObject) => boolean;

const CONCURRENCY = 8;
const NO_REPLICAS: Replicas = Object.freeze({ replicas: 0 });

/** Builds the controller of templates. */
export function createTemplateController(context: PlaneContext, ignores: Ignores): Controller {
  const looks = new TemplateLooks(context, ignores);
  return createController(context, {
    name: "detector",
    concurrency: CONCURRENCY,
    watches: looks.watches(),
    reconcile: (key, signal) => looks.look(key, signal),
  });
}

class TemplateLooks {
  readonly #context: PlaneContext;
  readonly #ignores: Ignores;
  readonly #metrics: DetectorMetrics;
  /** By binding: the templates that wait until it is gone. */
  readonly #blocked = new Map<string, Map<string, ObjectKey>>();
  readonly #recentWrites = new RecentWrites();

  constructor(context: PlaneContext, ignores: Ignores) {
    this.#context = context;
    this.#ignores = ignores;
    this.#metrics = declareDetectorMetrics(context.metrics);
  }

  watches(): readonly ControllerWatch[] {
    const context = this.#context;
    const { informers, templates, interpretation } = context;
    const byPolicy = (old: Policy | undefined, now: Policy | undefined): readonly ObjectKey[] =>
      templatesConcerned(context, old, now);
    const byOverride = (
      old: AnyPolicy | undefined,
      now: AnyPolicy | undefined,
    ): readonly ObjectKey[] =>
      old !== undefined && now !== undefined
        ? []
        : [old, now].flatMap((it) => (it ? templatesDependingOn(context, keyOf(it)) : []));
    return [
      watchingTemplates(templates, (_resource, old, now) =>
        now === undefined || (old !== undefined && isSameTemplate(old, now))
          ? []
          : [keyOfTemplate(now)],
      ),
      watching(informers.propagationPolicies, byPolicy),
      watching(informers.clusterPropagationPolicies, byPolicy),
      watching(informers.overridePolicies, byOverride),
      watching(informers.clusterOverridePolicies, byOverride),
      ...watchingBindings(informers, (old, now) => this.#byBinding(old, now)),
      {
        whenSynced: (signal) => interpretation.whenSynced(signal),
        subscribe: (add) =>
          interpretation.onChange((apiVersion, kind) => {
            for (const key of claimedOfKind(context, apiVersion, kind)) add(key);
          }),
      },
    ];
  }

  #byBinding(old: Binding | undefined, now: Binding | undefined): readonly ObjectKey[] {
    if (old !== undefined && now !== undefined && sameClaimedParts(old, now)) return [];
    const binding = now ?? old;
    if (binding === undefined) return [];
    const own = templateKey(binding.spec.resource);
    if (now !== undefined) return [own];
    const name = formatKey(keyOf(binding));
    const waiting = this.#blocked.get(name)?.values() ?? [];
    this.#blocked.delete(name);
    return [own, ...waiting];
  }

  async look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { templates } = this.#context;
    const reference = referenceOf(key);
    const template = templates.get(reference);
    const resource = templates.resourceOf(reference.apiVersion, reference.kind);
    if (template === undefined || resource === undefined) return done;
    const started = this.#context.clock.monotonic();
    const claimed = decideClaim({
      template,
      ignored: this.#ignores(template),
      policies: policiesFor(this.#context, template),
    });
    this.#metrics.matchDuration.observe(this.#secondsSince(started), {});
    if (claimed.reason === "Ignored") return done;
    const { policy, from } = claimed;
    const digest = policy === undefined ? "" : digestOf(template);
    const replicas = policy === undefined ? NO_REPLICAS : await this.#replicas(template);
    const existing = bindingOf(this.#context.informers, bindingKeyOf(template));
    const decided = decideBinding({
      template,
      digest,
      policy,
      replicas,
      existing,
      claimer: claimerOf(this.#context, claimOf(existing)),
      missingOverrides: policy === undefined ? [] : missingOverrides(this.#context, policy),
    });
    if (decided.isBlocked) this.#block(bindingKeyOf(template), key);
    const change = changeOfClaim(template, policy, decided.waits ? digest : undefined);
    const again = this.#heldUntil(template, change, decided.command);
    if (again !== undefined) return checkAgainAt(again);
    await this.#apply({ template, resource, policy, from, change, decided, signal });
    return done;
  }

  /** When a write that was made a moment ago, and undone since, may be repeated. */
  #heldUntil(
    template: AnyObject,
    change: ClaimChange | undefined,
    command: BindingCommand | undefined,
  ): Instant | undefined {
    const moment = this.#context.time.moment();
    const claim =
      change === undefined
        ? undefined
        : this.#recentWrites.heldUntil(template.metadata.uid, patchOf(change), moment);
    if (claim !== undefined || command?.kind !== "updateBinding") return claim;
    const { binding } = command;
    return this.#recentWrites.heldUntil(binding.metadata.uid, claimedParts(binding), moment);
  }

  async #replicas(template: AnyObject): Promise<Replicas> {
    try {
      return await this.#context.interpretation.replicas(template);
    } catch (error) {
      const message = textOf(error);
      this.#context.events.record(template, {
        type: "Warning",
        reason: "GetReplicasFailed",
        message,
      });
      throw error;
    }
  }

  /** Carries a decision out. A conflict is no failure: the reconcile is repeated on what is there then. */
  async #apply(due: Due): Promise<void> {
    const { template, policy, change, decided } = due;
    if (change === undefined && decided.command === undefined)
      return this.#record(template, decided);
    const started = this.#context.clock.monotonic();
    try {
      if (policy === undefined) {
        await this.#write(due, template);
        await this.#claim(due);
      } else {
        const now = await this.#claim(due);
        await this.#write(due, now);
      }
    } catch (error) {
      if (policy !== undefined && !isConflict(error)) this.#failed(template, policy, error);
      throw error;
    }
    this.#record(template, decided);
    if (policy === undefined) return;
    this.#metrics.applyDuration.observe(this.#secondsSince(started), {});
    this.#metrics.applyAttempts.add(1, { result: "success" });
  }

  /** Writes the template's claim; answers the template as it is then. */
  async #claim({ template, resource, policy, from, change, signal }: Due): Promise<AnyObject> {
    if (change === undefined) return template;
    const { resourceVersion } = template.metadata;
    const body = { metadata: { resourceVersion, ...patchOf(change) } };
    try {
      const now = await this.#context.plane.patch(
        resource,
        keyOf(template),
        { type: "merge", body },
        { signal },
      );
      this.#recentWrites.note(template.metadata.uid, patchOf(change), this.#context.clock.now());
      if (policy !== undefined && from !== undefined) this.#preempted(template, policy, from);
      return now;
    } catch (error) {
      if (policy !== undefined && from !== undefined && !isConflict(error))
        this.#preempted(template, policy, from, error);
      throw error;
    }
  }

  /** `now`: the template after its claim was written. */
  async #write(
    { decided: { command }, template: decidedOn, resource: templates, signal }: Due,
    now: AnyObject,
  ): Promise<void> {
    if (command === undefined) return;
    const { plane } = this.#context;
    const resource = bindingResource(bindingKeyOf(now));
    const { binding } = command;
    const { spec } = binding;
    // The claim that was just written made a new version of the template, without changing what the user wrote.
    const isOwn = spec.resource.resourceVersion === decidedOn.metadata.resourceVersion;
    const { resourceVersion } = isOwn ? now.metadata : spec.resource;
    const current = {
      ...spec,
      resource: { ...spec.resource, ...(resourceVersion !== undefined && { resourceVersion }) },
    };
    if (command.kind === "createBinding") {
      // A claim that was just written proves that the template is there.
      if (now === decidedOn && !(await isOnServer(plane, templates, now, signal))) return;
      await plane.create(resource, { ...command.binding, spec: current }, { signal });
    } else {
      await plane.update(resource, { ...command.binding, spec: current }, { signal });
      const { uid } = command.binding.metadata;
      this.#recentWrites.note(uid, claimedParts(command.binding), this.#context.clock.now());
    }
  }

  #preempted(template: AnyObject, policy: Policy, from: Claim, error?: unknown): void {
    const isDone = error === undefined;
    const taker = nameOf(policy.metadata);
    const said = isDone
      ? `${taker} preempted ${lowered(nameOf(from))} successfully`
      : `${taker} failed to preempt ${lowered(nameOf(from))}: ${textOf(error)}`;
    this.#metrics.preemptions.add(1, { result: isDone ? "success" : "error" });
    this.#context.events.record(template, {
      type: isDone ? "Normal" : "Warning",
      reason: isDone ? "PreemptPolicySucceed" : "PreemptPolicyFailed",
      message: said,
    });
  }

  #failed(template: AnyObject, policy: Policy, error: unknown): void {
    this.#metrics.applyAttempts.add(1, { result: "error" });
    const message = `Apply ${describePolicy(policy)} failed: ${textOf(error)}`;
    this.#context.events.record(template, {
      type: "Warning",
      reason: "ApplyPolicyFailed",
      message,
    });
  }

  #record(template: AnyObject, { events }: BindingDecision): void {
    for (const event of events) this.#context.events.record(template, event);
  }

  #block(binding: ObjectKey, template: ObjectKey): void {
    const name = formatKey(binding);
    const waiting = this.#blocked.get(name) ?? new Map<string, ObjectKey>();
    waiting.set(formatKey(template), template);
    this.#blocked.set(name, waiting);
  }

  #secondsSince(started: number): number {
    return (this.#context.clock.monotonic() - started) / 1000;
  }
}

/** What a reconcile has decided. */
interface Due {
  readonly template: AnyObject;
  readonly resource: Resource;
  readonly policy: Policy | undefined;
  readonly from: Claim | undefined;
  readonly change: ClaimChange | undefined;
  readonly decided: BindingDecision;
  readonly signal: AbortSignal;
}

type AnyPolicy = Parameters<typeof keyOf>[0];

function bindingKeyOf({ kind, metadata }: AnyObject): ObjectKey {
  return { namespace: metadata.namespace ?? "", name: bindingName(kind, metadata.name) };
}

/** Whether two states of an object differ only in status and bookkeeping. */
function isSameTemplate(old: AnyObject, now: AnyObject): boolean {
  return (
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    equalJson(old.metadata.labels, now.metadata.labels) &&
    equalJson(old.metadata.annotations, now.metadata.annotations) &&
    equalJson(
      { ...old, metadata: undefined, status: undefined },
      { ...now, metadata: undefined, status: undefined },
    )
  );
}

/** A merge patch of labels and annotations: what is taken away is null. */
function patchOf({ labels, annotations }: ClaimChange): {
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
} {
  const nulled = (texts: ClaimChange["labels"]): Readonly<Record<string, string | null>> =>
    Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, value ?? null]));
  return { labels: nulled(labels), annotations: nulled(annotations) };
}

function nameOf({
  namespace = "",
  name,
}: {
  readonly namespace?: string;
  readonly name: string;
}): string {
  return namespace === ""
    ? `Cluster propagation policy(${name})`
    : `Propagation policy(${namespace}/${name})`;
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a write was refused because something else was written first. */
function isConflict(error: unknown): boolean {
  return (
    error instanceof Refused &&
    (error.status.reason === "Conflict" || error.status.reason === "AlreadyExists")
  );
}
