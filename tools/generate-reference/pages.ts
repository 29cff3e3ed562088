/** The generated pages of docs/reference, by name. */
import { createProgram } from "../../packages/cli/src/main.ts";
import { listFiles, readText } from "../repository.ts";
import { eventsIn, metricsIn, reasonTablesIn } from "./declared.ts";
import { renderFlags, renderMetrics, renderReasons } from "./render.ts";

export function referencePages(): ReadonlyMap<string, string> {
  const sources = listFiles()
    .filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file))
    .filter((file) => !/\.(test|suite)\.ts$|\/generated\//.test(file))
    .toSorted()
    .map((file) => [file, readText(file)] as const);
  const tables = sources
    .filter(([, text]) => text.includes("defineReasons("))
    .flatMap(([file, text]) => reasonTablesIn(file, text));
  const events = sources
    .filter(([, text]) => /"(Normal|Warning)"/.test(text))
    .flatMap(([file, text]) => eventsIn(file, text));
  return new Map([
    ["flags.md", renderFlags(createProgram())],
    ["reasons.md", renderReasons(tables, events)],
    ["metrics.md", renderMetrics(metricsIn(sources))],
  ]);
}
