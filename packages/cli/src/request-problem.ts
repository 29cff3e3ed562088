/** What an API server or the network refused, in words. Apart from find-plane.ts, because the agent needs it and no control plane. */
import { Refused } from "@lifeboat/api";
import { KubeconfigError, NotSent, OutcomeUnknown } from "@lifeboat/kit";

/** As a sentence; undefined: the error is about something else. */
export function requestProblem(error: unknown): string | undefined {
  if (error instanceof Refused)
    return error.status.message ?? `refused with code ${error.status.code}`;
  if (error instanceof NotSent) return `no answer: ${error.message}`;
  if (error instanceof OutcomeUnknown)
    return `the connection broke and it is unknown what took effect; run the command again: ${error.message}`;
  return error instanceof KubeconfigError ? error.message : undefined;
}
