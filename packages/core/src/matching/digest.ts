/**
 * The digest of a template: a short text that is another one when the user's part of the object is another one.
 *
 * The user's part is everything but the status, the claim, and the server's own bookkeeping in the metadata. A binding
 * records the digest of the template it was made from, so "did the template itself change?" has an answer that needs no
 * memory and survives restarts.
 *
 * 1. The order of an object's keys does not matter; that of a list does.
 * 2. 64 bits: two hashes of 32 bits that share no constants. It is no defence against an adversary, and needs none: who
 *    can forge a collision can as well not edit the template.
 */
import { type Fields, fieldsAt, isFields } from "../fields.ts";
import { claimAnnotations, claimLabels } from "./claim.ts";

/** Of the metadata only what a copy in a member can show. */
export function digestOf(template: Fields): string {
  const hash = new Hash();
  for (const key of Object.keys(template).sort()) {
    if (key === "metadata" || key === "status") continue;
    hash.text(key);
    addValue(hash, template[key]);
  }
  addTexts(hash, fieldsAt(template, "metadata", "labels"), claimLabels);
  addTexts(hash, fieldsAt(template, "metadata", "annotations"), claimAnnotations);
  return hash.digest();
}

function addTexts(hash: Hash, texts: Fields, left: ReadonlySet<string>): void {
  hash.mark("{");
  for (const key of Object.keys(texts).sort()) {
    if (left.has(key)) continue;
    hash.text(key);
    addValue(hash, texts[key]);
  }
}

function addValue(hash: Hash, value: unknown): void {
  if (Array.isArray(value)) {
    hash.mark("[");
    for (const item of value) addValue(hash, item);
    hash.mark("]");
  } else if (isFields(value)) {
    hash.mark("{");
    for (const key of Object.keys(value).sort()) {
      if (value[key] === undefined) continue;
      hash.text(key);
      addValue(hash, value[key]);
    }
    hash.mark("}");
  } else if (typeof value === "string") {
    hash.text(value);
  } else {
    hash.mark(String(value));
  }
}

class Hash {
  #a = 0x811c9dc5;
  #b = 0x9e3779b9;

  /** A text of any content: its length goes first, so that neighbours cannot flow into each other. */
  text(text: string): void {
    this.mark(`"${text.length}:`);
    this.mark(text);
  }

  mark(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      this.#a = Math.imul(this.#a ^ unit, 0x01000193);
      this.#b = Math.imul((this.#b << 5) ^ (this.#b >>> 27) ^ unit, 0x85ebca6b);
    }
    // Ends the text: a bare number or word cannot flow into the next one either.
    this.#a = Math.imul(this.#a ^ 0x10000, 0x01000193);
    this.#b = Math.imul(this.#b ^ 0x10000, 0xc2b2ae35);
  }

  digest(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
    return hex(this.#a) + hex(this.#b);
  }
}
