/** Informers of a member: one ends only by its signal, or by an unforeseen error; then it begins again after a while. */
import type { KubeObject } from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import type { Informer, KitPorts } from "@lifeboat/kit";

const AFTER_ERROR_MS = 10_000;

/** Runs an informer until the signal aborts. */
export async function keepRunning<T extends KubeObject>(
  { log, clock }: KitPorts,
  informer: Informer<T>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await informer.run(signal);
    } catch (error) {
      log.error("an informer of a member failed", { informer: informer.name, error });
      await sleep(clock, AFTER_ERROR_MS, signal);
    }
  }
}
