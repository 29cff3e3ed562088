/**
 * What a workload needs, as it is recorded on its binding (annotation `resourcebinding.karmada.io/dependencies`): a JSON
 * list of objects that are named, chosen by their labels, or, for Services, chosen by the pods that they select.
 *
 * 1. The same dependencies give the same text, whatever their order.
 * 2. A text that is not such a list reads as undefined, never as "needs nothing": nothing is taken from a member because
 *    of something unreadable.
 * 3. A selector that is not valid chooses nothing.
 */
import {
  type KubeObject,
  labelSelectorFrom,
  type LabelSelector,
  matchesLabels,
  validateLabelSelector,
} from "@lifeboat/api";
import { peersName } from "../../federated/names.ts";
import { compareText, type Fields, fieldsAt, isFields, textAt, textsAt } from "../../fields.ts";
import type { Dependency } from "../interpretation/interpreter.ts";
import { DEPENDENCIES, PROPAGATE_SERVICES } from "../../well-known.ts";

export interface RecordedDependency {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name?: string;
  readonly labelSelector?: Fields;
  /** Of Services: those whose selector these labels of a pod satisfy. */
  readonly podLabels?: Readonly<Record<string, string>>;
}

/** Which object, as indexes and controllers name it. */
export interface ObjectIdentity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** What to record of a template: its dependencies, those without a namespace in its own, and its Services when asked. */
export function dependenciesToRecord(
  template: Fields,
  dependencies: readonly Dependency[],
  federated = false,
): readonly RecordedDependency[] {
  const own = textAt(template, "metadata", "namespace");
  const recorded = [
    ...dependencies,
    ...servicesOf(template),
    ...(federated ? federatedNeeds(template) : []),
  ].flatMap((dependency) => {
    const read = readOne({ ...dependency, namespace: textAt(dependency, "namespace") || own });
    return read === undefined ? [] : [read];
  });
  return parseDependencies(formatDependencies(recorded)) ?? [];
}

/** Whether the template asks for the Services of its pods to follow it. */
export function asksForServices(template: Fields): boolean {
  return textAt(template, "metadata", "annotations", PROPAGATE_SERVICES) === "true";
}

/** The text that is recorded. */
export function formatDependencies(dependencies: readonly RecordedDependency[]): string {
  const texts = new Set(dependencies.map((dependency) => JSON.stringify(inOrder(dependency))));
  return `[${[...texts].sort(compareText).join(",")}]`;
}

/** What a text records; undefined when it is not readable. Entries that name nothing are left out. */
export function parseDependencies(text: string): readonly RecordedDependency[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((entry: unknown) => readOne(entry) ?? []);
}

/** What is recorded on a binding; undefined when nothing readable is. */
export function recordedDependencies(
  binding: KubeObject,
): readonly RecordedDependency[] | undefined {
  const text = binding.metadata.annotations?.[DEPENDENCIES];
  return text === undefined ? undefined : parseDependencies(text);
}

/** Whether a dependency means this object. */
export function refersTo(dependency: RecordedDependency, object: Fields): boolean {
  if (
    textAt(object, "apiVersion") !== dependency.apiVersion ||
    textAt(object, "kind") !== dependency.kind ||
    textAt(object, "metadata", "namespace") !== dependency.namespace
  )
    return false;
  if (dependency.name !== undefined) return textAt(object, "metadata", "name") === dependency.name;
  if (dependency.podLabels !== undefined) return selectsPods(object, dependency.podLabels);
  return hasChosenLabels(dependency.labelSelector ?? {}, textsAt(object, "metadata", "labels"));
}

/** The values under which a binding is found from an object that it may refer to: see `identityIndex`. */
export function dependencyIndex(binding: KubeObject): readonly string[] {
  const values = new Set<string>();
  for (const { apiVersion, kind, namespace, name } of recordedDependencies(binding) ?? [])
    values.add(indexValue(apiVersion, kind, namespace, name ?? ANY));
  return [...values];
}

/** Under which index values the bindings are that may refer to an object: by its name, and by selectors. */
export function identityIndex(object: ObjectIdentity): readonly [string, string] {
  const { apiVersion, kind, namespace, name } = object;
  return [
    indexValue(apiVersion, kind, namespace, name),
    indexValue(apiVersion, kind, namespace, ANY),
  ];
}

/** No object has this name. */
const ANY = "*";

function indexValue(apiVersion: string, kind: string, namespace: string, name: string): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}

/** The headless Service of a federated StatefulSet and the list of its pods follow it without being asked for. */
function federatedNeeds(template: Fields): readonly Fields[] {
  const peers = peersName(textAt(template, "metadata", "name"));
  const service = textAt(template, "spec", "serviceName");
  return [
    { apiVersion: "v1", kind: "ConfigMap", name: peers },
    ...(service === "" ? [] : [{ apiVersion: "v1", kind: "Service", name: service }]),
  ];
}

function servicesOf(template: Fields): readonly Fields[] {
  if (!asksForServices(template)) return [];
  const podLabels = textsAt(template, "spec", "template", "metadata", "labels");
  if (Object.keys(podLabels).length === 0) return [];
  return [{ apiVersion: "v1", kind: "Service", podLabels }];
}

function readOne(entry: unknown): RecordedDependency | undefined {
  const apiVersion = textAt(entry, "apiVersion");
  const kind = textAt(entry, "kind");
  const namespace = textAt(entry, "namespace");
  // What has no namespace cannot be bound by a ResourceBinding.
  if (apiVersion === "" || kind === "" || namespace === "") return undefined;
  const subject = { apiVersion, kind, namespace };
  const name = textAt(entry, "name");
  if (name !== "") return { ...subject, name };
  const podLabels = textsAt(entry, "podLabels");
  if (Object.keys(podLabels).length > 0) return { ...subject, podLabels };
  if (!isFields(entry) || !isFields(entry["labelSelector"])) return undefined;
  return { ...subject, labelSelector: fieldsAt(entry, "labelSelector") };
}

function inOrder({ name, labelSelector, podLabels, ...subject }: RecordedDependency): Fields {
  const { apiVersion, kind, namespace } = subject;
  return {
    apiVersion,
    kind,
    namespace,
    ...(name !== undefined && { name }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(podLabels !== undefined && {
      podLabels: Object.fromEntries(
        Object.entries(podLabels).sort(([a], [b]) => compareText(a, b)),
      ),
    }),
  };
}

/** A Service without a selector selects no pods: its endpoints are written by hand. */
function selectsPods(service: Fields, podLabels: Readonly<Record<string, string>>): boolean {
  const selector = Object.entries(textsAt(service, "spec", "selector"));
  return (
    selector.length > 0 &&
    selector.every(([key, value]) => Object.hasOwn(podLabels, key) && podLabels[key] === value)
  );
}

/** An empty selector would choose a whole namespace; no script means that, so it chooses nothing. */
function hasChosenLabels(selector: Fields, labels: Readonly<Record<string, string>>): boolean {
  const readable = readSelector(selector);
  if (readable === undefined) return false;
  const requirements = labelSelectorFrom(readable);
  return requirements.length > 0 && matchesLabels(requirements, labels);
}

function readSelector(selector: Fields): LabelSelector | undefined {
  const expressions = selector["matchExpressions"] ?? [];
  if (!Array.isArray(expressions)) return undefined;
  const matchExpressions = expressions.map((expression: unknown) => {
    const values: unknown = isFields(expression) ? (expression["values"] ?? []) : [];
    return {
      key: textAt(expression, "key"),
      operator: textAt(expression, "operator"),
      values: Array.isArray(values) ? values.filter((value) => typeof value === "string") : [],
    };
  });
  const readable = { matchLabels: textsAt(selector, "matchLabels"), matchExpressions };
  return validateLabelSelector(readable, "labelSelector").length === 0 ? readable : undefined;
}
