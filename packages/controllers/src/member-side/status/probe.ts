/** One probe of a member: does its API server report that it is well? */
import { isRefused } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import {
  type Observation,
  observeAnswer,
  observeFailure,
  observeUnreadable,
} from "@lifeboat/core/failover/health";
import { type Client, excessIn } from "@lifeboat/kit";
import { withDeadline } from "./deadline.ts";

/** Asks once, within the time. Never rejects: a failure is an observation too. */
export async function probe(
  clock: Clock,
  client: Client,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Observation> {
  try {
    await withDeadline(clock, timeoutMs, signal, (limited) => ask(client, limited));
    return observeAnswer();
  } catch (error) {
    return excessIn(error) === undefined ? observeFailure(error) : observeUnreadable();
  }
}

/** Servers that do not know /readyz have /healthz. */
async function ask(client: Client, signal: AbortSignal): Promise<unknown> {
  try {
    return await client.read("/readyz", { signal });
  } catch (error) {
    if (!isRefused(error, 404)) throw error;
    return client.read("/healthz", { signal });
  }
}
