/**
 * Status back: what the copies in members report becomes the status of their binding, and from there of the template, so
 * that the template shows what runs everywhere. One key is one binding of either scope.
 *
 * 1. Of the binding only `status.aggregatedStatus` and the conditions FullyApplied and StatusUpToDate are written, of the
 *    template only its status, and neither when nothing changes.
 * 2. The template's status is made from what the binding reports, after it was written: the two never disagree for long,
 *    and counters of a rollout cost at most one write of each in a second.
 * 3. A status that was written a moment ago and that another writer changed waits (../../context/recent-writes.ts).
 * 4. A template that is gone, being deleted or another object of the same name is left alone, as are kinds that have no
 *    way to aggregate.
 */
import {
  type AnyObject,
  type Cluster,
  equalJson,
  findCondition,
  formatKey,
  isRefused,
  keyOf,
  type ObjectKey,
  type Resource,
  type Work,
} from "@lifeboat/api";
import type { Instant, Moment } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import {
  type AggregationPlan,
  copiesOf,
  decideAggregation,
  STATUS_UP_TO_DATE,
  templateStatus,
} from "@lifeboat/core/propagation/aggregation";
import { notReadySince } from "@lifeboat/core/failover/health";
import {
  bindingName,
  clusterOfExecutionNamespace,
  executionNamespace,
} from "@lifeboat/core/propagation/rendering";
import {
  checkAgainAt,
  createController,
  done,
  type Involved,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import {
  type Binding,
  bindingOf,
  bindingResource,
  bindingsBy,
  bindingsOfWork,
  watchingBindings,
} from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { kindIndexValue } from "../../context/informers.ts";
import { watchingTemplates } from "../../context/templates.ts";
import { RecentWrites } from "../../context/recent-writes.ts";

/** The controller that reports what copies do on their bindings and templates. */
export function createBindingStatus(context: PlaneContext): readonly Service[] {
  const { informers, interpretation, templates } = context;
  const reports = new StatusReports(context);
  return [
    createController(context, {
      name: "binding-status",
      concurrency: 8,
      watches: [
        ...watchingBindings(informers, ownKey),
        watching(informers.works, (old, now) => keysOfWork(context, old, now)),
        watching(informers.clusters, (old, now) => keysOfCluster(context, old, now)),
        watchingTemplates(templates, (resource, old, now) =>
          keysOfTemplate(context, resource, old, now),
        ),
        {
          whenSynced: (signal) => interpretation.whenSynced(signal),
          subscribe: (add) =>
            interpretation.onChange((apiVersion, kind) => {
              const value = kindIndexValue({ apiVersion, kind }, undefined);
              for (const binding of bindingsBy(informers, "kind", value)) add(keyOf(binding));
            }),
        },
      ],
      reconcile: (key) => reports.look(key),
    }),
  ];
}

function keysOfWork(
  { informers }: PlaneContext,
  old: Work | undefined,
  now: Work | undefined,
): readonly ObjectKey[] {
  return bindingsOfWork(informers, now ?? old).map(keyOf);
}

/** The bindings with copies in a cluster that is Ready no more, or again. */
function keysOfCluster(
  context: PlaneContext,
  old: Cluster | undefined,
  now: Cluster | undefined,
): readonly ObjectKey[] {
  const [before, after] = [old, now].map((cluster) => cluster && notReadySince(cluster));
  const { name } = ((now ?? old) as Cluster).metadata;
  if (before === after) return [];
  return context.informers.works
    .byIndex("cluster", executionNamespace(name))
    .flatMap((work) => keysOfWork(context, undefined, work));
}

/** A template's generation decides the `observedGeneration` of its status, and only this controller writes that status. */
function keysOfTemplate(
  { informers }: PlaneContext,
  { kind }: Resource,
  old: AnyObject | undefined,
  now: AnyObject | undefined,
): readonly ObjectKey[] {
  if (now === undefined) return [];
  const { namespace = "", name, generation } = now.metadata;
  const key = { namespace, name: bindingName(kind, name) };
  if (bindingOf(informers, key) === undefined) return [];
  const isSame =
    old?.metadata.generation === generation && equalJson(old?.["status"], now["status"]);
  return old !== undefined && isSame ? [] : [key];
}

class StatusReports {
  readonly #context: PlaneContext;
  /** By key: since when something is held back. */
  readonly #heldSince = new Map<string, Instant>();
  readonly #recentWrites = new RecentWrites();

  constructor(context: PlaneContext) {
    this.#context = context;
  }

  async look(key: ObjectKey): Promise<Outcome> {
    const { events, informers, plane, time } = this.#context;
    const binding = bindingOf(informers, key);
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) {
      this.#heldSince.delete(formatKey(key));
      return done;
    }
    const moment = time.moment();
    const heldSince = this.#heldSince.get(formatKey(key));
    const works = worksOf(this.#context, binding);
    const clusters = clustersOf(this.#context, works);
    const plan = decideAggregation({ binding, works, clusters, heldSince }, moment);
    if (plan.checkAgainAt !== undefined) {
      if (heldSince === undefined) this.#heldSince.set(formatKey(key), moment.now);
      return checkAgainAt(plan.checkAgainAt);
    }
    for (const { status } of plan.commands) {
      const { uid } = binding.metadata;
      const what = [
        plan.items,
        findCondition(status.conditions, "FullyApplied")?.status,
        findCondition(status.conditions, STATUS_UP_TO_DATE)?.message,
      ];
      const again = this.#recentWrites.heldUntil(uid, what, moment);
      if (again !== undefined) return checkAgainAt(again);
      const changed = { ...binding, status };
      await plane.update(bindingResource(key), changed, { subresource: "status" });
      this.#recentWrites.note(uid, what, moment.now);
    }
    this.#heldSince.delete(formatKey(key));
    if (plan.reason === "Changed")
      events.record(binding, succeeded(`Update ${nameOf(binding)} with AggregatedStatus`));
    return this.#report(binding, plan, moment);
  }

  async #report(binding: Binding, plan: AggregationPlan, moment: Moment): Promise<Outcome> {
    const { events, templates } = this.#context;
    const { apiVersion, kind, uid } = binding.spec.resource;
    const resource = templates.resourceOf(apiVersion, kind);
    const template = templates.get(binding.spec.resource);
    if (resource === undefined || template === undefined) return done;
    const { metadata } = template;
    if ((uid ?? metadata.uid) !== metadata.uid || metadata.deletionTimestamp !== undefined)
      return done;
    try {
      const copies = copiesOf(binding, plan.items);
      const aggregated = await this.#context.interpretation.aggregateStatus(template, copies);
      if (aggregated === undefined) return done;
      const status = templateStatus(template, aggregated, plan.outdated, moment.now);
      const written = await this.#writeTemplate(resource, template, status, moment);
      if (written === "written" && plan.reason === "Changed")
        events.record(template, succeeded("Update Resource with AggregatedStatus"));
      return typeof written === "string" ? done : checkAgainAt(written);
    } catch (error) {
      if (isRefused(error, "NotFound")) return done;
      if (!isRefused(error, "Conflict"))
        for (const involved of [binding, template] satisfies Involved[])
          events.record(involved, {
            type: "Warning",
            reason: "AggregateStatusFailed",
            message: `Update Resource with AggregatedStatus failed: ${String(error)}`,
          });
      throw error;
    }
  }

  /** Answers whether there was something to write, or when that is to be written. */
  async #writeTemplate(
    resource: Resource,
    template: AnyObject,
    status: ReturnType<typeof templateStatus>,
    moment: Moment,
  ): Promise<"written" | "upToDate" | Instant> {
    const { plane } = this.#context;
    const { uid } = template.metadata;
    if (equalJson(status, template["status"] ?? {})) return "upToDate";
    const again = this.#recentWrites.heldUntil(uid, status, moment);
    if (again !== undefined) return again;
    await plane.update(resource, { ...template, status }, { subresource: "status" });
    this.#recentWrites.note(uid, status, moment.now);
    return "written";
  }
}

function worksOf({ informers }: PlaneContext, { metadata }: Binding): readonly Work[] {
  const key =
    metadata.namespace === undefined ? wellKnown.CLUSTER_BINDING_ID : wellKnown.BINDING_ID;
  const id = metadata.labels?.[key];
  return id === undefined ? [] : informers.works.byIndex("binding", id);
}

function clustersOf({ informers }: PlaneContext, works: readonly Work[]): readonly Cluster[] {
  return works.flatMap(({ metadata }) => {
    const name = clusterOfExecutionNamespace(metadata.namespace ?? "");
    if (name === undefined) return [];
    return informers.clusters.get({ namespace: "", name }) ?? [];
  });
}

function nameOf(binding: Binding): string {
  return `${binding.kind}(${formatKey(keyOf(binding))})`;
}

function succeeded(what: string) {
  const message = `${what} successfully.`;
  return { type: "Normal", reason: "AggregateStatusSucceed", message } as const;
}
