/**
 * The steps of the plane's clock as they are written down: an annotation of `EvacuationBudget/fleet`, so that the next
 * process knows how long ago is what the one before it wrote.
 *
 * What cannot be understood counts as no step: then the wall clock is believed, as before the first one.
 */
import {
  type ClockStep,
  formatMicroTime,
  instantOf,
  NO_STEPS,
  parseTime,
  type StepLog,
} from "@lifeboat/base";

export function formatSteps({ begin, steps }: StepLog): string {
  return JSON.stringify({
    ...(Number.isFinite(begin) && { begin: formatMicroTime(instantOf(begin)) }),
    steps: steps.map(({ seen, byMs, from, until }) => ({
      seen: formatMicroTime(seen),
      byMs,
      from: formatMicroTime(from),
      until: formatMicroTime(until),
    })),
  });
}

export function parseSteps(text: string | undefined): StepLog {
  try {
    const read = JSON.parse(text ?? "{}") as { readonly begin?: unknown; readonly steps?: unknown };
    const steps = Array.isArray(read.steps) ? (read.steps as readonly unknown[]) : [];
    const begin = parseTime(String(read.begin)) ?? NO_STEPS.begin;
    return { begin, steps: steps.flatMap((step) => readStep(step) ?? []) };
  } catch {
    return NO_STEPS;
  }
}

function readStep(value: unknown): ClockStep | undefined {
  const { seen, byMs, from, until } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const [at, earliest, latest] = [seen, from, until].map((time) => parseTime(String(time)));
  if (at === undefined || earliest === undefined || latest === undefined) return undefined;
  return Number.isFinite(byMs)
    ? { seen: at, byMs: byMs as number, from: earliest, until: latest }
    : undefined;
}
