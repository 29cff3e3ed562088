/** The ports of everything in this package that runs for long. */
import type { Clock, Random } from "@lifeboat/base";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

export interface KitPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Something that runs until its signal aborts. A manager starts it again when it ends before that. */
export interface Service {
  readonly name: string;
  /** Resolves after the signal has aborted; constructing the service has started nothing. */
  run(signal: AbortSignal): Promise<void>;
}
