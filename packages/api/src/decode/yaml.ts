/**
 * YAML as kubectl reads and writes it (sigs.k8s.io/yaml), with the guards of JSON bodies.
 *
 * The library parses into nodes; the walk here turns nodes into JSON and refuses what JSON bodies may not contain
 * either: integers beyond ±(2^53 - 1), nesting deeper than 256, the key `__proto__`. Aliases are expanded up to a
 * bound, so a small text cannot become a large document. One document only.
 *
 * Two differences from Go: explicit keys win over merged ones (`<<`) wherever they stand, and long lines are not folded
 * on output.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { type Json, isJsonObject } from "../json.ts";
import { MAX_DEPTH } from "./depth.ts";
import { type Decoded, DecodeError, decodeJson } from "./json.ts";
import { resolvePlainScalar } from "./yaml-scalars.ts";

const MAX_ALIASED_NODES = 100_000;
const TAG_PREFIX = "tag:yaml.org,2002:";

/** Reads one YAML document, or JSON; throws DecodeError. An empty text is null. */
export function decodeYaml(text: string): Decoded {
  return decodeIfJson(text) ?? new Converter().convert(parse(text));
}

/** JSON is the common case even where YAML is allowed, and much faster to read. */
function decodeIfJson(text: string): Decoded | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return decodeJson(text);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function parse(text: string): Document<ParsedNode> {
  const document = parseOrRefuse(text);
  const [problem] = document.errors;
  if (problem === undefined) return document as Document<ParsedNode>;
  if (problem.code === "MULTIPLE_DOCS") throw new DecodeError("yaml: more than one document");
  const line = problem.linePos?.[0].line ?? 1;
  const [message = ""] = problem.message.split(" at line ");
  throw new DecodeError(`yaml: line ${line}: ${message}`);
}

function parseOrRefuse(text: string): ReturnType<typeof parseDocument> {
  try {
    // "silent" would also keep quiet about a second document.
    return parseDocument(text, { schema: "failsafe", uniqueKeys: false, logLevel: "error" });
  } catch (error) {
    // The parser recurses; a text nested deeply enough exhausts the stack.
    if (error instanceof RangeError) throw new DecodeError("yaml: exceeded max depth");
    throw error;
  }
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
    if (this.#aliasDepth > 0 && ++this.#aliasedNodes > MAX_ALIASED_NODES)
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
    if (target === undefined) throw new DecodeError(`yaml: unknown anchor '${name}' referenced`);
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
      const childPath = path === "" ? name : `${path}.${name}`;
      if (Object.hasOwn(result, name)) this.#duplicates.add(childPath);
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
