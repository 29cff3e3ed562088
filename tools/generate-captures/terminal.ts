/**
 * What a terminal shows after a command has written: lines of text with their colours. It obeys what our command line writes, which is
 * bold, three colours, a line up, the beginning of a line, and clearing a line; anything else is an error, so that no picture lies.
 */
export type Colour = "red" | "green" | "yellow";

/** Text of one look. */
export interface Run {
  readonly text: string;
  readonly bold: boolean;
  readonly colour?: Colour;
}

interface Cell extends Omit<Run, "text"> {
  readonly character: string;
}

const COLOURS: Readonly<Record<string, Colour>> = { 31: "red", 32: "green", 33: "yellow" };
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const PARTS = /\u001b\[([0-9;]*)([A-Za-z])|([\n\r])|([^\u0000-\u001f])/gu;

/** The lines that are on the screen; empty ones at the end are left out. */
export function shownLines(written: string): readonly (readonly Run[])[] {
  const rows: Cell[][] = [[]];
  let [row, column] = [0, 0];
  let look: Omit<Run, "text"> = { bold: false };
  let read = 0;
  for (const [whole, parameters = "", verb, control, character] of written.matchAll(PARTS)) {
    read += whole.length;
    if (character !== undefined) {
      const cells = (rows[row] ??= []);
      while (cells.length < column) cells.push({ character: " ", bold: false });
      cells[column] = { character, ...look };
      column += 1;
    } else if (control === "\n") {
      [row, column] = [row + 1, 0];
      rows[row] ??= [];
    } else if (control === "\r") column = 0;
    else if (verb === "A") row = Math.max(0, row - Number(parameters || 1));
    else if (verb === "K" && parameters === "2") rows[row] = [];
    else if (verb === "m") look = lookAfter(look, parameters);
    else throw new Error(`a terminal here does not know ${JSON.stringify(whole)}`);
  }
  if (read !== written.length) throw new Error("something was written that a terminal obeys");
  const lines = rows.map(runsOf);
  return lines.slice(0, lines.findLastIndex((line) => line.length > 0) + 1);
}

function lookAfter(look: Omit<Run, "text">, parameters: string): Omit<Run, "text"> {
  if (parameters === "0" || parameters === "") return { bold: false };
  if (parameters === "1") return { ...look, bold: true };
  const colour = COLOURS[parameters];
  if (colour === undefined) throw new Error(`a terminal here does not know the look ${parameters}`);
  return { ...look, colour };
}

function runsOf(cells: readonly Cell[]): readonly Run[] {
  const runs: Run[] = [];
  for (const { character, ...look } of cells) {
    const last = runs.at(-1);
    if (last !== undefined && last.bold === look.bold && last.colour === look.colour)
      runs[runs.length - 1] = { ...last, text: last.text + character };
    else runs.push({ text: character, ...look });
  }
  return runs;
}
