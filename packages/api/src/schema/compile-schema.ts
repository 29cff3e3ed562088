/**
 * The compiled schema of one version of a custom resource: what the server does with an object of it, as functions.
 *
 * All functions are pure, share what does not change and never throw, whatever the object looks like.
 */
import type { FieldError } from "../field-error.ts";
import type { Json } from "../json.ts";
import { fillDefaults } from "./fill-defaults.ts";
import type { JsonSchema } from "./json-schema.ts";
import { validateListTypes } from "./list-types.ts";
import { prune, type Pruned } from "./prune.ts";
import { compileNode, type SchemaNode } from "./schema-node.ts";
import { coerceEmbedded, type Coerced, validateEmbedded } from "./embedded.ts";
import { validateChangedValue, validateValue } from "./validate.ts";

export interface CompiledSchema {
  readonly root: SchemaNode;
  /** Drops what the schema does not know. `resource`: the value is a whole object, whose type and metadata stay. */
  prune(value: Json, resource: boolean): Pruned;
  /** Brings metadata of embedded resources into shape. */
  coerceEmbedded(value: Json): Coerced;
  fillDefaults(value: Json): Json;
  /** Types, limits and alternatives. */
  validate(value: Json): readonly FieldError[];
  /** The same on an update: what did not change is not reported. */
  validateUpdate(value: Json, old: Json): readonly FieldError[];
  validateEmbedded(value: Json): readonly FieldError[];
  /** Duplicates in lists that are sets or maps. */
  validateListTypes(value: Json): readonly FieldError[];
}

export function compileSchema(schema: JsonSchema): CompiledSchema {
  const root = compileNode(schema);
  return {
    root,
    prune: (value, resource) => prune(root, value, resource),
    coerceEmbedded: (value) => coerceEmbedded(root, value),
    fillDefaults: (value) => fillDefaults(root, value),
    validate: (value) => validateValue(root, value),
    validateUpdate: (value, old) => validateChangedValue(root, value, old),
    validateEmbedded: (value) => validateEmbedded(root, value),
    validateListTypes: (value) => validateListTypes(root, value),
  };
}
