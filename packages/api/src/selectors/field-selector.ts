/**
 * Field selectors: `metadata.name=web,status.phase!=Running`. A value may contain `\,`, `\=` and `\\`.
 *
 * Which fields a kind can be selected by is the server's to check; here a field is only text.
 */
import { badRequest } from "../status.ts";

export interface FieldTerm {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** Reads a field selector; throws Refused (400) with the server's message. `==` becomes `=`. */
export function parseFieldSelector(text: string): FieldTerm[] {
  const terms: FieldTerm[] = [];
  for (const part of splitTerms(text).sort()) {
    if (part === "") continue;
    const term = parseTerm(part);
    if (term === undefined)
      throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    // A term that names nothing asks nothing.
    if (term.field !== "" || term.value !== "") terms.push(term);
  }
  return terms;
}

/** Whether an object satisfies all terms; `lookup` gives the value of a field, "" when there is none. */
export function matchesFields(
  terms: readonly FieldTerm[],
  lookup: (field: string) => string,
): boolean {
  for (const { field, operator, value } of terms) {
    if ((lookup(field) === value) !== (operator === "=")) return false;
  }
  return true;
}

/** The text form of terms, in a fixed order: parsing it again gives the same text. */
export function formatFieldSelector(terms: readonly FieldTerm[]): string {
  return terms
    .map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`)
    .sort()
    .join(",");
}

/** Cuts at commas that no backslash protects. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === "\\") at += 1;
    else if (sign === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function parseTerm(part: string): FieldTerm | undefined {
  const equals = part.indexOf("=");
  if (equals < 0) return undefined;
  if (part[equals - 1] === "!")
    return {
      field: part.slice(0, equals - 1),
      operator: "!=",
      value: unescapeValue(part.slice(equals + 1)),
    };
  const valueStart = part[equals + 1] === "=" ? equals + 2 : equals + 1;
  return {
    field: part.slice(0, equals),
    operator: "=",
    value: unescapeValue(part.slice(valueStart)),
  };
}

function unescapeValue(text: string): string {
  let value = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === "\\") {
      at += 1;
      const code = text.codePointAt(at);
      const escaped = code === undefined ? "" : String.fromCodePoint(code);
      if (escaped !== "\\" && escaped !== "," && escaped !== "=")
        throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
      value += escaped;
    } else if (sign === "," || sign === "=") {
      // Go prints the number of the character here, not the character.
      throw badRequest(
        `invalid field selector: unescaped character in value: ${sign.charCodeAt(0)}`,
      );
    } else {
      value += sign;
    }
  }
  return value;
}

function escapeValue(value: string): string {
  let text = "";
  for (const sign of value) text += "\\,=".includes(sign) ? `\\${sign}` : sign;
  return text;
}
