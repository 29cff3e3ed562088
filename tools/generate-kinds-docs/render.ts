/**
 * The reference of the control plane's kinds, as Markdown, from their declarations.
 *
 * A structure that several fields share is described where it occurs first; later ones refer to it.
 */
import { apiVersionOf, crdOf, type JsonSchema, type KindDeclaration } from "@lifeboat/api";

const HEAD = `# Kinds

The kinds of the control plane, field by field. This page is generated from their declarations in
\`packages/api/src/kinds\` by \`npx tsx --conditions=@lifeboat/source tools/generate-kinds-docs/main.ts\`; a test fails when
it is out of date.

Each line has the field, what may stand in it, whether it is required, and what it means. The server refuses anything
else with the path of the field; rules that span several fields are in the sources beside the declarations.
`;

export function renderKinds(kinds: readonly KindDeclaration[]): string {
  const places = new Map<JsonSchema, string>();
  const contents = kinds.map(
    ({ kind, description }) => `- [${kind}](#${kind.toLowerCase()}): ${description}`,
  );
  const sections = kinds.map((kind) => renderKind(kind, places));
  return [HEAD, `${contents.join("\n")}\n`, ...sections].join("\n");
}

function renderKind(declaration: KindDeclaration, places: Map<JsonSchema, string>): string {
  const { kind, plural, namespaced, shortNames, columns, description } = declaration;
  const schema = crdOf(declaration).spec.versions?.[0]?.schema?.openAPIV3Schema;
  const lines: string[] = [];
  for (const part of ["spec", "status"]) {
    const child = schema?.properties?.[part];
    if (child !== undefined)
      renderField(part, `${kind} ${part}`, child, part === "spec", 0, places, lines);
  }
  const facts = [
    `\`${apiVersionOf(declaration)}\``,
    `\`${plural}\``,
    namespaced ? "in a namespace" : "without a namespace",
    ...(shortNames.length > 0 ? [`short \`${shortNames.join("`, `")}\``] : []),
    ...(declaration.hasStatus ? ["with a status of its own"] : []),
  ];
  const shown = columns.map(({ name, priority = 0 }) => (priority > 0 ? `${name} (wide)` : name));
  return [
    `## ${kind}`,
    "",
    description,
    "",
    `${facts.join(", ")}.`,
    "",
    ...(shown.length > 0 ? [`Columns: ${shown.join(", ")}.`, ""] : []),
    ...lines,
    "",
  ].join("\n");
}

function renderField(
  name: string,
  place: string,
  schema: JsonSchema,
  isRequired: boolean,
  depth: number,
  places: Map<JsonSchema, string>,
  lines: string[],
): void {
  const { inner, suffix } = insideOf(schema);
  const fields = Object.entries(inner.properties ?? {});
  const known = fields.length > 0 ? places.get(inner) : undefined;
  const traits = [typeName(schema), ...traitsOf(schema), ...(isRequired ? ["required"] : [])];
  const reference = known === undefined ? "" : ` Its fields are those of \`${known}\`.`;
  const text = `${schema.description ?? ""}${reference}`;
  lines.push(`${"  ".repeat(depth)}- \`${name}${suffix}\` (${traits.join(", ")}): ${text}`);
  if (known !== undefined) return;
  if (fields.length > 0) places.set(inner, place);
  for (const [field, child] of fields) {
    const needed = (inner.required ?? []).includes(field);
    renderField(field, `${place}.${field}`, child, needed, depth + 1, places, lines);
  }
}

/** The schema that has the fields: of the entries of a list or a map, or the object itself. */
function insideOf(schema: JsonSchema): { readonly inner: JsonSchema; readonly suffix: string } {
  const { items, additionalProperties: values } = schema;
  if (isSchema(items)) return { inner: items, suffix: "[]" };
  return isSchema(values) ? { inner: values, suffix: "{}" } : { inner: schema, suffix: "" };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeName(schema: JsonSchema): string {
  const { inner, suffix } = insideOf(schema);
  if (suffix === "[]") return `list of ${plainType(inner)}`;
  return suffix === "{}" ? `map to ${plainType(inner)}` : plainType(schema);
}

function plainType(schema: JsonSchema): string {
  if (schema.enum !== undefined)
    return `one of ${schema.enum.map((value) => `\`${value as string}\``).join(", ")}`;
  if (schema["x-kubernetes-int-or-string"] === true)
    return schema.pattern === undefined ? "number or text" : "quantity";
  if (schema.format === "date-time") return "time";
  const names: Readonly<Record<string, string>> = {
    string: "text",
    boolean: "true or false",
    array: "list",
    integer: "integer",
    number: "number",
    object: "object",
  };
  return names[schema.type ?? ""] ?? "anything";
}

function traitsOf(schema: JsonSchema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const bounds: readonly (readonly [string, number | undefined])[] = [
    ["at least ", minimum],
    ["at most ", maximum],
    ["length at least ", minLength],
    ["length at most ", maxLength],
    ["entries at least ", minItems],
    ["entries at most ", maxItems],
  ];
  const traits = bounds.flatMap(([words, value]) =>
    value === undefined ? [] : [words + String(value)],
  );
  if (schema.default !== undefined) traits.push(`default \`${JSON.stringify(schema.default)}\``);
  return traits;
}
