/**
 * YAML as kubectl reads and writes it (sigs.k8s.io/yaml), with the guards of JSON bodies.
 *
 * The library lexes, parses and composes nodes, driven from here so that it stops at its bounds (limits.ts) and at the first
 * problem: left to itself it collects every problem of a text, and a hundred kilobytes of `]` cost it ten seconds. The walk here
 * turns nodes into JSON and refuses what JSON bodies may not contain either: integers beyond ±(2^53 - 1), nesting deeper
 * than 256, the key `__proto__`. Aliases are expanded up to a bound, so a small text cannot become a large document. One
 * document only.
 *
 * Two differences from Go: explicit keys win over merged ones (`<<`) wherever they stand, and long lines are not folded
 * on output.
 */
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Parser,
  type ParsedNode,
  type YAMLMap,
} from "yaml";
import { type Json, isJsonObject } from "../json.ts";
import { MAX_TOLD_FIELDS, shownKey } from "../shown-path.ts";
import { MAX_DEPTH } from "./depth.ts";
import { type Decoded, DecodeError, decodeJsonInSteps, TooLargeError } from "./json.ts";
import { MAX_VALUES, MAX_YAML_LENGTH, MAX_YAML_TOKENS } from "./limits.ts";
import { runSteps, type Steps } from "./steps.ts";
import { resolvePlainScalar } from "./yaml-scalars.ts";

/** So many tokens are one piece of work: a few milliseconds. */
const TOKENS_PER_STEP = 2000;
const TAG_PREFIX = "tag:yaml.org,2002:";

/** Reads one YAML document, or JSON; throws DecodeError. An empty text is null. */
export function decodeYaml(text: string): Decoded {
  return runSteps(decodeYamlInSteps(text));
}

/** The same, in pieces. */
export function* decodeYamlInSteps(text: string): Steps<Decoded> {
  const decoded = yield* decodeIfJson(text);
  if (decoded !== undefined) return decoded;
  if (text.length > MAX_YAML_LENGTH)
    throw new TooLargeError(
      `the YAML document is longer than ${MAX_YAML_LENGTH / 1024} KiB; as JSON it may be larger`,
    );
  const tokens = yield* parse(text);
  const document = compose(text, tokens);
  yield;
  return new Converter().convert(document);
}

/** JSON is the common case even where YAML is allowed, and much faster to read. */
function* decodeIfJson(text: string): Steps<Decoded | undefined> {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return yield* decodeJsonInSteps(text);
  } catch (error) {
    if (error instanceof DecodeError && !(error instanceof TooLargeError)) return undefined;
    throw error;
  }
}

/** The text as the library's tree of tokens: what stands before, in and after its one document. */
function* parse(text: string): Steps<readonly CST.Token[]> {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let documents = 0;
  const take = (token: CST.Token): void => {
    if (token.type === "error") {
      const { message, source, offset } = token;
      throw problemAt(
        text,
        offset,
        source === "" ? message : `${message}: ${JSON.stringify(shownKey(source))}`,
      );
    }
    if (token.type === "document" && ++documents > 1)
      throw new DecodeError("yaml: more than one document");
    // The composer recurses: what is nested deeply enough would exhaust the stack.
    if (token.type === "document" && isDeeper(token.value, MAX_DEPTH))
      throw new DecodeError("yaml: exceeded max depth");
    tokens.push(token);
  };
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > MAX_YAML_TOKENS)
      throw new TooLargeError(
        `the YAML document has more than ${MAX_YAML_TOKENS} words and signs; as JSON it may be larger`,
      );
    for (const token of parser.next(lexeme)) take(token);
    if (count % TOKENS_PER_STEP === 0) yield;
  }
  for (const token of parser.end()) take(token);
  yield;
  return tokens;
}

function compose(text: string, tokens: readonly CST.Token[]): Document<ParsedNode> {
  const composer = new Composer({ schema: "failsafe", uniqueKeys: false, logLevel: "error" });
  let first: DecodeError | undefined;
  // The library has no other way to stop at the first problem. Here and there it catches what is thrown, and tells it again.
  Object.assign(composer, {
    onError: (where: Place, _code: string, message: string, isWarning?: boolean) => {
      if (isWarning === true) return;
      first ??= problemAt(text, offsetOf(where), message);
      throw first;
    },
  });
  for (const document of composer.compose(tokens, true, text.length)) {
    const [problem] = document.errors;
    if (problem !== undefined) throw problemAt(text, problem.pos[0], problem.message);
    return document;
  }
  throw new DecodeError("yaml: no document");
}

/** Whether more than `limit` collections stand inside each other. */
function isDeeper(token: CST.Token | null | undefined, limit: number): boolean {
  if (token === null || token === undefined || !("items" in token)) return false;
  if (limit === 0) return true;
  for (const item of token.items) {
    if (isDeeper(item.key, limit - 1) || isDeeper(item.value, limit - 1)) return true;
  }
  return false;
}

/** Where something is wrong, in the words of the library. */
type Place = number | readonly [number, ...number[]] | { readonly offset: number };

function offsetOf(where: Place): number {
  if (typeof where === "number") return where;
  return "offset" in where ? where.offset : where[0];
}

function problemAt(text: string, offset: number, message: string): DecodeError {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1))
    line += 1;
  return new DecodeError(`yaml: line ${line}: ${shownKey(message)}`);
}

type JsonMap = Record<string, Json>;

class Converter {
  readonly #anchors = new Map<string, Node>();
  readonly #duplicates = new Set<string>();
  #aliasDepth = 0;
  #aliasedNodes = 0;

  convert(document: Document<ParsedNode>): Decoded {
    const value = this.#value(document.contents, "", 0);
    return { value, duplicateFields: [...this.#duplicates] };
  }

  #value(node: unknown, path: string, depth: number): Json {
    if (this.#aliasDepth > 0 && ++this.#aliasedNodes > MAX_VALUES)
      throw new DecodeError("yaml: document contains excessive aliasing");
    if (isAlias(node)) return this.#alias(node.source, path, depth);
    if (isScalar(node)) {
      this.#remember(node);
      return scalarValue(node.source ?? "", node.type === "PLAIN", node.tag, path);
    }
    if (depth >= MAX_DEPTH) throw new DecodeError("yaml: exceeded max depth");
    if (isMap(node)) return this.#map(node, path, depth);
    if (!isSeq(node)) return null;
    this.#remember(node);
    return node.items.map((item, i) => this.#value(item, `${path}[${i}]`, depth + 1));
  }

  #alias(name: string, path: string, depth: number): Json {
    const target = this.#anchors.get(name);
    if (target === undefined)
      throw new DecodeError(`yaml: unknown anchor '${shownKey(name)}' referenced`);
    this.#aliasDepth += 1;
    // An anchor that contains itself ends at the depth limit.
    const value = this.#value(target, path, depth + 1);
    this.#aliasDepth -= 1;
    return value;
  }

  #map(node: YAMLMap, path: string, depth: number): JsonMap {
    this.#remember(node);
    const result: JsonMap = {};
    const merged: Json[] = [];
    for (const { key, value } of node.items) {
      if (isScalar(key) && key.source === "<<" && key.type === "PLAIN") {
        merged.push(this.#value(value, path, depth + 1));
        continue;
      }
      const name = this.#key(key, path);
      const childPath = path === "" ? shownKey(name) : `${path}.${shownKey(name)}`;
      if (Object.hasOwn(result, name) && this.#duplicates.size < MAX_TOLD_FIELDS)
        this.#duplicates.add(childPath);
      result[name] = this.#value(value, childPath, depth + 1);
    }
    for (const source of merged) mergeInto(result, source);
    return result;
  }

  #key(node: unknown, path: string): string {
    const key = isScalar(node) || isAlias(node) ? this.#value(node, path, 0) : undefined;
    if (key === undefined || key === null || typeof key === "object")
      throw new DecodeError(`yaml: invalid map key${path === "" ? "" : ` in ${path}`}`);
    const name = String(key);
    if (name === "__proto__") throw new DecodeError('yaml: key "__proto__" is not allowed');
    return name;
  }

  #remember(node: Node & { anchor?: string }): void {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
  }
}

function scalarValue(text: string, plain: boolean, tag: string | undefined, path: string): Json {
  if (tag === undefined ? !plain : isTextTag(tag)) return text;
  if (tag === `${TAG_PREFIX}binary`) throw new DecodeError("yaml: !!binary is not supported");
  try {
    return resolvePlainScalar(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DecodeError(`yaml: ${error.message}${path === "" ? "" : ` at ${path}`}`);
  }
}

/** Everything but the tags that ask for another type is text; so are the tags nobody knows. */
function isTextTag(tag: string): boolean {
  const known = ["int", "float", "bool", "null", "binary"].map((name) => TAG_PREFIX + name);
  return !known.includes(tag);
}

/** Adds what a merge key brings, where it is not there already. */
function mergeInto(result: JsonMap, source: Json): void {
  if (Array.isArray(source)) {
    for (const item of source as readonly Json[]) mergeInto(result, item);
    return;
  }
  if (!isJsonObject(source))
    throw new DecodeError("yaml: map merge requires map or sequence of maps as the value");
  for (const [key, value] of Object.entries(source)) {
    if (!Object.hasOwn(result, key)) result[key] = value ?? null;
  }
}
