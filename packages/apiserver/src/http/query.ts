/**
 * The query of a request: pairs in order, decoded once. A pair whose encoding is broken is dropped, as Go's servers do.
 * At most 1,000 pairs are read; what comes after them is ignored.
 */

const MAX_PAIRS = 1000;

export class Query {
  readonly #names: string[] = [];
  readonly #values: string[] = [];

  /** `text` is what follows the `?`, without it. */
  constructor(text: string) {
    if (text === "") return;
    for (const pair of text.split("&", MAX_PAIRS)) this.#add(pair);
  }

  /** The first value; undefined when the name does not occur. */
  get(name: string): string | undefined {
    const at = this.#names.indexOf(name);
    return at < 0 ? undefined : this.#values[at];
  }

  /** The first value, "" when the name does not occur. */
  text(name: string): string {
    return this.get(name) ?? "";
  }

  /** All values of a name, in order. */
  all(name: string): readonly string[] {
    const found: string[] = [];
    for (let i = 0; i < this.#names.length; i++) {
      if (this.#names[i] === name) found.push(this.#values[i] as string);
    }
    return found;
  }

  #add(pair: string): void {
    if (pair === "") return;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    if (name === undefined || value === undefined) return;
    this.#names.push(name);
    this.#values.push(value);
  }
}

function decode(text: string): string | undefined {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
