/**
 * Reads JSONPath templates in the dialect of kubectl: text with actions in braces, `{.metadata.name} {.kind}`.
 *
 * The grammar follows what kubectl accepts, oddities included; the reader is a plain loop over characters.
 */

/** The text is no template, or the data does not fit it. */
export class JsonPathError extends Error {
  override readonly name = "JsonPathError";
}

export type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "wildcard" }
  | { readonly kind: "recursive" }
  /** Absent ends are open; `single` marks an index, whose end follows from its start. */
  | {
      readonly kind: "slice";
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly step: number | undefined;
      readonly single: boolean;
    }
  | { readonly kind: "union"; readonly branches: readonly (readonly Step[])[] }
  /** Without an operator the filter asks whether `left` finds anything. */
  | {
      readonly kind: "filter";
      readonly left: readonly Step[];
      readonly operator: string | undefined;
      readonly right: readonly Step[];
    }
  | { readonly kind: "constant"; readonly value: string | number | boolean }
  | { readonly kind: "word"; readonly word: string };

/** A piece of a template: literal text, or the steps between two braces. */
export type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "action"; readonly steps: readonly Step[] };

/** Unions and filters inside each other. */
const MAX_NESTING = 32;
const MAX_LENGTH = 64 * 1024;

/** The pieces of a template; throws JsonPathError. */
export function parseTemplate(text: string): readonly Piece[] {
  if (text.length > MAX_LENGTH) throw new JsonPathError("template is too long");
  return new Reader(text, 0).template();
}

class Reader {
  readonly #text: string;
  readonly #nesting: number;
  #at = 0;

  constructor(text: string, nesting: number) {
    if (nesting > MAX_NESTING) throw new JsonPathError("template is nested too deeply");
    this.#text = text;
    this.#nesting = nesting;
  }

  template(): Piece[] {
    const pieces: Piece[] = [];
    while (this.#at < this.#text.length) {
      const brace = this.#text.indexOf("{", this.#at);
      const end = brace < 0 ? this.#text.length : brace;
      if (end > this.#at) pieces.push({ kind: "text", text: this.#text.slice(this.#at, end) });
      this.#at = end;
      if (brace < 0) break;
      this.#at += 1;
      pieces.push({ kind: "action", steps: this.action() });
    }
    return pieces;
  }

  /** Everything up to and including the closing brace. */
  action(): Step[] {
    const steps: Step[] = [];
    for (;;) {
      if (this.#accept("}")) return steps;
      if (this.#accept("[?(")) steps.push(this.#filter());
      else if (this.#accept("..")) this.#recursive(steps);
      else this.#step(steps);
    }
  }

  #step(steps: Step[]): void {
    const sign = this.#peek();
    if (sign === "" || sign === "\r" || sign === "\n") throw new JsonPathError("unclosed action");
    if (sign === " " || sign === "@" || sign === "$") this.#at += 1;
    else if (sign === "[") this.#bracket(steps);
    else if (sign === '"' || sign === "'") steps.push(this.#quoted(sign));
    else if (sign === ".") {
      this.#at += 1;
      steps.push(this.#field());
    } else if (sign === "+" || sign === "-" || isDigit(sign)) steps.push(this.#number());
    else if (isWordStart(sign)) steps.push(this.#word());
    else throw new JsonPathError(`unrecognized character in action: ${describe(sign)}`);
  }

  #recursive(steps: Step[]): void {
    if (steps.at(-1)?.kind === "recursive")
      throw new JsonPathError("invalid multiple recursive descent");
    steps.push({ kind: "recursive" });
    if (isWordStart(this.#peek())) steps.push(this.#field());
  }

  #field(): Step {
    let name = "";
    for (let sign = this.#peek(); !isTerminator(sign); sign = this.#peek()) {
      this.#at += sign.length;
      if (sign !== "\\") {
        name += sign;
        continue;
      }
      // What follows a backslash belongs to the name, whatever it is.
      const escaped = this.#peek();
      this.#at += escaped.length;
      if (escaped !== "\\") name += escaped;
    }
    return name === "*" ? { kind: "wildcard" } : { kind: "field", name };
  }

  #word(): Step {
    const word = this.#takeWhile((sign) => !isTerminator(sign));
    if (word === "true" || word === "false") return { kind: "constant", value: word === "true" };
    return { kind: "word", word };
  }

  #number(): Step {
    const start = this.#at;
    if (this.#peek() === "+" || this.#peek() === "-") this.#at += 1;
    this.#takeWhile((sign) => sign === "." || isDigit(sign));
    const text = this.#text.slice(start, this.#at);
    const digits = text.slice(text[0] === "+" || text[0] === "-" ? 1 : 0);
    const value = digits === "" || digits === "." ? Number.NaN : Number(text);
    if (Number.isNaN(value)) throw new JsonPathError(`cannot parse number ${text}`);
    return { kind: "constant", value };
  }

  #quoted(quote: string): Step {
    const start = this.#at;
    this.#at += 1;
    for (;;) {
      const sign = this.#peek();
      if (sign === "" || sign === "\n") throw new JsonPathError("unterminated quoted string");
      this.#at += sign.length;
      if (sign === quote && this.#text[this.#at - 2] !== "\\") break;
    }
    const literal = this.#text.slice(start, this.#at);
    const value = unquote(literal.slice(1, -1), quote);
    if (value === undefined)
      throw new JsonPathError(`unquote string ${literal} error invalid syntax`);
    return { kind: "constant", value };
  }

  /** What stands in brackets: an index, a slice, a key, or several of them. */
  #bracket(steps: Step[]): void {
    const close = this.#endOfBracket();
    const inside = this.#text.slice(this.#at + 1, close);
    this.#at = close + 1;
    const parts = inside.split(",");
    if (parts.length > 1) {
      const branches = parts.map((part) => this.#nested(`[${trimSpaces(part)}]`));
      steps.push({ kind: "union", branches });
      return;
    }
    const isKey = inside.length >= 2 && inside.indexOf("'", 1) === inside.length - 1;
    if (isKey && inside.startsWith("'")) steps.push(...this.#nested(`.${inside.slice(1, -1)}`));
    else steps.push(parseSlice(inside === "*" ? ":" : inside));
  }

  #endOfBracket(): number {
    const close = this.#text.indexOf("]", this.#at);
    const line = this.#text.indexOf("\n", this.#at);
    if (close < 0 || (line >= 0 && line < close)) throw new JsonPathError("unterminated array");
    return close;
  }

  /** A filter, whose `[?(` has been read. */
  #filter(): Step {
    const inside = this.#text.slice(this.#at, this.#endOfFilter());
    this.#at += inside.length + 1;
    if (!this.#accept("]")) throw new JsonPathError("unclosed array expect ]");
    const [left, operator, right] = splitComparison(inside);
    if (operator === undefined || right === undefined)
      return { kind: "filter", left: this.#nested(inside), operator: undefined, right: [] };
    return { kind: "filter", left: this.#nested(left), operator, right: this.#nested(right) };
  }

  /** Where the closing parenthesis is. One quoted text may contain others. */
  #endOfFilter(): number {
    let quote = "";
    let closed = false;
    for (let at = this.#at; at < this.#text.length; at++) {
      const sign = this.#text.charAt(at);
      if (sign === "\n") break;
      if (sign === ")" && (quote !== "") === closed) return at;
      if (sign !== '"' && sign !== "'") continue;
      if (quote === "") quote = sign;
      else if (sign === quote && this.#text[at - 1] !== "\\") closed = true;
    }
    throw new JsonPathError("unterminated filter");
  }

  #nested(text: string): readonly Step[] {
    const reader = new Reader(`{${text}}`, this.#nesting + 1);
    const [first] = reader.template();
    return first?.kind === "action" ? first.steps : [];
  }

  #accept(prefix: string): boolean {
    if (!this.#text.startsWith(prefix, this.#at)) return false;
    this.#at += prefix.length;
    return true;
  }

  #takeWhile(belongs: (sign: string) => boolean): string {
    const start = this.#at;
    for (let sign = this.#peek(); sign !== "" && belongs(sign); sign = this.#peek())
      this.#at += sign.length;
    return this.#text.slice(start, this.#at);
  }

  /** The character at the current place, whole even when it takes two units; "" at the end. */
  #peek(): string {
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? "" : String.fromCodePoint(code);
  }
}

/** Cuts `@.a == "x"` at its operator; the parts are missing when there is none. */
function splitComparison(text: string): [string, string?, string?] {
  let start = 0;
  while (start < text.length && !isOperatorSign(text.charAt(start))) start += 1;
  let end = start;
  while (end < text.length && isOperatorSign(text.charAt(end))) end += 1;
  // The operator gives its last sign back when nothing else is left for the right side.
  if (end === text.length && end - start > 1) end -= 1;
  if (start === 0 || end === start || end === text.length) return [text];
  return [text.slice(0, start), text.slice(start, end), text.slice(end)];
}

function isOperatorSign(sign: string): boolean {
  return sign === "!" || sign === "<" || sign === ">" || sign === "=";
}

function parseSlice(text: string): Step {
  const [first = "", second, third, ...more] = text.split(":");
  const parts = [first, second ?? "", third ?? ""];
  if (more.length > 0 || !parts.every(isIndexText))
    throw new JsonPathError(`invalid array index ${text}`);
  const [from, to, step] = parts.map(parseIndex);
  if (second === undefined)
    return { kind: "slice", from, to: (from ?? 0) + 1, step: undefined, single: true };
  return { kind: "slice", from, to, step, single: false };
}

function isIndexText(text: string): boolean {
  const start = text[0] === "-" ? 1 : 0;
  for (let i = start; i < text.length; i++) {
    if (text.charCodeAt(i) < 0x30 || text.charCodeAt(i) > 0x39) return false;
  }
  return true;
}

function parseIndex(text: string): number | undefined {
  if (text === "") return undefined;
  const index = text === "-" ? Number.NaN : Number(text);
  if (!Number.isSafeInteger(index)) throw new JsonPathError(`array index ${text} is not a number`);
  return index;
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\u0007"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["\\", "\\"],
]);

/** The text a quoted literal stands for, with Go's escapes; undefined when one of them is wrong. */
function unquote(text: string, quote: string): string | undefined {
  let value = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === quote) return undefined;
    if (sign !== "\\") {
      value += sign;
      continue;
    }
    at += 1;
    const escape = text.charAt(at);
    const short = escape === quote ? quote : SHORT_ESCAPES.get(escape);
    if (short !== undefined) {
      value += short;
      continue;
    }
    const length = { x: 2, u: 4, U: 8 }[escape];
    const code = length === undefined ? Number.NaN : parseHex(text.slice(at + 1, at + 1 + length));
    if (length === undefined || Number.isNaN(code) || code > 0x10ffff) return undefined;
    value += String.fromCodePoint(code);
    at += length;
    if (at >= text.length) return undefined;
  }
  return value;
}

function parseHex(digits: string): number {
  for (const digit of digits) {
    if (!"0123456789abcdefABCDEF".includes(digit)) return Number.NaN;
  }
  return digits === "" ? Number.NaN : Number.parseInt(digits, 16);
}

function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === " ") start += 1;
  while (end > start && text[end - 1] === " ") end -= 1;
  return text.slice(start, end);
}

function isTerminator(sign: string): boolean {
  return sign === "" || " \t\r\n.,[]$@{}".includes(sign);
}

function isDigit(sign: string): boolean {
  return sign >= "0" && sign <= "9" && sign.length === 1;
}

/** A letter of any script, a digit or an underscore. */
function isWordStart(sign: string): boolean {
  if (sign === "_" || isDigit(sign)) return true;
  return sign !== "" && sign.toLowerCase() !== sign.toUpperCase();
}

function describe(sign: string): string {
  const code = (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return sign < " " ? `U+${code}` : `U+${code} '${sign}'`;
}
