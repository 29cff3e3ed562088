/** Sources as trees, as far as seeding needs them: every node has its place in the text, and its parts in order. */
import { parseSync, visitorKeys } from "oxc-parser";

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [part: string]: unknown;
}

export interface Comment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface Syntax {
  readonly program: Node;
  readonly comments: readonly Comment[];
}

/** Throws when the source does not parse; with `isStrict` also when it names a private field that no class has, and the like. */
export function parseSource(file: string, source: string, isStrict = false): Syntax {
  const result = parseSync(file, source, { showSemanticErrors: isStrict });
  const [first] = result.errors;
  if (first !== undefined) throw new Error(`${file}: ${first.message}\n${first.codeframe ?? ""}`);
  const comments = result.comments.map(({ value, start, end }) => {
    return { text: value.trim(), start, end };
  });
  return { program: result.program as unknown as Node, comments };
}

/** The parts of a node, in the order of the text. */
export function partsOf(node: Node): readonly Node[] {
  const parts: Node[] = [];
  for (const key of visitorKeys[node.type] ?? []) {
    const value = node[key];
    for (const part of Array.isArray(value) ? value : [value]) if (isNode(part)) parts.push(part);
  }
  return parts;
}

/** The part of that name, if the node has one. */
export function partOf(node: Node, name: string): Node | undefined {
  const part = node[name];
  return isNode(part) ? part : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}
