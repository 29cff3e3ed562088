/**
 * The ids of rules (`D9`), promises (`A1`, `L-4`, `O-graceful-2`), faults (`F3`) and threats (`T2`): where they are defined, and
 * where they are cited.
 *
 * 1. A heading `### D9 …` of the rules defines a rule. The first cell of a table row of the promises defines all other ids; a rule
 *    in such a cell is cited, not defined.
 * 2. In documents every id counts as a citation; in code only one in a comment, a string or a template: elsewhere it may be the name
 *    of a variable.
 * 3. A letter with one or two digits is an id, whatever the letter, so that a family that does not exist is found too. What looks
 *    like one and is none is in `NO_IDS`.
 */

/** Where ids are defined. */
export const RULES = "docs/decisions/failover-rules.md";
export const PROMISES = "docs/promises.md";

/** Words of others that look like ids. */
const NO_IDS = new Set(["V1", "V8"]);

/** Both ends of a range (`D2-D4`) are ids; other words with a hyphen are not. */
const ID =
  /(?<![\w./#]|(?<![A-Z]\d{1,2})-)(?:[A-Z]\d{1,2}|L-\d{1,2}|O-[a-z]+-\d{1,2})(?![\w/]|-(?![A-Z]\d)|[.:]\d)/g;
/** Comments, strings and templates. */
const WORDS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
const COMMENTS_OF_SCRIPTS = /(?<=^|\s)#[^\n]*/g;

/** The ids that a document defines, each once. */
export function definedIds(file: string, text: string): readonly string[] {
  if (file === RULES) return [...text.matchAll(/^#+ (D\d+)\b/gm)].map(([, id = ""]) => id);
  if (file !== PROMISES) return [];
  const cells = [...text.matchAll(/^\| ([^|`]+?) +\|/gm)].map(([, cell = ""]) => cell);
  const ids = cells.flatMap((cell) => (isListOfIds(cell) ? cell.split(", ") : []));
  return [...new Set(ids)].filter((id) => !/^D\d/.test(id));
}

/** The ids that a file cites, with the line of each. */
export function citedIds(
  file: string,
  text: string,
): readonly { readonly id: string; readonly line: number }[] {
  const found: { readonly id: string; readonly line: number }[] = [];
  for (const { words, at } of wordsOf(file, text)) {
    for (const { 0: id, index } of words.matchAll(ID))
      if (!NO_IDS.has(id)) found.push({ id, line: text.slice(0, at + index).split("\n").length });
  }
  return found;
}

function isListOfIds(cell: string): boolean {
  return cell.split(", ").every((id) => id.replaceAll(ID, "") === "" && id !== "");
}

/** The parts of a file that are for people, and where they begin. */
function wordsOf(file: string, text: string): readonly { words: string; at: number }[] {
  if (file.endsWith(".md")) return [{ words: text, at: 0 }];
  const parts = file.endsWith(".sh") ? COMMENTS_OF_SCRIPTS : WORDS;
  return [...text.matchAll(parts)].map((match) => ({
    // What a template puts in is code; blanks keep the places of the rest.
    words: match[0].replaceAll(/\$\{[^}]*\}/g, (code) => " ".repeat(code.length)),
    at: match.index,
  }));
}
