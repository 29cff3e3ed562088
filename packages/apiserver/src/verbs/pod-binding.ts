/**
 * POST of a Binding, as pods/{name}/binding or as bindings: puts a pod on a node. The Binding itself is never stored.
 *
 * 1. A pod gets a node once: a second request gets a conflict.
 * 2. The Binding's uid and resourceVersion are preconditions; its labels and annotations are added to the pod's.
 * 3. The generation does not rise: what is written is not the user's.
 */
import { assert, deepFreeze, formatTime } from "@lifeboat/base";
import { type AnyObject, badRequest, conflict, notFound } from "@lifeboat/api";
import { type Entry, HeadMoved } from "../store/store.ts";
import { decodeBody } from "./decode-body.ts";
import type { VerbDeps } from "./deps.ts";
import { type GivenMeta, givenMetaOf } from "./metadata.ts";
import { serverError } from "./refusals.ts";
import { checkVersion } from "./replace.ts";
import type { Body, RequestContext, Target, WriteAnswer, WriteParameters } from "./verbs.ts";
import { put, settle, storeKey } from "./write-object.ts";

/** What a subresource answers that has nothing to show. */
export const CREATED: AnyObject = deepFreeze({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  code: 201,
}) as unknown as AnyObject;

interface PodSpec {
  readonly nodeName?: string;
  readonly schedulingGates?: readonly unknown[];
}

interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

interface PodStatus {
  readonly conditions?: readonly PodCondition[];
  readonly nominatedNodeName?: string;
}

export async function createBinding(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: Body,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  const bindings = deps.catalog.find("", "v1", "bindings");
  const pods = deps.catalog.find("", "v1", "pods");
  assert(bindings !== undefined && pods !== undefined, "pods and bindings are served");
  const binding = decodeBody(context, bindings, body, parameters.fieldValidation);
  const given = givenMetaOf(binding);
  const name = given.name ?? "";
  if (name === "") throw badRequest("Name parameter required.");
  if (target.name !== "" && target.name !== name)
    throw badRequest("name in URL does not match name in Binding object");
  const node = nodeOf(binding["target"] as { kind?: string; name?: string } | undefined);
  const pod: Target = { resource: pods, namespace: target.namespace, name, subresource: "" };
  await bind(deps, pod, given, node, parameters.dryRun);
  return { object: CREATED, created: true };
}

function nodeOf(target: { readonly kind?: string; readonly name?: string } | undefined): string {
  const { kind = "", name = "" } = target ?? {};
  if (kind !== "" && kind !== "Node")
    throw serverError(
      `target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`,
    );
  if (name === "") throw serverError("target.name: Required value");
  return name;
}

async function bind(
  deps: VerbDeps,
  target: Target,
  given: GivenMeta,
  node: string,
  dryRun: boolean,
): Promise<void> {
  const { resource, name } = target;
  for (;;) {
    const head = deps.store.head(resource.table, storeKey(target));
    if (head === undefined) {
      await settle(deps.store, target);
      if (deps.store.head(resource.table, storeKey(target)) !== undefined) continue;
      throw notFound(resource, name);
    }
    checkPreconditions(target, given, head);
    const bound = boundTo(head.object, given, node, formatTime(deps.clock.now()));
    if (dryRun) return;
    try {
      await put(deps.store, target, head, bound);
      return;
    } catch (error) {
      if (!(error instanceof HeadMoved)) throw error;
    }
  }
}

function checkPreconditions(target: Target, given: GivenMeta, head: Entry): void {
  const { resource, name } = target;
  checkVersion(resource, target, given, head);
  const why = obstacleOf(head.object);
  if (why !== undefined) throw conflict({ ...resource, plural: "pods/binding" }, name, why);
}

/** Why a pod can get no node now; undefined when it can. Pure. */
function obstacleOf(pod: AnyObject): string | undefined {
  const { name, deletionTimestamp } = pod.metadata;
  const { nodeName = "", schedulingGates = [] } = pod["spec"] as PodSpec;
  if (deletionTimestamp !== undefined)
    return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (nodeName !== "") return `pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`;
  if (schedulingGates.length > 0) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}

/** The pod on its node. Pure. */
function boundTo(pod: AnyObject, given: GivenMeta, nodeName: string, now: string): AnyObject {
  const { metadata } = pod;
  const { nominatedNodeName: _, ...status } = (pod["status"] ?? {}) as PodStatus;
  const others = status.conditions?.filter(({ type }) => type !== "PodScheduled") ?? [];
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  const added = (mine: GivenMeta["labels"], more: GivenMeta["labels"]): GivenMeta["labels"] =>
    more === undefined ? mine : { ...mine, ...more };
  const labels = added(metadata.labels, given.labels);
  const annotations = added(metadata.annotations, given.annotations);
  return {
    ...pod,
    metadata: {
      ...metadata,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
    spec: { ...(pod["spec"] as object), nodeName },
    status: { ...status, conditions: [...others, scheduled] },
  };
}
