/**
 * JSONPath in the dialect of kubectl and of printer columns.
 *
 *   compileJsonPath("{range .items[*]}{.metadata.name}{end}")   a template
 *   compileColumnPath(".spec.replicas")                         one value of one object
 *
 * 1. Own properties only: no path reaches a prototype.
 * 2. Work is bounded: more than two million values looked at, or filters and ranges nested beyond reason, is an error.
 * 3. Where Go visits maps in random order (wildcards, `..`), the order is that of the object.
 * 4. Integers and fractions compare with each other; Go refuses that. A range without an end reaches to the end of the
 *    template; Go then goes through the rest once more.
 */
import { type Json, isJsonObject } from "../json.ts";
import { formatJsonLikeGo } from "../go-text.ts";
import { JsonPathError, parseTemplate, type Piece, type Step } from "./parse.ts";

export { JsonPathError } from "./parse.ts";

export interface JsonPathOptions {
  /** A missing key finds nothing instead of being an error. */
  readonly allowMissingKeys?: boolean;
}

export interface JsonPath {
  /** One list of values for each piece of the template; throws JsonPathError. */
  evaluate(data: Json): readonly (readonly Json[])[];
}

const MAX_VISITS = 2_000_000;
const MAX_RANGES = 32;

/** Compiles a template; throws JsonPathError. */
export function compileJsonPath(template: string, options: JsonPathOptions = {}): JsonPath {
  const blocks = nest(parseTemplate(template));
  const allowMissingKeys = options.allowMissingKeys === true;
  return { evaluate: (data) => new Evaluation(allowMissingKeys).blocks(blocks, data) };
}

/**
 * Makes a template of the forms people type: `metadata.name`, `.metadata.name`, `{metadata.name}` and
 * `{.metadata.name}` all become the last. Throws JsonPathError.
 */
export function relaxJsonPath(text: string): string {
  if (text === "") return text;
  const hasBraces = text.startsWith("{") && text.endsWith("}");
  const inside = hasBraces ? text.slice(1, -1) : text;
  const path = inside.startsWith(".") && inside.length > 1 ? inside.slice(1) : inside;
  if (path === "" || path.includes("{") || path.includes("}"))
    throw new JsonPathError(
      "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
    );
  return `{.${path}}`;
}

/**
 * Compiles the path of a printer column or a selectable field, which has no braces. The function answers the first
 * value found, undefined when there is none or the object does not fit. Throws JsonPathError.
 */
export function compileColumnPath(path: string): (object: Json) => Json | undefined {
  const pieces = parseTemplate(`{${path}}`);
  const names = fieldNames(pieces);
  if (names !== undefined) return (object) => lookUp(object, names);
  const blocks = nest(pieces);
  return (object) => {
    try {
      return new Evaluation(true).blocks(blocks, object)[0]?.[0];
    } catch (error) {
      if (error instanceof JsonPathError) return undefined;
      throw error;
    }
  };
}

/** Results as kubectl prints them: values of one piece with spaces between, objects and lists as JSON. */
export function formatJsonPathResults(results: readonly (readonly Json[])[]): string {
  return results.map((values) => values.map(formatJsonLikeGo).join(" ")).join("");
}

/** The names of a path that consists of fields alone. */
function fieldNames(pieces: readonly Piece[]): readonly string[] | undefined {
  const [only, ...more] = pieces;
  if (only?.kind !== "action" || more.length > 0) return undefined;
  const names: string[] = [];
  for (const step of only.steps) {
    if (step.kind !== "field") return undefined;
    names.push(step.name);
  }
  return names;
}

function lookUp(object: Json, names: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const name of names) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** A template with its ranges nested. */
type Block =
  | Piece
  | { readonly kind: "range"; readonly steps: readonly Step[]; readonly body: readonly Block[] }
  | { readonly kind: "strayEnd" };

function nest(pieces: readonly Piece[]): readonly Block[] {
  const root: Block[] = [];
  const open: Block[][] = [root];
  for (const piece of pieces) {
    const current = open[open.length - 1] as Block[];
    if (hasWord(piece, "end")) {
      if (open.length === 1) root.push({ kind: "strayEnd" });
      else open.pop();
    } else if (piece.kind === "action" && hasWord(piece, "range")) {
      if (open.length > MAX_RANGES) throw new JsonPathError("template is nested too deeply");
      const body: Block[] = [];
      const steps = piece.steps.filter((step) => step.kind !== "word" || step.word !== "range");
      current.push({ kind: "range", steps, body });
      open.push(body);
    } else {
      current.push(piece);
    }
  }
  return root;
}

function hasWord(piece: Piece, word: string): boolean {
  return (
    piece.kind === "action" &&
    piece.steps.some((step) => step.kind === "word" && step.word === word)
  );
}

type Values = readonly Json[];

/** A step that failed; `reached` is what an existence filter takes for found. */
class StepError extends JsonPathError {
  readonly reached: Values;

  constructor(message: string, reached: Values) {
    super(message);
    this.reached = reached;
  }
}

class Evaluation {
  readonly #allowMissingKeys: boolean;
  #visits = 0;

  constructor(allowMissingKeys: boolean) {
    this.#allowMissingKeys = allowMissingKeys;
  }

  blocks(blocks: readonly Block[], data: Json): Values[] {
    const results: Values[] = [];
    this.#blocksInto(results, blocks, data);
    return results;
  }

  #blocksInto(results: Values[], blocks: readonly Block[], data: Json): void {
    for (const block of blocks) {
      this.#visit(1);
      if (block.kind === "text") results.push([block.text]);
      else if (block.kind === "action") results.push(this.#steps([data], block.steps));
      else if (block.kind === "strayEnd") throw new JsonPathError("not in range, nothing to end");
      else this.#range(results, block.steps, block.body, data);
    }
  }

  #range(results: Values[], steps: readonly Step[], body: readonly Block[], data: Json): void {
    const values = this.#steps([data], steps);
    for (const value of values) this.#blocksInto(results, body, value);
    // kubectl goes through the body of an empty range once, for its errors.
    if (values.length === 0) this.#blocksInto([], body, null);
  }

  #steps(input: Values, steps: readonly Step[]): Values {
    let values = input;
    for (const step of steps) values = this.#step(values, step);
    return values;
  }

  #step(input: Values, step: Step): Values {
    this.#visit(input.length);
    switch (step.kind) {
      case "field":
        return this.#field(input, step.name);
      case "slice":
        return this.#slice(input, step);
      case "wildcard":
        return input.flatMap((value) => this.#children(value));
      case "recursive":
        return this.#descend(input);
      case "union":
        return step.branches.flatMap((branch) => this.#steps(input, branch));
      case "filter":
        return this.#filter(input, step);
      case "constant":
        return input.map(() => step.value);
      case "word":
        throw new StepError(`unrecognized identifier ${step.word}`, input);
      default:
        throw new JsonPathError("unknown step");
    }
  }

  #field(input: Values, name: string): Values {
    const found: Json[] = [];
    for (const value of input) {
      if (isJsonObject(value) && Object.hasOwn(value, name)) found.push(value[name] ?? null);
    }
    if (found.length === 0 && input.length > 0 && !this.#allowMissingKeys)
      throw new StepError(`${name} is not found`, []);
    return found;
  }

  #slice(input: Values, step: Step & { readonly kind: "slice" }): Values {
    const found: Json[] = [];
    for (const value of input) {
      if (value === null) continue;
      if (!Array.isArray(value))
        throw new StepError(`${goType(value)} is not array or slice`, input);
      const { length } = value;
      let from = step.from ?? 0;
      if (from < 0) from += length;
      let to = step.to ?? length;
      if (to < 0 || (to === 0 && step.single)) to += length;
      if (from === to) return found;
      checkBounds(from, to, length, input);
      if (step.step !== undefined && step.step <= 0) throw new StepError("step must be > 0", input);
      for (let i = from; i < to; i += step.step ?? 1) found.push(value[i] as Json);
      this.#visit(to - from);
    }
    return found;
  }

  #children(value: Json): Values {
    let children: Values = [];
    if (Array.isArray(value)) children = value as Values;
    else if (isJsonObject(value)) children = Object.values(value) as Values;
    // A text is a list of bytes to Go.
    else if (typeof value === "string") children = [...new TextEncoder().encode(value)];
    this.#visit(children.length);
    return children;
  }

  #descend(input: Values): Values {
    const found: Json[] = [];
    const collect = (value: Json): void => {
      const children = typeof value === "string" ? [] : this.#children(value);
      if (children.length === 0 && (typeof value !== "string" || value === "")) return;
      found.push(value);
      for (const child of children) collect(child);
    };
    for (const value of input) collect(value);
    return found;
  }

  #filter(input: Values, step: Step & { readonly kind: "filter" }): Values {
    const found: Json[] = [];
    for (const value of input) {
      if (!Array.isArray(value))
        throw new StepError(
          `${formatJsonLikeGo(value)} is not array or slice and cannot be filtered`,
          input,
        );
      this.#visit(value.length);
      for (const item of value as Values) {
        if (this.#passes(item, step, input)) found.push(item);
      }
    }
    return found;
  }

  #passes(item: Json, step: Step & { readonly kind: "filter" }, input: Values): boolean {
    if (step.operator === undefined) return this.#exists(item, step.left);
    const lefts = this.#steps([item], step.left);
    const left = single(lefts, input);
    if (left === undefined) return false;
    const right = single(this.#steps([item], step.right), input);
    return right !== undefined && compare(left, step.operator, right, input);
  }

  #exists(item: Json, steps: readonly Step[]): boolean {
    try {
      return this.#steps([item], steps).length > 0;
    } catch (error) {
      if (error instanceof StepError) return error.reached.length > 0;
      throw error;
    }
  }

  #visit(values: number): void {
    this.#visits += values;
    if (this.#visits > MAX_VISITS) throw new JsonPathError("too many values to visit");
  }
}

function checkBounds(from: number, to: number, length: number, input: Values): void {
  if (from >= length || from < 0)
    throw new StepError(`array index out of bounds: index ${from}, length ${length}`, input);
  if (to > length || to < 0)
    throw new StepError(`array index out of bounds: index ${to - 1}, length ${length}`, input);
  if (from > to)
    throw new StepError(`starting index ${from} is greater than ending index ${to}`, input);
}

/** The only value of a side of a comparison; undefined when there is none. */
function single(values: Values, input: Values): Json | undefined {
  if (values.length > 1) throw new StepError("can only compare one element at a time", input);
  return values[0];
}

function compare(left: Json, operator: string, right: Json, input: Values): boolean {
  if (!["==", "!=", "<", "<=", ">", ">="].includes(operator))
    throw new StepError(`unrecognized filter operator ${operator}`, input);
  if (!isScalar(left) || !isScalar(right))
    throw new StepError("invalid type for comparison", input);
  if (typeof left !== typeof right) throw new StepError("incompatible types for comparison", input);
  if (typeof left === "boolean" && operator !== "==" && operator !== "!=")
    throw new StepError("invalid type for comparison", input);
  const less = left < right;
  const equal = left === right;
  if (operator === "==") return equal;
  if (operator === "!=") return !equal;
  if (operator === "<") return less;
  if (operator === "<=") return less || equal;
  return operator === ">" ? !less && !equal : !less;
}

function isScalar(value: Json): value is string | number | boolean {
  return typeof value !== "object";
}

function goType(value: Json): string {
  if (isJsonObject(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return Number.isInteger(value) ? "int64" : "float64";
}
