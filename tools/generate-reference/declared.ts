/**
 * What the sources declare for people, read from their syntax: closed sets of reasons (`defineReasons`), and the Events that are recorded.
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
  /** undefined: they are not written out there. */
  readonly labels: readonly string[] | undefined;
}

const METRIC_KINDS: ReadonlySet<unknown> = new Set(["counter", "gauge", "histogram"]);

/** The metrics that one source makes from definitions that it holds: `metrics.gauge(definition)`. */
export function metricsIn(file: string, source: string): readonly DeclaredMetric[] {
  const nodes = walk(parseSource(file, source).program);
  const definitions = new Map(
    nodes.flatMap((node) => {
      const value = node.type === "VariableDeclarator" ? partOf(node, "init") : undefined;
      const name = String(partOf(node, "id")?.["name"]);
      return value?.type === "ObjectExpression" ? [[name, value] as const] : [];
    }),
  );
  return nodes.flatMap((node): readonly DeclaredMetric[] => {
    const callee = node.type === "CallExpression" ? partOf(node, "callee") : undefined;
    const kind = callee && partOf(callee, "property")?.["name"];
    if (!METRIC_KINDS.has(kind)) return [];
    const [given] = (node["arguments"] ?? []) as readonly Node[];
    const definition =
      given?.type === "Identifier" ? definitions.get(String(given["name"])) : given;
    const properties = new Map(definition === undefined ? [] : propertiesOf(definition));
    const name = properties.get("name");
    const text = name && textOf(name);
    if (text === undefined) return [];
    return [{ name: text, kind: String(kind), labels: labelsOf(properties.get("labels")) }];
  });
}

function labelsOf(labels: Node | undefined): readonly string[] | undefined {
  if (labels === undefined) return [];
  if (labels.type !== "ArrayExpression") return undefined;
  return (labels["elements"] as readonly Node[]).flatMap((label) => textOf(label) ?? []);
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
