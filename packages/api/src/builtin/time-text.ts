/**
 * Times in the fields of built-in kinds: metav1.Time and metav1.MicroTime, read as Go reads them and written as the
 * server writes them (UTC, whole seconds or exactly six digits).
 *
 * Nearly every time is in the written form already; that is checked without parsing. The rest follows Go's parser step
 * by step, because its messages name the piece of text and the piece of layout that did not meet.
 */

export type TimeText =
  /** `text` is null for Go's zero time, which the server writes as null. */
  | { readonly ok: true; readonly text: string | null }
  | { readonly ok: false; readonly message: string };

export type TimeLayout = "seconds" | "microseconds";

const LAYOUTS = {
  seconds: "2006-01-02T15:04:05Z07:00",
  microseconds: "2006-01-02T15:04:05.000000Z07:00",
} as const;

const ZERO_SECONDS = -62_135_596_800;
const CANONICAL_LENGTH = { seconds: 20, microseconds: 27 } as const;
/** Where the punctuation stands in the canonical form; everything else is a digit. */
const PUNCTUATION: Readonly<Record<number, string>> = {
  4: "-",
  7: "-",
  10: "T",
  13: ":",
  16: ":",
};

/** Checks a time and brings it into the form the server writes. */
export function canonicalTime(text: string, layout: TimeLayout): TimeText {
  if (isCanonical(text, layout)) return { ok: true, text };
  return new TimeParser(text, layout).parse();
}

/** True only for valid times of this form; false says nothing. */
function isCanonical(text: string, layout: TimeLayout): boolean {
  const { length } = text;
  if (length !== CANONICAL_LENGTH[layout] || text.charCodeAt(length - 1) !== 90) return false;
  for (let i = 0; i < length - 1; i++) {
    const mark = i === 19 ? "." : PUNCTUATION[i];
    const code = text.charCodeAt(i);
    if (mark === undefined ? code < 48 || code > 57 : code !== mark.charCodeAt(0)) return false;
  }
  // Years before 1000 are left to the parser: the first of them is Go's zero time.
  if (text.charCodeAt(0) === 48) return false;
  const year = digitsAt(text, 0) * 100 + digitsAt(text, 2);
  const month = digitsAt(text, 5);
  const day = digitsAt(text, 8);
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysIn(month, year) &&
    digitsAt(text, 11) < 24 &&
    digitsAt(text, 14) < 60 &&
    digitsAt(text, 17) < 60
  );
}

function digitsAt(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

/** Thrown inside the parser only, with the message for the client. */
class TimeError extends Error {}

class TimeParser {
  readonly #text: string;
  readonly #layout: TimeLayout;
  #rest: string;

  constructor(text: string, layout: TimeLayout) {
    this.#text = text;
    this.#layout = layout;
    this.#rest = text;
  }

  parse(): TimeText {
    try {
      return { ok: true, text: this.#parse() };
    } catch (error) {
      if (error instanceof TimeError) return { ok: false, message: error.message };
      throw error;
    }
  }

  #parse(): string | null {
    const year = this.#digits(4, "2006");
    this.#literal("-");
    const month = this.#inRange(this.#digits(2, "01"), 1, 12, "month");
    this.#literal("-");
    const day = this.#digits(2, "02");
    this.#literal("T");
    const hour = this.#inRange(this.#oneOrTwoDigits("15"), 0, 23, "hour");
    this.#literal(":");
    const minute = this.#inRange(this.#digits(2, "04"), 0, 59, "minute");
    this.#literal(":");
    const second = this.#inRange(this.#digits(2, "05"), 0, 59, "second");
    const fraction = this.#fraction();
    const offset = this.#zone();
    if (this.#rest !== "") this.#failWith(`: extra text: ${quote(this.#rest)}`);
    // Go looks at the day last, when month and year are known.
    if (day < 1 || day > daysIn(month, year)) this.#failWith(": day out of range");
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    date.setUTCHours(hour, minute, second);
    return this.#format(date.getTime() / 1000 - offset, fraction);
  }

  /** `seconds` may have left the years 0 to 9999 through the offset; such a time could be written but never read. */
  #format(seconds: number, fraction: string): string | null {
    const isZeroTime = seconds === ZERO_SECONDS && Number(fraction) === 0;
    if (isZeroTime) return null;
    const text = new Date(seconds * 1000).toISOString();
    if (text.length !== 24) this.#failWith(": year outside of range [0,9999]");
    const whole = text.slice(0, 19);
    return this.#layout === "seconds" ? `${whole}Z` : `${whole}.${fraction.slice(0, 6)}Z`;
  }

  #literal(mark: string): void {
    if (!this.#rest.startsWith(mark)) this.#fail(mark);
    this.#rest = this.#rest.slice(mark.length);
  }

  #digits(count: number, element: string): number {
    const digits = this.#rest.slice(0, count);
    if (digits.length < count || !isDigits(digits)) this.#fail(element);
    this.#rest = this.#rest.slice(count);
    return Number(digits);
  }

  #oneOrTwoDigits(element: string): number {
    const count = isDigits(this.#rest.slice(0, 2)) && this.#rest.length > 1 ? 2 : 1;
    return this.#digits(count, element);
  }

  #inRange(value: number, least: number, most: number, what: string): number {
    if (value < least || value > most) this.#failWith(`: ${what} out of range`);
    return value;
  }

  /** The digits after the second. A Time may have any number of them, a MicroTime has six. */
  #fraction(): string {
    const isMark = this.#rest.startsWith(".") || this.#rest.startsWith(",");
    if (this.#layout === "microseconds") {
      const digits = this.#rest.slice(1, 7);
      if (!isMark || digits.length < 6 || !isDigits(digits)) this.#fail(".000000");
      this.#rest = this.#rest.slice(7);
      return digits;
    }
    if (!isMark || !isDigits(this.#rest.slice(1, 2)) || this.#rest.length < 2) return "";
    let end = 2;
    while (end < this.#rest.length && isDigits(this.#rest.charAt(end))) end += 1;
    const digits = this.#rest.slice(1, end);
    this.#rest = this.#rest.slice(end);
    return digits.slice(0, 9);
  }

  /** The offset from UTC in seconds. */
  #zone(): number {
    const rest = this.#rest;
    if (rest.startsWith("Z")) {
      this.#rest = rest.slice(1);
      return 0;
    }
    const sign = rest.charAt(0);
    const isZone =
      rest.length >= 6 &&
      rest.charAt(3) === ":" &&
      isDigits(rest.slice(1, 3) + rest.slice(4, 6)) &&
      (sign === "+" || sign === "-");
    if (!isZone) this.#fail("Z07:00");
    this.#rest = rest.slice(6);
    const hours = this.#inRange(Number(rest.slice(1, 3)), 0, 24, "time zone offset hour");
    const minutes = this.#inRange(Number(rest.slice(4, 6)), 0, 60, "time zone offset minute");
    return (sign === "+" ? 1 : -1) * (hours * 3600 + minutes * 60);
  }

  #fail(element: string): never {
    const layout = quote(LAYOUTS[this.#layout]);
    this.#failWith(` as ${layout}: cannot parse ${quote(this.#rest)} as ${quote(element)}`);
  }

  #failWith(tail: string): never {
    throw new TimeError(`parsing time ${quote(this.#text)}${tail}`);
  }
}

function isDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** As Go's time package quotes: bytes that are not printable ASCII become `\xNN`. */
function quote(text: string): string {
  let quoted = '"';
  for (const byte of new TextEncoder().encode(text)) {
    if (byte === 34 || byte === 92) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte < 32 || byte >= 128) quoted += `\\x${byte.toString(16).padStart(2, "0")}`;
    else quoted += String.fromCharCode(byte);
  }
  return `${quoted}"`;
}
