/**
 * The digest of a template: a short text that is another one when the user's part of the object is another one.
 *
 * The user's part is everything but the status, the claim, and the server's own bookkeeping in the metadata. A binding
 * records the digest of the template it was made from, so "did the template itself change?" has an answer that needs no
 * memory and survives restarts.
 *
 * 1. The order of an object's keys does not matter; that of a list does.
 * 2. 64 bits: two hashes of 32 bits that share no constants. It is no defence against an adversary, and needs none: a
 *    writer that can forge a collision can as well not edit the template.
 */
import { type Fields, fieldsAt, isFields } from "../../fields.ts";
import { claimAnnotations, claimLabels } from "./claim.ts";

/** Of the metadata only labels and annotations count: the rest names the object, or is the server's. */
export function digestOf(template: Fields): string {
  const hash = new Hash();
  addFields(hash, template, BOOKKEEPING);
  addFields(hash, fieldsAt(template, "metadata", "labels"), claimLabels);
  addFields(hash, fieldsAt(template, "metadata", "annotations"), claimAnnotations);
  return hash.digest();
}

const BOOKKEEPING: ReadonlySet<string> = new Set(["metadata", "status"]);
const NONE: ReadonlySet<string> = new Set();

function addFields(hash: Hash, fields: Fields, left: ReadonlySet<string>): void {
  hash.mark(mark.open);
  for (const key of Object.keys(fields).sort()) {
    const value = fields[key];
    if (value === undefined || left.has(key)) continue;
    hash.text(key);
    addValue(hash, value);
  }
  hash.mark(mark.close);
}

function addValue(hash: Hash, value: unknown): void {
  if (typeof value === "string") {
    hash.text(value);
  } else if (Array.isArray(value)) {
    hash.mark(mark.list);
    for (const item of value) addValue(hash, item);
    hash.mark(mark.close);
  } else if (isFields(value)) {
    addFields(hash, value, NONE);
  } else {
    hash.mark(mark.plain);
    hash.text(String(value));
  }
}

/** What stands between texts; no code unit of a text is as large. */
const mark = {
  open: 0x10000,
  close: 0x10001,
  list: 0x10002,
  plain: 0x10003,
  text: 0x20000,
} as const;

class Hash {
  #a = 0x811c9dc5;
  #b = 0x9e3779b9;

  mark(value: number): void {
    this.#a = Math.imul(this.#a ^ value, 0x01000193);
    this.#b = Math.imul((this.#b << 5) ^ (this.#b >>> 27) ^ value, 0x85ebca6b);
  }

  /** Its length goes first, so that neighbours cannot flow into each other. */
  text(text: string): void {
    this.mark(mark.text + text.length);
    let a = this.#a;
    let b = this.#b;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul((b << 5) ^ (b >>> 27) ^ unit, 0x85ebca6b);
    }
    this.#a = a;
    this.#b = b;
  }

  digest(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
    return hex(this.#a) + hex(this.#b);
  }
}
