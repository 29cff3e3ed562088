/**
 * A capture as an SVG picture of a terminal of 80 columns. Its text is text: it can be selected and searched. It follows the reader's
 * choice of light or dark.
 *
 * Columns stay columns in every monospaced font: each run of text begins at its column and is as wide as its characters.
 */
import type { Capture } from "./incident.ts";
import { type Run, shownLines } from "./terminal.ts";

export const COLUMNS = 80;

const CHARACTER = 8;
const LINE = 18;
const MARGIN = 16;

const STYLE = `
    .window { fill: #f6f8fa; stroke: #d0d7de; }
    text { fill: #1f2328; white-space: pre; }
    .typed, .bold { font-weight: bold; }
    .prompt { fill: #59636e; }
    .red { fill: #b3202a; }
    .green { fill: #1a7f37; }
    .yellow { fill: #8a5a00; }
    @media (prefers-color-scheme: dark) {
      .window { fill: #151b23; stroke: #3d444d; }
      text { fill: #f0f6fc; }
      .prompt { fill: #9198a1; }
      .red { fill: #ff7b72; }
      .green { fill: #3fb950; }
      .yellow { fill: #e3b341; }
    }`;

export function pictureOf({ about, command, written }: Capture): string {
  const lines = shownLines(written);
  const width = COLUMNS * CHARACTER + 2 * MARGIN;
  const height = (lines.length + 2) * LINE + MARGIN;
  const text = [
    line([piece("$ ", "prompt", 0), piece(command, "typed", 2)], 0),
    ...lines.flatMap((runs, i) => (runs.length === 0 ? [] : [line(piecesOf(runs), i + 1)])),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
  <title>${escaped(about)}</title>
  <style>${STYLE}
  </style>
  <rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
  <g xml:space="preserve" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">
${text.join("\n")}
  </g>
</svg>
`;
}

function piecesOf(runs: readonly Run[]): readonly string[] {
  let column = 0;
  return runs.map(({ text, bold, colour }) => {
    const from = column;
    column += text.length;
    const look = [bold ? "bold" : "", colour ?? ""].filter((name) => name !== "").join(" ");
    return piece(text, look, from);
  });
}

function piece(text: string, look: string, column: number): string {
  const characters = text.length;
  const place = `x="${MARGIN + column * CHARACTER}" textLength="${characters * CHARACTER}"`;
  const name = look === "" ? "" : ` class="${look}"`;
  return `<tspan ${place}${name}>${escaped(text)}</tspan>`;
}

function line(pieces: readonly string[], index: number): string {
  return `    <text y="${MARGIN + LINE * index + 13}">${pieces.join("")}</text>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
