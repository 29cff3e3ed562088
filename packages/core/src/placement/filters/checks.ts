/** The filters of one placement, prepared once and then asked about each cluster. */
import type { Candidate, CandidateFleet } from "../candidate.ts";
import type { Asked, Check, Filter, Rejection } from "./filter.ts";

export function checksOf(
  some: readonly Filter[],
  asked: Asked,
  fleet: CandidateFleet,
): readonly Check[] {
  const checks: Check[] = [];
  for (const one of some) {
    const check = one.prepare(asked, fleet);
    if (check !== undefined) checks.push(check);
  }
  return checks;
}

export function firstRejection(
  candidate: Candidate,
  checks: readonly Check[],
): Rejection | undefined {
  for (const check of checks) {
    const rejection = check(candidate);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}
