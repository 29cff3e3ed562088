/**
 * The answer of a script, read as the operation expects it, or the sentence that states why it cannot be read.
 *
 * 1. Nothing throws, whatever a script answers.
 * 2. An answer never changes which object it is about, nor the marks by which copies are known as ours.
 * 3. Parts that were not asked for are left out, never passed on.
 */
import { formatQuantity, parseQuantity } from "@lifeboat/api";
import {
  compareText,
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  textAt,
  textsAt,
  valueAt,
} from "../../fields.ts";
import type { Dependency, Health, ReplicaRequirements, Replicas } from "./interpreter.ts";

export type ScriptAnswer<T> = { readonly value: T } | { readonly problem: string };

const MAX_REPLICAS = 2 ** 31 - 1;
const MAX_DEPENDENCIES = 1000;

/** The results of `GetReplicas`: a number, and what each replica needs or nothing. */
export function replicasFromScript(count: unknown, needs: unknown): ScriptAnswer<Replicas> {
  if (!isCount(count))
    return problem(
      `the number of replicas is ${show(count)}, not a whole number from 0 to ${MAX_REPLICAS}`,
    );
  if (isNothing(needs)) return { value: { replicas: count } };
  if (!isFields(needs)) return problem(`the requirements are ${show(needs)}, not a table`);
  const requirements = requirementsFromScript(needs);
  if ("problem" in requirements) return requirements;
  const isEmpty = Object.keys(requirements.value).length === 0;
  return {
    value: isEmpty ? { replicas: count } : { replicas: count, requirements: requirements.value },
  };
}

/** An object that `ReviseReplica` or `Retain` gave back for another. */
export function objectFromScript(answered: unknown, given: Fields): ScriptAnswer<Fields> {
  if (!isFields(answered)) return problem(`the answer is ${show(answered)}, not the object`);
  const changed = changedIdentity(answered, given);
  if (changed !== undefined) return problem(`the answer has another ${changed} than the object`);
  return { value: { ...answered, metadata: metadataOf(answered, given) } };
}

/** What `ReflectStatus` reports; undefined when there is nothing to report. */
export function statusFromScript(answered: unknown): ScriptAnswer<Fields | undefined> {
  if (isNothing(answered)) return { value: undefined };
  return isFields(answered)
    ? { value: answered }
    : problem(`the status is ${show(answered)}, not a table with names`);
}

export function healthFromScript(answered: unknown): ScriptAnswer<Health> {
  if (typeof answered !== "boolean")
    return problem(`the answer is ${show(answered)}, not true or false`);
  return { value: answered ? "Healthy" : "Unhealthy" };
}

/** The status of the object that `AggregateStatus` gave back; undefined when it has none. */
export function aggregateFromScript(
  answered: unknown,
  template: Fields,
): ScriptAnswer<Fields | undefined> {
  const object = objectFromScript(answered, template);
  return "problem" in object ? object : statusFromScript(valueAt(object.value, "status") ?? null);
}

/** What `GetDependencies` lists, sorted, each once. */
export function dependenciesFromScript(answered: unknown): ScriptAnswer<readonly Dependency[]> {
  if (isNothing(answered)) return { value: [] };
  if (!Array.isArray(answered)) return problem(`the answer is ${show(answered)}, not a list`);
  if (answered.length > MAX_DEPENDENCIES)
    return problem(
      `the answer lists ${answered.length} dependencies, more than ${MAX_DEPENDENCIES}`,
    );
  const found: Dependency[] = [];
  for (const [index, item] of answered.entries()) {
    const dependency = dependencyFromScript(item, `dependency ${index + 1}`);
    if ("problem" in dependency) return dependency;
    found.push(dependency.value);
  }
  return { value: mergedDependencies([found]) };
}

/** What several lists name together, sorted, each once. */
export function mergedDependencies(
  lists: readonly (readonly Dependency[])[],
): readonly Dependency[] {
  const found = new Map(lists.flat().map((one) => [JSON.stringify(one), one]));
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, value]) => value);
}

function dependencyFromScript(item: unknown, name: string): ScriptAnswer<Dependency> {
  if (!isFields(item)) return problem(`${name} is ${show(item)}, not a table with names`);
  const apiVersion = textAt(item, "apiVersion");
  const kind = textAt(item, "kind");
  const selector = valueAt(item, "labelSelector");
  const object = textAt(item, "name");
  if (apiVersion === "" || kind === "") return problem(`${name} has no apiVersion or no kind`);
  if (object === "" && !isFields(selector))
    return problem(`${name} has neither a name nor a labelSelector`);
  const namespace = textAt(item, "namespace");
  return {
    value: {
      apiVersion,
      kind,
      ...(namespace === "" ? {} : { namespace }),
      ...(object === "" ? {} : { name: object }),
      ...(isFields(selector) && object === "" ? { labelSelector: selector } : {}),
    },
  };
}

function requirementsFromScript(needs: Fields): ScriptAnswer<ReplicaRequirements> {
  const request = requestFromScript(fieldsAt(needs, "resourceRequest"));
  if ("problem" in request) return request;
  const affinity = valueAt(needs, "nodeClaim", "hardNodeAffinity");
  const nodeSelector = textsAt(needs, "nodeClaim", "nodeSelector");
  const tolerations = listAt(needs, "nodeClaim", "tolerations");
  const nodeClaim = {
    ...(isFields(affinity) && !isNothing(affinity) ? { hardNodeAffinity: affinity } : {}),
    ...(Object.keys(nodeSelector).length > 0 ? { nodeSelector } : {}),
    ...(tolerations.length > 0 ? { tolerations } : {}),
  };
  return {
    value: {
      ...(Object.keys(nodeClaim).length > 0 ? { nodeClaim } : {}),
      ...(Object.keys(request.value).length > 0 ? { resourceRequest: request.value } : {}),
    },
  };
}

function requestFromScript(request: Fields): ScriptAnswer<Readonly<Record<string, string>>> {
  const amounts: [string, string][] = [];
  for (const [name, given] of Object.entries(request)) {
    const isText = typeof given === "string" || typeof given === "number";
    const amount = isText ? parseQuantity(String(given)) : undefined;
    if (amount === undefined || amount.nanos < 0n)
      return problem(`the request of ${name} is ${show(given)}, not a quantity`);
    if (amount.nanos > 0n) amounts.push([name, formatQuantity(amount)]);
  }
  return { value: Object.fromEntries(amounts.sort(([a], [b]) => compareText(a, b))) };
}

const IDENTITY: readonly (readonly string[])[] = [
  ["apiVersion"],
  ["kind"],
  ["metadata", "name"],
  ["metadata", "namespace"],
];

function changedIdentity(answered: Fields, given: Fields): string | undefined {
  return IDENTITY.find((path) => textAt(answered, ...path) !== textAt(given, ...path))?.join(".");
}

/** The object's own metadata; of labels and annotations the script may set what is not ours. */
function metadataOf(answered: Fields, given: Fields): Fields {
  return {
    ...fieldsAt(given, "metadata"),
    ...marksOf("labels", answered, given),
    ...marksOf("annotations", answered, given),
  };
}

function marksOf(field: string, answered: Fields, given: Fields): Fields {
  const before = textsAt(given, "metadata", field);
  const after = textsAt(answered, "metadata", field);
  const kept = Object.entries(before).filter(([key]) => isOurMark(key));
  const set = Object.entries(after).filter(([key]) => !isOurMark(key));
  const marks = Object.fromEntries([...set, ...kept]);
  if (Object.keys(marks).length === 0 && valueAt(given, "metadata", field) === undefined) return {};
  return { [field]: marks };
}

/** Keys of the control plane: whose copy this is, and how it has to be treated. */
function isOurMark(key: string): boolean {
  const domain = key.slice(0, Math.max(0, key.indexOf("/")));
  return /(^|\.)(karmada\.io|lifeboat\.dev)$/.test(domain);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_REPLICAS;
}

/** nil, or an empty table, which may be a list or an object. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function show(value: unknown): string {
  if (value === undefined || value === null) return "nil";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a table";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

function problem(text: string): { readonly problem: string } {
  return { problem: text };
}
