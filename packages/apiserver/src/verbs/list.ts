/**
 * GET of a collection.
 *
 * Every list is one consistent state: the present one, or the one a version or a continue token names. Pieces of a
 * list all show the version of the first piece for as long as history reaches back; then the client gets a 410 with a
 * token that goes on with the present state.
 */
import { badRequest, type FieldError, forbidden } from "@lifeboat/api";
import { type Entry, HistoryGone, type RangeOptions } from "../store/store.ts";
import { authorize } from "./authorize.ts";
import { type ContinueToken, decodeContinue, encodeContinue } from "./continue-token.ts";
import type { VerbDeps } from "./deps.ts";
import { expired, invalidOptions, methodNotAllowed } from "./refusals.ts";
import { listVersion, waitForVersion } from "./resource-version.ts";
import { type Selection, selectionOf } from "./selection.ts";
import type { Found, ListAnswer, ListParameters, RequestContext, Target } from "./verbs.ts";

const TOKEN_EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";

export async function list(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  parameters: ListParameters,
): Promise<ListAnswer> {
  authorize(deps, context, "list", target, parameters.fieldSelector);
  if (!target.resource.verbs.includes("list"))
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  return listUnchecked(deps, target, parameters, context.signal);
}

/** A list without asking the authorizer: also the first half of a deletion of a collection. */
export async function listUnchecked(
  deps: VerbDeps,
  target: Target,
  parameters: ListParameters,
  signal?: AbortSignal,
): Promise<ListAnswer> {
  checkVersionMatch(parameters);
  const selection = selectionOf(target.resource, parameters);
  const plan = planOf(parameters);
  if (plan.revision > deps.store.revision) await waitForVersion(deps, plan.revision, signal);
  const exact = plan.exact && plan.revision !== deps.store.revision;
  const prefix = target.namespace === "" ? "" : `${target.namespace}/`;
  const options: RangeOptions = {
    ...(prefix !== "" && { prefix }),
    ...(plan.after !== undefined && { after: keyAfter(target, plan.after) }),
    ...(exact && { at: plan.revision }),
  };
  try {
    return collect(
      deps,
      target,
      selection,
      options,
      plan,
      exact ? plan.revision : deps.store.revision,
    );
  } catch (error) {
    if (!(error instanceof HistoryGone)) throw error;
    if (plan.after === undefined)
      throw expired("The resourceVersion for the provided list is too old.");
    throw expired(TOKEN_EXPIRED, encodeContinue({ revision: -1, after: plan.after }));
  }
}

/** What the version, match and continue of a request come to. */
interface ListPlan {
  /** The least version to show, or the one to show. 0: any. */
  readonly revision: number;
  readonly exact: boolean;
  readonly limit: number;
  readonly after?: string;
}

function planOf(parameters: ListParameters): ListPlan {
  if (parameters.continue !== "")
    return continuedPlan(parameters, decodeContinue(parameters.continue));
  const revision = listVersion(parameters.resourceVersion);
  return {
    revision,
    exact: parameters.resourceVersionMatch === "Exact",
    // A request for version 0 takes what a cache would have, and caches do not cut lists in pieces.
    limit: parameters.resourceVersion === "0" ? 0 : parameters.limit,
  };
}

function continuedPlan(parameters: ListParameters, token: ContinueToken): ListPlan {
  if (parameters.resourceVersion !== "" && parameters.resourceVersion !== "0")
    throw badRequest("specifying resource version is not allowed when using continue");
  return {
    revision: Math.max(token.revision, 0),
    exact: token.revision > 0,
    limit: parameters.limit,
    after: token.after,
  };
}

/** The key in the store after which a piece begins. */
function keyAfter(target: Target, after: string): string {
  if (!target.resource.namespaced) return `/${after}`;
  return target.namespace === "" ? after : `${target.namespace}/${after}`;
}

function relativeKey(target: Target, key: string): string {
  if (!target.resource.namespaced) return key.slice(1);
  return target.namespace === "" ? key : key.slice(target.namespace.length + 1);
}

function collect(
  deps: VerbDeps,
  target: Target,
  selection: Selection,
  options: RangeOptions,
  plan: ListPlan,
  revision: number,
): ListAnswer {
  const { resource } = target;
  const items: Found[] = [];
  let last: Entry | undefined;
  let more = false;
  for (const entry of candidates(deps, target, selection, options)) {
    const view = deps.views.of(resource, entry);
    if (selection.matches !== undefined && !selection.matches(view.object)) continue;
    if (plan.limit > 0 && items.length === plan.limit) {
      more = true;
      break;
    }
    items.push(view);
    last = entry;
  }
  const resourceVersion = String(revision);
  if (!more || last === undefined) return { resourceVersion, items };
  const token = encodeContinue({ revision, after: relativeKey(target, last.key) });
  if (selection.matches !== undefined) return { resourceVersion, continue: token, items };
  const remainingItemCount = deps.store.count(resource.table, { ...options, after: last.key });
  return { resourceVersion, continue: token, remainingItemCount, items };
}

/** The entries worth looking at: one, when the selector names it, else the whole range. */
function candidates(
  deps: VerbDeps,
  target: Target,
  selection: Selection,
  options: RangeOptions,
): Iterable<Entry> {
  const { table, namespaced } = target.resource;
  const namespace = target.namespace !== "" ? target.namespace : (selection.namespace ?? "");
  const single =
    selection.name !== undefined && options.at === undefined && options.after === undefined;
  if (single && (!namespaced || namespace !== "")) {
    const entry = deps.store.get(table, `${namespaced ? namespace : ""}/${selection.name}`);
    return entry === undefined ? [] : [entry];
  }
  if (namespaced && target.namespace === "" && namespace !== "")
    return deps.store.range(table, { ...options, prefix: `${namespace}/` });
  return deps.store.range(table, options);
}

function checkVersionMatch(parameters: ListParameters): void {
  const errors = versionMatchErrors(parameters);
  if (errors.length > 0) throw invalidOptions("ListOptions", errors);
}

function versionMatchErrors(parameters: ListParameters): readonly FieldError[] {
  const { resourceVersionMatch: match, resourceVersion } = parameters;
  const field = "resourceVersionMatch";
  if (match === "") return [];
  if (parameters.continue !== "")
    return [forbidden(field, `${field} is forbidden when continue is provided`)];
  if (resourceVersion === "")
    return [forbidden(field, `${field} is forbidden unless resourceVersion is provided`)];
  if (match === "Exact" && resourceVersion === "0")
    return [forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`)];
  if (match !== "Exact" && match !== "NotOlderThan") return [notSupportedMatch(match)];
  return [];
}

function notSupportedMatch(match: string): FieldError {
  return {
    reason: "FieldValueNotSupported",
    field: "resourceVersionMatch",
    message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
  };
}
