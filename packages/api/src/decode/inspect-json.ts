/**
 * The slow, exact look at a JSON text: what is wrong with it, in the words of Go's decoder, and which keys repeat.
 *
 * It reads the text once, character by character, with a stack of its own, so a hostile text costs time in
 * proportion to its length and no call stack. It runs only when the quick way (json.ts) found something.
 */
import { quoteSignLikeGo } from "../go-text.ts";
import { MAX_TOLD_FIELDS, shownKey } from "../shown-path.ts";

export interface Inspection {
  /** Why the text is refused; absent when it is acceptable JSON. */
  readonly problem?: string;
  readonly duplicateFields: readonly string[];
}

interface Frame {
  /** The keys seen so far; undefined in a list. */
  readonly keys: Set<string> | undefined;
  key: string;
  index: number;
}

/** Finds the first problem of a text and its duplicate keys; `maxDepth` counts objects and lists. */
export function inspectJson(text: string, maxDepth: number): Inspection {
  const inspector = new Inspector(text, maxDepth);
  const problem = inspector.run();
  const duplicateFields = [...inspector.duplicates];
  return problem === undefined ? { duplicateFields } : { problem, duplicateFields };
}

class Problem extends Error {}

class Inspector {
  readonly duplicates = new Set<string>();
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #stack: Frame[] = [];
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  run(): string | undefined {
    try {
      this.#skipSpace();
      this.#value();
      while (this.#stack.length > 0) this.#continue();
      this.#skipSpace();
      if (this.#at < this.#text.length) this.#unexpected("after top-level value");
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return error.message;
      throw error;
    }
  }

  /** One step inside the innermost object or list, whose last value was just read. */
  #continue(): void {
    const frame = this.#stack[this.#stack.length - 1] as Frame;
    const inList = frame.keys === undefined;
    this.#skipSpace();
    const sign = this.#peek();
    if (sign === (inList ? "]" : "}")) {
      this.#at += 1;
      this.#stack.pop();
      return;
    }
    if (sign !== ",")
      this.#unexpected(inList ? "after array element" : "after object key:value pair");
    this.#at += 1;
    this.#skipSpace();
    if (inList) frame.index += 1;
    else this.#key(frame);
    this.#value();
  }

  /** Reads a value; of an object or list only its opening and its first member. */
  #value(): void {
    const sign = this.#peek();
    if (sign === "{") this.#openObject();
    else if (sign === "[") this.#openList();
    else if (sign === '"') this.#string();
    else if (sign === "-" || isDigit(sign)) this.#number();
    else if (sign === "t") this.#literal("true");
    else if (sign === "f") this.#literal("false");
    else if (sign === "n") this.#literal("null");
    else this.#unexpected("looking for beginning of value");
  }

  #openObject(): void {
    const frame: Frame = { keys: new Set(), key: "", index: 0 };
    this.#push(frame);
    this.#skipSpace();
    if (this.#peek() === "}") {
      this.#at += 1;
      this.#stack.pop();
      return;
    }
    this.#key(frame);
    this.#value();
  }

  #openList(): void {
    this.#push({ keys: undefined, key: "", index: 0 });
    this.#skipSpace();
    if (this.#peek() === "]") {
      this.#at += 1;
      this.#stack.pop();
      return;
    }
    this.#value();
  }

  #push(frame: Frame): void {
    if (this.#stack.length >= this.#maxDepth) throw new Problem("exceeded max depth");
    this.#stack.push(frame);
    this.#at += 1;
  }

  #key(frame: Frame): void {
    if (this.#peek() !== '"') this.#unexpected("looking for beginning of object key string");
    const start = this.#at;
    this.#string();
    frame.key = JSON.parse(this.#text.slice(start, this.#at)) as string;
    if (frame.key === "__proto__") throw new Problem(`key "__proto__" is not allowed`);
    if (frame.keys?.has(frame.key) === true && this.duplicates.size < MAX_TOLD_FIELDS)
      this.duplicates.add(this.#path());
    frame.keys?.add(frame.key);
    this.#skipSpace();
    if (this.#peek() !== ":") this.#unexpected("after object key");
    this.#at += 1;
    this.#skipSpace();
  }

  #path(): string {
    let path = "";
    for (const [level, frame] of this.#stack.entries()) {
      if (frame.keys === undefined) path += `[${frame.index}]`;
      else path += (level === 0 ? "" : ".") + shownKey(frame.key);
    }
    return path;
  }

  #string(): void {
    this.#at += 1;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) break;
      if (code === 0x5c) this.#escape();
      else if (code >= 0x20) this.#at += 1;
      // Also at the end of the text, where there is no code.
      else this.#unexpected("in string literal");
    }
    this.#at += 1;
  }

  #escape(): void {
    this.#at += 1;
    const sign = this.#peek();
    if (sign === "" || !'"\\/bfnrtu'.includes(sign)) this.#unexpected("in string escape code");
    this.#at += 1;
    if (sign !== "u") return;
    for (let digit = 0; digit < 4; digit++) {
      if (!isHexDigit(this.#peek())) this.#unexpected("in \\u hexadecimal character escape");
      this.#at += 1;
    }
  }

  #number(): void {
    const start = this.#at;
    if (this.#peek() === "-") this.#at += 1;
    if (this.#peek() === "0") this.#at += 1;
    else this.#digits("in numeric literal");
    const integerEnd = this.#at;
    if (this.#peek() === ".") {
      this.#at += 1;
      this.#digits("after decimal point in numeric literal");
    }
    if (this.#peek() === "e" || this.#peek() === "E") {
      this.#at += 1;
      if (this.#peek() === "+" || this.#peek() === "-") this.#at += 1;
      this.#digits("in exponent of numeric literal");
    }
    this.#checkRange(this.#text.slice(start, this.#at), this.#at === integerEnd);
  }

  #digits(context: string): void {
    if (!isDigit(this.#peek())) this.#unexpected(context);
    while (isDigit(this.#peek())) this.#at += 1;
  }

  #checkRange(literal: string, isInteger: boolean): void {
    const value = Number(literal);
    if (isInteger ? Number.isSafeInteger(value) : Number.isFinite(value)) return;
    // Only now: a path costs as much as its keys are long, and a list may hold very many numbers.
    const path = this.#path();
    const where = path === "" ? "" : ` at ${path}`;
    const shown = literal.length > 40 ? `${literal.slice(0, 40)}...` : literal;
    if (!Number.isFinite(value)) throw new Problem(`number ${shown}${where} is out of range`);
    throw new Problem(`integer ${shown}${where} is beyond the supported range of ±(2^53 - 1)`);
  }

  #literal(word: string): void {
    for (let i = 0; i < word.length; i++) {
      if (this.#peek() !== word[i]) this.#unexpected(`in literal ${word} (expecting '${word[i]}')`);
      this.#at += 1;
    }
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #unexpected(context: string): never {
    const sign = this.#peek();
    if (sign === "" && !isInsideToken(context)) throw new Problem("unexpected end of JSON input");
    throw new Problem(`invalid character ${quote(sign)} ${context}`);
  }
}

function isDigit(sign: string): boolean {
  return sign >= "0" && sign <= "9";
}

function isHexDigit(sign: string): boolean {
  return isDigit(sign) || (sign >= "a" && sign <= "f") || (sign >= "A" && sign <= "F");
}

/** At the end of the text Go tries one more space; only inside numbers, words and escapes that is an error. */
function isInsideToken(context: string): boolean {
  return (
    context.startsWith("in literal") || context.includes("numeric") || context.includes("escape")
  );
}

/** A character as Go shows it: the first of its UTF-8 bytes, taken for a character. */
function quote(sign: string): string {
  if (sign === "") return "' '";
  return quoteSignLikeGo(String.fromCharCode(firstUtf8Byte(sign.charCodeAt(0))));
}

function firstUtf8Byte(code: number): number {
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code >= 0xd800 && code < 0xe000 ? 0xf0 : 0xe0 | (code >> 12);
}
