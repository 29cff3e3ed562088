/**
 * What the sources declare for people, read from their syntax: closed sets of reasons (`defineReasons`), the Events that are recorded, and
 * the metrics that are made.
 *
 * An Event is an object with `type: "Normal"` or `"Warning"` and a `reason`. Where that is an expression, its texts count; where it
 * comes from a decision, the Event bears a reason of a table, and the tables list it.
 */
import { type Node, parseSource, partOf, partsOf } from "../seeding/syntax.ts";

export interface ReasonTable {
  /** `heldReasons`. */
  readonly name: string;
  readonly file: string;
  /** What the file is about: the first sentence of its header. */
  readonly about: string;
  readonly reasons: readonly (readonly [name: string, sentence: string])[];
}

export interface DeclaredEvent {
  readonly reason: string;
  readonly types: readonly string[];
}

/** The tables of one source, in the order of the text. */
export function reasonTablesIn(file: string, source: string): readonly ReasonTable[] {
  const { program, comments } = parseSource(file, source);
  const about = firstSentence(comments[0]?.text ?? "");
  return walk(program).flatMap((node): readonly ReasonTable[] => {
    const value = node.type === "VariableDeclarator" ? partOf(node, "init") : undefined;
    const callee = value?.type === "CallExpression" ? partOf(value, "callee") : undefined;
    if (value === undefined || callee?.["name"] !== "defineReasons") return [];
    const [table] = (value["arguments"] ?? []) as readonly Node[];
    const name = String(partOf(node, "id")?.["name"]);
    const reasons = (table === undefined ? [] : propertiesOf(table)).flatMap(
      ([reason, sentence]): readonly (readonly [string, string])[] => {
        const text = textOf(sentence);
        return text === undefined ? [] : [[reason, text]];
      },
    );
    return [{ name, file, about, reasons }];
  });
}

/** The Events that one source records under a name of their own. */
export function eventsIn(file: string, source: string): readonly DeclaredEvent[] {
  const { program } = parseSource(file, source);
  const constants = new Map<string, string>();
  const nodes = walk(program);
  for (const node of nodes) {
    if (node.type !== "VariableDeclarator") continue;
    const value = partOf(node, "init");
    const text = value && textOf(value);
    if (text !== undefined) constants.set(String(partOf(node, "id")?.["name"]), text);
  }
  return nodes.flatMap((node) => {
    if (node.type !== "ObjectExpression") return [];
    const properties = new Map(propertiesOf(node));
    const types = textsOf(properties.get("type"), constants).filter(isEventType);
    if (types.length === 0) return [];
    return textsOf(properties.get("reason"), constants).map((reason) => ({ reason, types }));
  });
}

export interface DeclaredMetric {
  readonly name: string;
  readonly kind: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const METRIC_KINDS: ReadonlySet<unknown> = new Set(["counter", "gauge", "histogram"]);

interface Definition {
  readonly file: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/**
 * The metrics that the sources make by `metrics.counter(definition)` and the like, in the order of the sources. A definition stands in
 * the call, or is a constant of the same source or of another one.
 */
export function metricsIn(
  sources: readonly (readonly [file: string, source: string])[],
): readonly DeclaredMetric[] {
  const parsed = sources.map(([file, source]) => {
    const nodes = walk(parseSource(file, source).program);
    const constants = new Map(
      nodes.flatMap((node) => {
        const value = node.type === "VariableDeclarator" ? partOf(node, "init") : undefined;
        return value === undefined ? [] : [[String(partOf(node, "id")?.["name"]), value] as const];
      }),
    );
    return { file, nodes, constants };
  });
  const definitions = parsed.flatMap(({ file, constants }) =>
    [...constants].flatMap(([constant, value]) => {
      const definition = definitionOf(file, value, constants);
      return definition === undefined ? [] : [{ constant, definition }];
    }),
  );
  const find = (file: string, constant: string): Definition | undefined => {
    const named = definitions.filter((one) => one.constant === constant);
    const own = named.find(({ definition }) => definition.file === file);
    return (own ?? (named.length === 1 ? named[0] : undefined))?.definition;
  };
  const made = parsed.flatMap(({ file, nodes, constants }) =>
    nodes.flatMap((node): readonly DeclaredMetric[] => {
      const callee = node.type === "CallExpression" ? partOf(node, "callee") : undefined;
      const kind = callee && partOf(callee, "property")?.["name"];
      const [given] = (node["arguments"] ?? []) as readonly Node[];
      if (!METRIC_KINDS.has(kind) || given === undefined) return [];
      const found = definitionOf(file, given, constants) ?? find(file, lastNameOf(given));
      if (found === undefined) return [];
      const { name, labels, help } = found;
      return [{ name, kind: String(kind), labels, help }];
    }),
  );
  return made.filter(({ name }, i) => made.findIndex((one) => one.name === name) === i);
}

/** The definition that an expression writes out; undefined: it is none. */
function definitionOf(
  file: string,
  node: Node,
  constants: ReadonlyMap<string, Node>,
): Definition | undefined {
  if (node.type !== "ObjectExpression") return undefined;
  const properties = new Map(propertiesOf(node));
  const [name, help] = ["name", "help"].map((key) => {
    const value = properties.get(key);
    return value && textOf(value);
  });
  if (name === undefined || help === undefined) return undefined;
  return { file, name, help, labels: labelsOf(properties.get("labels"), constants) };
}

function labelsOf(
  labels: Node | undefined,
  constants: ReadonlyMap<string, Node>,
): readonly string[] {
  if (labels === undefined) return [];
  if (labels.type === "Identifier")
    return labelsOf(constants.get(String(labels["name"])), constants);
  if (labels.type === "TSAsExpression") return labelsOf(partOf(labels, "expression"), constants);
  return ((labels["elements"] ?? []) as readonly Node[]).flatMap((label) => textOf(label) ?? []);
}

/** `name` of `name` and of `all.name`. */
function lastNameOf(node: Node): string {
  return String((node.type === "MemberExpression" ? partOf(node, "property") : node)?.["name"]);
}

function isEventType(text: string): boolean {
  return text === "Normal" || text === "Warning";
}

function walk(node: Node): readonly Node[] {
  return [node, ...partsOf(node).flatMap(walk)];
}

function propertiesOf(node: Node): readonly (readonly [string, Node])[] {
  return ((node["properties"] ?? []) as readonly Node[]).flatMap((property) => {
    const [key, value] = [partOf(property, "key"), partOf(property, "value")];
    if (property.type !== "Property" || key === undefined || value === undefined) return [];
    const name = key.type === "Identifier" ? key["name"] : key["value"];
    return [[String(name), value] as const];
  });
}

/** A text, also one that is put together from texts. */
function textOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type === "TSAsExpression") {
    const inner = partOf(node, "expression");
    return inner && textOf(inner);
  }
  if (node.type !== "BinaryExpression" || node["operator"] !== "+") return undefined;
  const [left, right] = [partOf(node, "left"), partOf(node, "right")];
  const texts = [left && textOf(left), right && textOf(right)];
  return texts.includes(undefined) ? undefined : texts.join("");
}

/** Every text that an expression may be: both arms of a choice, the value of a constant of the file. */
function textsOf(
  node: Node | undefined,
  constants: ReadonlyMap<string, string>,
): readonly string[] {
  if (node === undefined) return [];
  if (node.type === "ConditionalExpression")
    return ["consequent", "alternate"].flatMap((arm) => textsOf(partOf(node, arm), constants));
  if (node.type === "Identifier") return [constants.get(String(node["name"])) ?? []].flat();
  return [textOf(node) ?? []].flat();
}

function firstSentence(header: string): string {
  const text = header
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, ""))
    .join(" ")
    .trim();
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}
