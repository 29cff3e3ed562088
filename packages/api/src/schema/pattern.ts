/**
 * Regular expressions of schemas: RE2 syntax, matched in linear time, so that no pattern of a user can hang the server.
 * The result is either a matcher or the reason why the text is not a pattern.
 */
import { RE2JS } from "re2js";

export type Pattern =
  | { readonly ok: true; readonly matches: (text: string) => boolean }
  | { readonly ok: false; readonly reason: string };

/** Patterns longer than this are refused: compiling costs memory in proportion. */
const MAX_PATTERN_LENGTH = 16_384;

export function compilePattern(text: string): Pattern {
  if (text.length > MAX_PATTERN_LENGTH) return { ok: false, reason: "pattern is too long" };
  try {
    const compiled = RE2JS.compile(text);
    return { ok: true, matches: (input) => compiled.test(input) };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
