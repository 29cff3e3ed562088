/**
 * The page of `lifeboat status` on a terminal with colours: the verdict, the labels of what is short and of what waits, how each cluster
 * is, and evacuations that stand still. Only words are coloured: without colours the page has the same text.
 */
import type { ClusterRow, StatusPage } from "@lifeboat/core/operating";
import { bold, type Colour, coloured } from "./colours.ts";
import { type FailingProbes, NO_PROBES } from "./failing-probes.ts";

const VERDICTS: Readonly<Record<StatusPage["verdict"], Colour>> = {
  Well: "green",
  Empty: "green",
  Waits: "yellow",
  Degraded: "red",
  Unknown: "yellow",
};

const LABELS: Readonly<Record<string, Colour>> = { Short: "red", Waits: "yellow" };

export function inColours(
  [first = "", ...rest]: readonly string[],
  page: StatusPage,
  known: FailingProbes | undefined,
): string[] {
  const probes = known ?? NO_PROBES;
  const rows = new Map(page.clusters.map((row) => [row.name, row]));
  const begins = (line: string): string => /^\S+/.exec(line)?.[0] ?? "";
  const verdict = verdictColour(page, known);
  return [
    first.replace(/^[A-Z]+/, (word) => bold(verdict, word)),
    ...rest.map((line) => {
      const word = begins(line);
      const label = LABELS[word];
      if (label !== undefined) return coloured(label, word) + line.slice(word.length);
      const row = rows.get(word);
      return row === undefined ? withStill(line) : withHealth(line, row, probes);
    }),
  ];
}

/** A fleet is well while a cluster that does not answer still counts as Ready; it is not green, nor where that is not known. */
function verdictColour(
  { verdict, clusters }: StatusPage,
  probes: FailingProbes | undefined,
): Colour | undefined {
  if (verdict !== "Well") return VERDICTS[verdict];
  if (probes === undefined) return undefined;
  const isUneasy = clusters.some((row) => row.health === "Ready" && probes.has(row.name));
  return isUneasy ? "yellow" : VERDICTS[verdict];
}

/** The first word of the last column. */
function withHealth(line: string, row: ClusterRow, probes: FailingProbes): string {
  return line.replace(
    /( {2})(ready|down|silent|not probed yet)\b/,
    (_all, gap: string, word: string) => `${gap}${coloured(healthColour(row, probes), word)}`,
  );
}

function healthColour({ name, health, isFailed }: ClusterRow, probes: FailingProbes): Colour {
  if (health === "NotReady" || health === "Silent") return "red";
  return health === "Unprobed" || isFailed || probes.has(name) ? "yellow" : "green";
}

/** The phase of an evacuation that does not go on by itself. */
function withStill(line: string): string {
  return line.replace(
    /^(\S+ +)(Held|Paused|AwaitingApproval)(?= +\d+\/\d+ )/,
    (_all, name: string, phase: string) => `${name}${coloured("yellow", phase)}`,
  );
}
