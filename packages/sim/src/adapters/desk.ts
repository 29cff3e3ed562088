/** Where the reports of all workers arrive: added up, shown, and the broken scenarios kept as files. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tally } from "../report.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Screen } from "./screen.ts";
import type { RunReport } from "./work.ts";

const FAILURES = "sim-failures";

export class Desk {
  readonly tally = new Tally();
  readonly screen: Screen;
  readonly #workers: number;
  readonly #began = performance.now();

  constructor(screen: Screen, workers: number) {
    this.screen = screen;
    this.#workers = workers;
  }

  get wallMs(): number {
    return performance.now() - this.#began;
  }

  /** `share`: how much of the whole is done, 0 to 1; absent: nobody knows. */
  take({ what, summary, broken }: RunReport, share?: number): void {
    this.tally.add(summary);
    this.screen.progress(() => this.tally.progress(what, share));
    if (broken === undefined) return;
    this.screen.say(
      `${broken.text}\nreplay: npm run sim -- --replay ${keepScenario(broken.scenario)}`,
    );
  }

  /** Something is wrong that no run could report. */
  complain(text: string): void {
    this.tally.broken += 1;
    this.screen.say(text);
  }

  table(): void {
    this.screen.say(`\n${this.tally.table({ wallMs: this.wallMs, workers: this.#workers })}`);
  }
}

/** Writes it to a file, and says to which. */
function keepScenario(scenario: Scenario): string {
  mkdirSync(FAILURES, { recursive: true });
  const file = join(FAILURES, `${scenario.name.replaceAll(/[^a-z0-9]+/gi, "-")}.json`);
  writeFileSync(file, `${JSON.stringify(scenario, undefined, 2)}\n`);
  return file;
}
