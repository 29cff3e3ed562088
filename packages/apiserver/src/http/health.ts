/** /livez, /readyz and /healthz: named checks, all at once, one by one, or with some left out. */
import { type Draft, pageNotFound, textDraft } from "./respond.ts";
import type { Query } from "./query.ts";

export interface HealthCheck {
  readonly name: string;
  /** Undefined when all is well, else what is not. Must answer at once. */
  check(): string | undefined;
}

/** Answers `/{endpoint}` (`only` undefined) or `/{endpoint}/{only}`. */
export function healthDraft(
  endpoint: "healthz" | "livez" | "readyz",
  checks: readonly HealthCheck[],
  only: string | undefined,
  query: Query,
): Draft {
  if (only !== undefined) return singleCheck(checks, only);
  const excluded = new Set(query.all("exclude").flatMap((names) => names.split(",")));
  const lines: string[] = [];
  let failed = 0;
  for (const check of checks) {
    const problem = excluded.has(check.name) ? undefined : problemOf(check);
    if (problem !== undefined) failed += 1;
    if (problem !== undefined) lines.push(`[-]${check.name} failed: reason withheld`);
    else lines.push(`[+]${check.name}${excluded.has(check.name) ? " excluded:" : ""} ok`);
  }
  if (failed > 0) return textDraft(500, `${lines.join("\n")}\n${endpoint} check failed\n`);
  if (query.get("verbose") === undefined) return textDraft(200, "ok");
  return textDraft(200, `${lines.join("\n")}\n${endpoint} check passed\n`);
}

function singleCheck(checks: readonly HealthCheck[], name: string): Draft {
  const check = checks.find((candidate) => candidate.name === name);
  if (check === undefined) return pageNotFound();
  const problem = problemOf(check);
  return problem === undefined
    ? textDraft(200, "ok")
    : textDraft(500, `internal server error: ${problem}\n`);
}

/** A check that throws has failed. */
function problemOf(check: HealthCheck): string | undefined {
  try {
    return check.check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
