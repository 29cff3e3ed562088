/** Text for terminals of 80 columns. What comes from the API is shown, never obeyed: control characters become spaces. */

/** How wide everything is that people read. */
export const WIDTH = 80;

const GAP = "  ";
/** What is left for the last column, whatever the others hold. */
const LAST_MIN = 20;
const CUT = "…";

/** More lines than that in a narrow column take more room than they are worth. */
const MAX_NARROW = 3;

/**
 * A text behind its label, broken between words. Further lines begin under the text; where that would cut a word, or take too many
 * lines, at half of the width at most. Words longer than a line are cut.
 */
export function hanging(label: string, text: string): readonly string[] {
  const words = plain(text).split(" ");
  const far = wrapped(label, words, label.length);
  const room = WIDTH - label.length;
  const isFine = far.length <= MAX_NARROW && words.every((word) => word.length <= room);
  return label.length <= WIDTH / 2 || isFine ? far : wrapped(label, words, WIDTH / 2);
}

/**
 * A message behind its label, broken between words; lines of its own stay lines. A word that is longer than a line is an address, a
 * path or a name that a person copies: it is left whole, on a line of its own.
 */
export function paragraphs(label: string, text: string): readonly string[] {
  return text.split("\n").flatMap((line, i) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    const words = plain(line.slice(indent.length)).split(" ");
    return fill(i === 0 ? label + indent : indent, words, i === 0 ? label.length : indent.length);
  });
}

function wrapped(label: string, words: readonly string[], indented: number): readonly string[] {
  const indent = Math.min(indented, WIDTH - 1);
  return fill(
    label,
    words.flatMap((one) => cut(one, WIDTH - indent)),
    indent,
  );
}

function fill(label: string, words: readonly string[], indented: number): readonly string[] {
  const indent = " ".repeat(indented);
  const lines: string[] = [];
  let line = label;
  let isEmpty = true;
  for (const word of words) {
    const isTooLong = line.length + (isEmpty ? 0 : 1) + word.length > WIDTH;
    // A line that is empty but for its indent gains nothing by another one.
    if (isTooLong && line.trim() !== "") {
      lines.push(line.trimEnd());
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line.trimEnd()];
}

/** A table whose last column is broken between words, and whose others are cut where they would leave it no room. */
export function columns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const lines = [head, ...rows].map((row) => row.map(plain));
  const widths = fittingWidths(head, lines);
  return lines.flatMap((row) => {
    const label = widths.map((width, i) => shorten(row[i] ?? "", width).padEnd(width) + GAP);
    return hanging(label.join(""), row[head.length - 1] ?? "");
  });
}

function fittingWidths(
  head: readonly string[],
  lines: readonly (readonly string[])[],
): readonly number[] {
  const longest = (column: number): number =>
    Math.max(...lines.map((row) => (row[column] ?? "").length));
  const widths = head.slice(0, -1).map((_, column) => longest(column));
  const room = WIDTH - Math.min(LAST_MIN, longest(head.length - 1)) - GAP.length * widths.length;
  while (widths.reduce((sum, width) => sum + width, 0) > room) {
    const widest = Math.max(...widths);
    if (widest <= 1) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** At most so many characters, the end cut off visibly. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length - 1) + CUT;
}

/** Without characters that a terminal would obey. */
export function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex -- finding them is the purpose
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
}

function cut(word: string, length: number): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < word.length || at === 0; at += length)
    parts.push(word.slice(at, at + length));
  return parts;
}
