/**
 * Applying the `overriders` of one rule, in their fixed order: image, command, args, labels, annotations, fields with
 * embedded documents, and plain JSON patches last.
 *
 * 1. All or nothing: an overrider that cannot be applied throws OverrideError, and the object stays as it was.
 * 2. Labels and annotations: `add` sets, `replace` sets what is there, `remove` takes away what is there.
 */
import {
  applyJsonPatch,
  decodeJson,
  DecodeError,
  decodeYaml,
  encodeYaml,
  type Json,
  Refused,
} from "@lifeboat/api";
import {
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  textAt,
  textsAt,
  valueAt,
  withValue,
} from "../../fields.ts";
import {
  formatImage,
  type ImageComponent,
  type Operator,
  overrideImage,
  parseImage,
} from "./image.ts";
import { escapePointer, readPointer } from "./pointer.ts";

/** An overrider that cannot be applied; the message states which and why. */
export class OverrideError extends Error {
  override readonly name = "OverrideError";
}

const POD_SPEC_OF: ReadonlyMap<string, readonly string[]> = new Map([
  ["Pod", ["spec"]],
  ["ReplicaSet", ["spec", "template", "spec"]],
  ["Deployment", ["spec", "template", "spec"]],
  ["DaemonSet", ["spec", "template", "spec"]],
  ["StatefulSet", ["spec", "template", "spec"]],
  ["Job", ["spec", "template", "spec"]],
]);

export function applyOverriders(object: Fields, overriders: Fields): Fields {
  let result = object;
  for (const overrider of listAt(overriders, "imageOverrider"))
    result = overrideImages(result, overrider);
  for (const overrider of listAt(overriders, "commandOverrider"))
    result = overrideArguments(result, "command", overrider);
  for (const overrider of listAt(overriders, "argsOverrider"))
    result = overrideArguments(result, "args", overrider);
  for (const overrider of listAt(overriders, "labelsOverrider"))
    result = overrideMetadata(result, "labels", overrider);
  for (const overrider of listAt(overriders, "annotationsOverrider"))
    result = overrideMetadata(result, "annotations", overrider);
  for (const overrider of listAt(overriders, "fieldOverrider"))
    result = overrideDocument(result, overrider);
  return patched(
    result,
    listAt(overriders, "plaintext").map((entry) => operationOf(entry, "plaintext", "path")),
  );
}

function overrideImages(object: Fields, overrider: unknown): Fields {
  const predicate = valueAt(overrider, "predicate");
  const paths = isFields(predicate) ? [textAt(predicate, "path")] : imagePaths(object);
  const operations = paths.map((path) => {
    const image = readPointer(object, path);
    if (typeof image !== "string") throw new OverrideError(`imageOverrider: no image at ${path}`);
    return { op: "replace", path, value: overriddenImage(image, overrider) };
  });
  return patched(object, operations);
}

function overriddenImage(text: string, overrider: unknown): string {
  const component = textAt(overrider, "component");
  if (component !== "Registry" && component !== "Repository" && component !== "Tag")
    throw new OverrideError(`imageOverrider: unknown component "${component}"`);
  const image = overrideImage(
    parseImage(text),
    component satisfies ImageComponent,
    operatorOf(overrider, "imageOverrider"),
    textAt(overrider, "value"),
  );
  if (image.repository === "")
    throw new OverrideError(`imageOverrider: nothing would be left of the repository of ${text}`);
  return formatImage(image);
}

/** The images of all containers of the kinds that are known to have them. */
function imagePaths(object: Fields): string[] {
  const path = POD_SPEC_OF.get(textAt(object, "kind"));
  if (path === undefined) return [];
  const paths: string[] = [];
  for (const list of ["initContainers", "containers"])
    for (const [i, container] of listAt(object, ...path, list).entries())
      if (textAt(container, "image") !== "") paths.push(`/${path.join("/")}/${list}/${i}/image`);
  return paths;
}

function overrideArguments(object: Fields, field: "command" | "args", overrider: unknown): Fields {
  const path = POD_SPEC_OF.get(textAt(object, "kind"));
  if (path === undefined) return object;
  const containers = listAt(object, ...path, "containers");
  const name = textAt(overrider, "containerName");
  if (!containers.some((container) => textAt(container, "name") === name)) return object;
  const operator = operatorOf(overrider, `${field}Overrider`);
  const values = listAt(overrider, "value");
  const overridden = containers.map((container) => {
    if (!isFields(container) || textAt(container, "name") !== name) return container;
    const before = listAt(container, field);
    return withValue(container, [field], overriddenList(before, operator, values));
  });
  return withValue(object, [...path, "containers"], overridden);
}

function overriddenList(
  before: readonly unknown[],
  operator: Operator,
  values: readonly unknown[],
): readonly unknown[] {
  if (operator === "add") return [...before, ...values];
  if (operator === "remove") return before.filter((value) => !values.includes(value));
  return values;
}

function overrideMetadata(
  object: Fields,
  field: "labels" | "annotations",
  overrider: unknown,
): Fields {
  const operator = operatorOf(overrider, `${field}Overrider`);
  const before = fieldsAt(object, "metadata", field);
  const operations: Operation[] = [];
  if (operator === "add" && !isFields(valueAt(object, "metadata", field)))
    operations.push({ op: "add", path: `/metadata/${field}`, value: {} });
  for (const [key, value] of Object.entries(textsAt(overrider, "value"))) {
    if (operator !== "add" && !Object.hasOwn(before, key)) continue;
    operations.push({ op: operator, path: `/metadata/${field}/${escapePointer(key)}`, value });
  }
  return patched(object, operations);
}

/** A text field that holds a JSON or YAML document is read, patched and written again. */
function overrideDocument(object: Fields, overrider: unknown): Fields {
  const path = textAt(overrider, "fieldPath");
  const text = readPointer(object, path);
  if (typeof text !== "string") throw new OverrideError(`fieldOverrider: no text at ${path}`);
  const isJson = Array.isArray(valueAt(overrider, "json"));
  const operations = listAt(overrider, isJson ? "json" : "yaml").map((entry) =>
    operationOf(entry, "fieldOverrider", "subPath"),
  );
  const document = guarded("fieldOverrider", () =>
    applyJsonPatch((isJson ? decodeJson(text) : decodeYaml(text)).value, operations),
  );
  const value = isJson ? JSON.stringify(document) : encodeYaml(document);
  return patched(object, [{ op: "replace", path, value }]);
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

function operationOf(entry: unknown, what: string, pathField: string): Operation {
  const op = operatorOf(entry, what);
  return { op, path: textAt(entry, pathField), value: valueAt(entry, "value") };
}

function patched(object: Fields, operations: readonly Operation[]): Fields {
  if (operations.length === 0) return object;
  const result = guarded("patch", () => applyJsonPatch(object as Json, operations));
  if (!isFields(result)) throw new OverrideError("the result is not an object");
  return result;
}

function operatorOf(overrider: unknown, what: string): Operator {
  const operator = textAt(overrider, "operator");
  if (operator === "add" || operator === "remove" || operator === "replace") return operator;
  throw new OverrideError(`${what}: unknown operator "${operator}"`);
}

function guarded<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refused || error instanceof DecodeError)
      throw new OverrideError(`${what}: ${error.message}`);
    throw error;
  }
}
