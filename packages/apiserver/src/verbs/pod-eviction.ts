/**
 * POST of an Eviction, as pods/{name}/eviction: deletes a pod if its disruption budget has room. Nothing is stored but
 * what the budget loses.
 *
 * 1. A pod that does not serve yet or any more (Pending, Succeeded, Failed, under deletion) is deleted whatever the budget
 *    is; so is one that is not ready, where the budget allows that or is healthy without it.
 * 2. The budget is charged before the deletion, in a write decided on what stands at its head. So no two evictions take
 *    the same room; one whose deletion is then refused has charged it for nothing until the budget's controller looks.
 */
import { assert, formatTime, type Instant } from "@lifeboat/base";
import {
  type AnyObject,
  badRequest,
  builtinSchema,
  type Condition,
  failure,
  type Json,
  type JsonObject,
  type LabelSelector,
  labelSelectorFrom,
  matchesLabels,
  notFound,
  Refused,
  setCondition,
} from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import { decodeBody } from "./decode-body.ts";
import { deleteUnchecked } from "./delete.ts";
import type { VerbDeps } from "./deps.ts";
import { listUnchecked } from "./list.ts";
import { givenMetaOf } from "./metadata.ts";
import { CREATED } from "./pod-binding.ts";
import { serverError } from "./refusals.ts";
import { replace } from "./replace.ts";
import type {
  Body,
  DeleteOptionsBody,
  RequestContext,
  Target,
  WriteAnswer,
  WriteParameters,
} from "./verbs.ts";
import { storeKey } from "./write-object.ts";

interface BudgetStatus {
  readonly observedGeneration?: number;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
}

interface BudgetSpec {
  readonly selector?: LabelSelector;
  readonly unhealthyPodEvictionPolicy?: string;
}

const VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget.";
const RETRY_SECONDS = 10;
const EVERYTHING = {
  labelSelector: "",
  fieldSelector: "",
  limit: 0,
  continue: "",
  resourceVersion: "",
  resourceVersionMatch: "",
} as const;

export async function createEviction(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: Body,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  const eviction = decodeEviction(context, target, body, parameters);
  if (givenMetaOf(eviction).name !== target.name)
    throw badRequest("name in URL does not match name in Eviction object");
  const pod: Target = { ...target, subresource: "" };
  const found = deps.store.head(target.resource.table, storeKey(pod))?.object;
  if (found === undefined) throw notFound(target.resource, target.name);
  const options = optionsOf(eviction, parameters);
  const isDryRun = (options.dryRun?.length ?? 0) > 0;
  await chargeBudget(deps, context, found, { ...parameters, dryRun: isDryRun });
  await deleteUnchecked(deps, context, pod, options);
  return { object: CREATED, created: true };
}

/** The old version of the kind is understood too: clients that do not know the new one ask with it. */
function decodeEviction(
  context: RequestContext,
  { resource }: Target,
  body: Body,
  parameters: WriteParameters,
): JsonObject {
  const schema = builtinSchema("policy/v1", "Eviction");
  assert(schema !== undefined, "evictions are described");
  const evictions: ServedResource = {
    ...resource,
    group: "policy",
    version: "v1",
    kind: "Eviction",
    schema,
  };
  const isOld = body.object["apiVersion"] === "policy/v1beta1";
  const current = isOld ? { ...body, object: { ...body.object, apiVersion: "policy/v1" } } : body;
  return decodeBody(context, evictions, current, parameters.fieldValidation);
}

function optionsOf(eviction: JsonObject, parameters: WriteParameters): DeleteOptionsBody {
  const given = (eviction["deleteOptions"] ?? {}) as DeleteOptionsBody;
  const { gracePeriodSeconds, propagationPolicy, preconditions } = given;
  const dryRun = parameters.dryRun ? ["All"] : given.dryRun;
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(preconditions !== undefined && { preconditions }),
    ...(dryRun !== undefined && { dryRun }),
  };
}

/** Takes the pod out of its budget's room; refuses with 429 when there is none. */
async function chargeBudget(
  deps: VerbDeps,
  context: RequestContext,
  pod: AnyObject,
  parameters: WriteParameters,
): Promise<void> {
  if (servesNot(pod)) return;
  const resource = deps.catalog.find("policy", "v1", "poddisruptionbudgets");
  assert(resource !== undefined, "disruption budgets are served");
  const { namespace = "" } = pod.metadata;
  const collection: Target = { resource, namespace, name: "", subresource: "" };
  const { items } = await listUnchecked(deps, collection, EVERYTHING);
  const budgets = items.map((item) => item.object).filter((budget) => covers(budget, pod));
  const [budget] = budgets;
  if (budget === undefined) return;
  if (budgets.length > 1)
    throw serverError(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  if (!isReady(pod) && sparesUnready(budget)) return;
  const target = { ...collection, name: budget.metadata.name, subresource: "status" };
  await replace(deps, context, target, parameters, {
    next: (current) => charged(current, pod.metadata.name, deps.clock.now()),
  });
}

function servesNot(pod: AnyObject): boolean {
  const phase = (pod["status"] as { readonly phase?: string } | undefined)?.phase;
  if (pod.metadata.deletionTimestamp !== undefined) return true;
  return phase === "Pending" || phase === "Succeeded" || phase === "Failed";
}

function isReady(pod: AnyObject): boolean {
  const status = pod["status"] as { conditions?: readonly { type: string; status: string }[] };
  return status.conditions?.some((c) => c.type === "Ready" && c.status === "True") === true;
}

function covers(budget: AnyObject, pod: AnyObject): boolean {
  const { selector } = (budget["spec"] ?? {}) as BudgetSpec;
  if (selector === undefined) return false;
  return matchesLabels(labelSelectorFrom(selector), pod.metadata.labels ?? {});
}

/** Whether the budget lets pods go that are not ready, without being charged. */
function sparesUnready(budget: AnyObject): boolean {
  const { unhealthyPodEvictionPolicy } = (budget["spec"] ?? {}) as BudgetSpec;
  if (unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = (budget["status"] ?? {}) as BudgetStatus;
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/** The budget after one more disruption; throws when it allows none. Pure. */
function charged(budget: AnyObject, pod: string, now: Instant): JsonObject {
  const { name, generation = 0 } = budget.metadata;
  const status = (budget["status"] ?? {}) as BudgetStatus;
  if ((status.observedGeneration ?? 0) < generation)
    throw tooMany(
      `The disruption budget ${name} is still being processed by the server.`,
      RETRY_SECONDS,
    );
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = status;
  if (disruptionsAllowed <= 0)
    throw tooMany(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  const left = disruptionsAllowed - 1;
  return {
    ...(budget as unknown as JsonObject),
    status: {
      ...(status as unknown as JsonObject),
      disruptionsAllowed: left,
      conditions: setCondition(
        status.conditions,
        {
          type: "DisruptionAllowed",
          status: left > 0 ? "True" : "False",
          reason: left > 0 ? "SufficientPods" : "InsufficientPods",
          message: "",
          observedGeneration: generation,
        },
        now,
      ) as unknown as Json,
      disruptedPods: { ...status.disruptedPods, [pod]: formatTime(now) },
    },
  };
}

function tooMany(cause: string, retryAfterSeconds?: number): Refused {
  return new Refused(
    failure(429, "TooManyRequests", VIOLATES, {
      causes: [{ reason: "DisruptionBudget", message: cause }],
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    }),
  );
}
