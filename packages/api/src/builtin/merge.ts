/** What strategic merge has to know about a built-in type, read from its description. */
import type { FieldShape, MergeShape } from "../patch/merge-shape.ts";
import type { FieldDescription, FieldType, TypeDescription } from "./description.ts";

/** The merge shape of a type; the same object for the same type. */
export function mergeShapeOf(type: TypeDescription): MergeShape {
  const known = shapes.get(type);
  if (known !== undefined) return known;
  const shape = new TypeShape(type);
  shapes.set(type, shape);
  return shape;
}

const shapes = new WeakMap<TypeDescription, MergeShape>();

/** Fields become shapes when first asked for: types may refer to themselves. */
class TypeShape implements MergeShape {
  readonly #fields: ReadonlyMap<string, FieldDescription>;
  readonly #shapes = new Map<string, FieldShape>();

  constructor(type: TypeDescription) {
    this.#fields = new Map(type.fields.map((field) => [field.name, field]));
  }

  field(name: string): FieldShape | undefined {
    const known = this.#shapes.get(name);
    if (known !== undefined) return known;
    const field = this.#fields.get(name);
    if (field === undefined) return undefined;
    const shape = fieldShape(field);
    this.#shapes.set(name, shape);
    return shape;
  }
}

function fieldShape(field: FieldDescription): FieldShape {
  const strategies = field.patchStrategy?.split(",") ?? [];
  const shape = objectShape(field.type.kind === "list" ? field.type.element : field.type);
  return {
    kind: field.type.kind,
    ...(shape === undefined ? {} : { shape }),
    ...(strategies.includes("merge") ? { merge: true } : {}),
    ...(field.patchMergeKey === undefined ? {} : { mergeKey: field.patchMergeKey }),
    ...(strategies.includes("retainKeys") ? { retainKeys: true } : {}),
    ...(strategies.includes("replace") ? { replace: true } : {}),
  };
}

function objectShape(type: FieldType): MergeShape | undefined {
  if (type.kind === "map") return objectShape(type.element);
  return type.kind === "object" ? mergeShapeOf(type.type) : undefined;
}
