/**
 * The stray copies that an agent reports to the plane, by the Work that they name. A copy that is not found again for a while is
 * not reported any more: it is gone, or has a Work.
 */
import type { Clock } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { formatStrays, strayReport, type StrayReport } from "@lifeboat/core/propagation/works";
import type { StrayCopy } from "./still-wanted.ts";

/** Three times as long as a stray copy is looked for again (stray-copies.ts). */
const FORGOTTEN_MS = 90_000;

export class StrayReports {
  readonly #clock: Clock;
  readonly #found = new Map<string, { readonly report: StrayReport; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A copy without a Work was found, or found again. */
  note({ work, copy, seenForMs }: StrayCopy): void {
    const report = strayReport(work.name, copy, seenForMs);
    this.#found.set(work.name, { report, at: this.#clock.monotonic() });
  }

  /** The annotations of the Lease that report them. */
  annotations(): Readonly<Record<string, string>> {
    const before = this.#clock.monotonic() - FORGOTTEN_MS;
    for (const [work, { at }] of this.#found) if (at < before) this.#found.delete(work);
    const text = formatStrays([...this.#found.values()].map(({ report }) => report));
    return text === undefined ? {} : { [wellKnown.STRAY_COPIES]: text };
  }
}
