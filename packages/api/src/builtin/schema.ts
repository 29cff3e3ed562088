/** The schema of a built-in kind: its generated description joined with its hand-written rules. */
import type { JsonObject } from "../json.ts";
import type { KindSchema } from "../kind-schema.ts";
import type { AnyObject } from "../object.ts";
import { builtinType, type TypeDescription } from "./description.ts";
import type { KindRules } from "./kind-rules.ts";
import { mergeShapeOf } from "./merge.ts";
import { createNormalizer } from "./normalize.ts";
import { kindRules } from "./rules/index.ts";

/** The schema of a kind; undefined when no built-in kind has this name. The same object for the same kind. */
export function builtinSchema(apiVersion: string, kind: string): KindSchema | undefined {
  const name = `${apiVersion}/${kind}`;
  const known = schemas.get(name);
  if (known !== undefined) return known;
  const type = builtinType(apiVersion, kind);
  if (type === undefined) return undefined;
  const schema = schemaOf(type, rulesOf(name));
  schemas.set(name, schema);
  return schema;
}

const schemas = new Map<string, KindSchema>();

function rulesOf(name: string): KindRules {
  return (Object.hasOwn(kindRules, name) ? kindRules[name] : undefined) ?? {};
}

function schemaOf(type: TypeDescription, rules: KindRules): KindSchema {
  const { applyDefaults, validateCreate, validateUpdate } = rules;
  return {
    normalize: createNormalizer(type),
    applyDefaults: (object: JsonObject) => applyDefaults?.(object) ?? object,
    validateCreate: (object: AnyObject) => validateCreate?.(object) ?? [],
    validateUpdate: (object: AnyObject, old: AnyObject) => [
      ...(validateCreate?.(object) ?? []),
      ...(validateUpdate?.(object, old) ?? []),
    ],
    // A status is written by controllers, and a body that could be read as its kind is taken as they wrote it.
    validateStatusUpdate: () => [],
    mergeShape: mergeShapeOf(type),
  };
}
