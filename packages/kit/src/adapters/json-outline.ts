/**
 * The outline of a JSON text that is too large to be parsed at once: where the items of a list begin and end, found step
 * by step, so that the items can be parsed one by one with other work between.
 *
 * 1. It only looks for strings, brackets and commas. Whatever is wrong with the text is found by JSON.parse later: a text
 *    that does not have the plain form of a list has no items here, and is parsed whole.
 * 2. It throws ExcessiveResponse as soon as the text exceeds a limit.
 */
import {
  type ResponseLimits,
  tooDeep,
  tooLarge,
  tooManyItems,
  tooManyValues,
} from "./response-limits.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The levels of a list above its items. */
const LIST_LEVELS = 2;

export class JsonOutline {
  readonly #text: string;
  readonly #limits: ResponseLimits;
  #at = 0;
  #depth = 0;
  /** Of the item that is being scanned, else of the rest of the document. */
  #values = 0;
  #restValues = 0;
  /** Whether the last string on the first level was `items`. */
  #isItemsKey = false;
  #listStart = -1;
  #listEnd = -1;
  #itemStart = -1;
  /** Whether an item has just ended, a comma has come, or neither. */
  #before: "item" | "comma" | "nothing" = "nothing";
  #isPlain = true;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  constructor(text: string, limits: ResponseLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  /** Scans so many more characters, or a few more; answers whether there are any left. */
  advance(count: number): boolean {
    const text = this.#text;
    const stop = Math.min(text.length, this.#at + count);
    while (this.#at < stop) {
      const sign = text.charCodeAt(this.#at);
      if (sign === QUOTE) this.#string();
      else if (sign === COMMA) this.#comma();
      else if (sign === OPEN_BRACE || sign === OPEN_BRACKET) this.#open(sign);
      else if (sign === CLOSE_BRACE || sign === CLOSE_BRACKET) this.#close();
      else if (this.#isBetweenItems && sign > 0x20) this.#isPlain = false;
      this.#at += 1;
    }
    return this.#at < text.length;
  }

  /** How many items there are; undefined when the text is not a list. */
  get size(): number | undefined {
    return this.#isPlain && this.#listEnd >= 0 ? this.#starts.length : undefined;
  }

  /** The text of an item. */
  item(index: number): string {
    return this.#text.slice(this.#starts[index], this.#ends[index]);
  }

  /** The text without its items. */
  envelope(): string {
    return this.#text.slice(0, this.#listStart) + this.#text.slice(this.#listEnd);
  }

  get #isBetweenItems(): boolean {
    return this.#depth === LIST_LEVELS && this.#listStart >= 0 && this.#listEnd < 0;
  }

  #string(): void {
    const text = this.#text;
    const start = this.#at;
    if (this.#isBetweenItems) this.#isPlain = false;
    let at = start + 1;
    for (; at < text.length; at++) {
      const sign = text.charCodeAt(at);
      if (sign === QUOTE) break;
      if (sign === BACKSLASH) at += 1;
    }
    this.#at = at;
    if (this.#depth === 1)
      this.#isItemsKey = at - start === 6 && text.startsWith("items", start + 1);
  }

  #comma(): void {
    this.#countValue();
    if (!this.#isBetweenItems) return;
    if (this.#before !== "item") this.#isPlain = false;
    this.#before = "comma";
  }

  #open(sign: number): void {
    this.#countValue();
    if (this.#isBetweenItems) this.#beginItem(sign);
    this.#depth += 1;
    if (this.#depth > this.#limits.maxDepth + LIST_LEVELS) throw tooDeep(this.#limits.maxDepth);
    if (this.#depth !== LIST_LEVELS || !this.#isItemsKey || sign !== OPEN_BRACKET) return;
    // A second list of items would make it doubtful which of them counts.
    if (this.#listStart >= 0) this.#isPlain = false;
    else this.#listStart = this.#at + 1;
  }

  #beginItem(sign: number): void {
    if (sign !== OPEN_BRACE || this.#before === "item") this.#isPlain = false;
    this.#itemStart = this.#at;
    this.#restValues = this.#values;
    this.#values = 1;
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#isBetweenItems && this.#itemStart >= 0) this.#endItem();
    else if (this.#depth === 1 && this.#listStart >= 0 && this.#listEnd < 0) {
      if (this.#before === "comma") this.#isPlain = false;
      this.#listEnd = this.#at;
    }
  }

  #endItem(): void {
    const { maxItems, maxObjectBytes } = this.#limits;
    if (this.#at + 1 - this.#itemStart > maxObjectBytes) throw tooLarge(maxObjectBytes);
    if (this.#starts.length >= maxItems) throw tooManyItems(maxItems);
    this.#starts.push(this.#itemStart);
    this.#ends.push(this.#at + 1);
    this.#itemStart = -1;
    this.#values = this.#restValues;
    this.#before = "item";
  }

  #countValue(): void {
    // Commas between items, and their opening brackets, are counted as items.
    if (this.#isBetweenItems) return;
    this.#values += 1;
    if (this.#values > this.#limits.maxValues) throw tooManyValues(this.#limits.maxValues);
  }
}
