/**
 * Puts a fault into a source: seeded faults (tools/seeded-faults) and seeded bugs (tools/sim-mutants) both come through here.
 *
 * A seed names its place by what is there, not by how the line is written, so that it outlives edits around it:
 *
 * - `symbol`: a name that the file declares, or names within names ("Store.#commit", "decideWorks.creates"): a function,
 *   class, method, field, variable or property. Each name is there once, directly inside the one before; properties count
 *   where nothing is declared by that name. The replacement is an expression: it becomes the function, or the value of the
 *   variable or property.
 * - `marked`: what follows the comment `// seed: NAME`, mostly a statement. The replacement takes its place.
 * - `condition`: the condition of the `if` that follows that comment. The replacement is an expression.
 *
 * In a replacement, `original` stands for what was there: `(...all) => original(...all) + 1`, `original && isOld`.
 *
 * 1. A seed that does not fit exactly once, or whose result does not parse, is an error.
 */
import { parseSource, type Node, partOf, partsOf, type Syntax } from "./syntax.ts";

export type Seed = Place & {
  readonly file: string;
  readonly replace: string;
};

export type Place =
  | { readonly symbol: string }
  | { readonly marked: string }
  | { readonly condition: string };

/** The source with the fault in it. */
export function putIn(seed: Seed, source: string): string {
  const syntax = parseSource(seed.file, source);
  const spot = spotOf(seed, syntax, source);
  const head = source.slice(0, spot.start) + spot.before;
  const text = head + seed.replace + spot.after + source.slice(spot.end);
  const { program } = parseSource(seed.file, text);
  const uses = originals(program, head.length, head.length + seed.replace.length);
  return uses.reduceRight(
    (changed, { start, end }) => changed.slice(0, start) + spot.original + changed.slice(end),
    text,
  );
}

/** The names of the markers in a file, in order. */
export function markersOf(file: string, source: string): readonly string[] {
  return parseSource(file, source).comments.flatMap(({ text }) => nameOfMarker(text) ?? []);
}

/** What is taken out of the source, what surrounds its replacement, and what `original` means there. */
interface Spot {
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
  readonly original: string;
}

function spotOf(seed: Seed, syntax: Syntax, source: string): Spot {
  if ("symbol" in seed) return spotOfSymbol(seed.file, seed.symbol, syntax, source);
  if ("marked" in seed) {
    const { start, end } = markedNode(seed.file, seed.marked, syntax, source);
    return { start, end, before: "", after: "", original: source.slice(start, end) };
  }
  const test = partOf(markedNode(seed.file, seed.condition, syntax, source), "test");
  if (test === undefined) throw misfit(seed.file, `no condition follows seed: ${seed.condition}`);
  return spotOfValue(test, source);
}

function spotOfValue({ start, end }: Node, source: string): Spot {
  return { start, end, before: "(", after: ")", original: `(${source.slice(start, end)})` };
}

function spotOfSymbol(file: string, symbol: string, { program }: Syntax, source: string): Spot {
  let found = program;
  for (const name of symbol.split(".")) {
    const named = declaredIn(found).filter((node) => nameOf(node) === name);
    const declared = named.filter(({ type }) => type !== "Property");
    const fitting = declared.length > 0 ? declared : named;
    const [only] = fitting;
    if (only === undefined || fitting.length > 1) {
      const names = [...new Set(declaredIn(found).map(nameOf))].join(", ");
      throw misfit(file, `${name} of ${symbol} is there ${fitting.length} times among ${names}`);
    }
    found = only;
  }
  const value = found.type === "FunctionDeclaration" ? found : valueOf(found);
  if (value === undefined) throw misfit(file, `${symbol} has no value`);
  if (!takesFunction(found)) return spotOfValue(value, source);
  return spotOfFunction(file, value, source, found["kind"] === "get" ? "" : "...all");
}

/** A function keeps its name and whether it is async; its parameters and its body make place for a call of the replacement. */
function spotOfFunction(file: string, value: Node, source: string, given: string): Spot {
  const body = partOf(value, "body");
  if (body === undefined || value["generator"] === true) throw misfit(file, "cannot be replaced");
  const named = partOf(value, "id")?.end ?? value.start;
  const start = partOf(value, "typeParameters")?.start ?? source.indexOf("(", named);
  const signature = source.slice(start, body.start).trimEnd();
  const async = value["async"] === true ? "async " : "";
  return {
    start,
    end: body.end,
    before: `(${given}) { return (`,
    after: `)(${given}); }`,
    original: `(${async}${signature} => ${source.slice(body.start, body.end)})`,
  };
}

function takesFunction(node: Node): boolean {
  if (node.type === "Property") return node["method"] === true || node["kind"] !== "init";
  return node.type === "FunctionDeclaration" || node.type === "MethodDefinition";
}

/** What is declared in a node, but not within another declaration in it. */
function declaredIn(node: Node): readonly Node[] {
  const isPattern = node.type === "ObjectPattern";
  return partsOf(node).flatMap((part) =>
    isPattern || nameOf(part) === undefined ? declaredIn(part) : [part],
  );
}

/** The name of a declaration that has a value; undefined for every other node. */
function nameOf(node: Node): string | undefined {
  if (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration")
    return partOf(node, "id")?.["name"] as string;
  const value = valueOf(node);
  if (value === undefined || node["shorthand"] === true || node["computed"] === true) return;
  if (value.type === "TSEmptyBodyFunctionExpression") return undefined;
  const key = partOf(node, "key") ?? partOf(node, "id");
  const hash = key?.type === "PrivateIdentifier" ? "#" : "";
  const name = key?.["name"] ?? key?.["value"];
  return typeof name === "string" ? hash + name : undefined;
}

function valueOf(node: Node): Node | undefined {
  if (node.type === "VariableDeclarator") return partOf(node, "init");
  const holdsValue = ["MethodDefinition", "PropertyDefinition", "Property"].includes(node.type);
  return holdsValue ? partOf(node, "value") : undefined;
}

/** The outermost node that begins after the marker. */
function markedNode(file: string, name: string, syntax: Syntax, source: string): Node {
  const markers = syntax.comments.filter(({ text }) => nameOfMarker(text) === name);
  const [marker] = markers;
  if (marker === undefined || markers.length > 1)
    throw misfit(file, `seed: ${name} is there ${markers.length} times`);
  const node = firstAfter(syntax.program, marker.end);
  let between = node === undefined ? "}" : source.slice(marker.end, node.start);
  for (const { start, end } of syntax.comments)
    between = between.replace(source.slice(start, end), "");
  if (node === undefined || between.trim() !== "")
    throw misfit(file, `nothing to replace follows seed: ${name}`);
  return node;
}

function firstAfter(node: Node, position: number): Node | undefined {
  for (const part of partsOf(node)) {
    if (part.start >= position) return part;
    if (part.end > position) return firstAfter(part, position);
  }
  return undefined;
}

function nameOfMarker(comment: string): string | undefined {
  return /^seed: (\S+)$/.exec(comment)?.[1];
}

/** Where `original` is used between two places. */
function originals(node: Node, from: number, to: number): readonly Node[] {
  if (node.end <= from || node.start >= to) return [];
  const isUse = node.type === "Identifier" && node["name"] === "original" && node.start >= from;
  return isUse ? [node] : partsOf(node).flatMap((part) => originals(part, from, to));
}

function misfit(file: string, why: string): Error {
  return new Error(`does not fit into ${file}: ${why}`);
}
