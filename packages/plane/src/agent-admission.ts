/**
 * What agents and detectors may write, as admission of the embedded server: thin shells of `agentRefusal` and `detectorRefusal`
 * (D25), and of the allowance of Events (T10).
 *
 * They come before every plugin that fills in defaults, so that what is judged is what was sent.
 */
import { type AnyObject, failure, forbiddenBecause, Refused } from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "@lifeboat/apiserver";
import type { Clock } from "@lifeboat/base";
import {
  afterOneEvent,
  agentRefusal,
  detectorRefusal,
  type EventAllowance,
  isAgentsWrite,
  isDetectorsWrite,
  MAX_AGENT_EVENT,
} from "@lifeboat/core/clusters/rights";

export const agentAdmission: AdmissionPlugin = Object.freeze({
  name: "AgentRestriction",
  handles: (write: Pick<AdmissionRequest, "user">) =>
    isAgentsWrite(write) || isDetectorsWrite(write),
  mutate: (request: AdmissionRequest): AnyObject => {
    refuse(request);
    return request.object as AnyObject;
  },
  // A deletion has no object to fill in: it comes here alone.
  validate: (request: AdmissionRequest): void => {
    if (request.operation === "DELETE") refuse(request);
  },
});

function refuse(request: AdmissionRequest): void {
  const { resource, name } = request;
  const { group, plural } = resource;
  const write = { ...request, group, plural };
  // A user that claims to be both is refused by one of them.
  const why =
    (isAgentsWrite(write) ? agentRefusal(write) : undefined) ??
    (isDetectorsWrite(write) ? detectorRefusal(write) : undefined);
  if (why !== undefined) throw forbiddenBecause(resource, name, why);
}

/** Refuses Events of an agent that writes too many, or one that is too long. What it remembers is one entry per agent. */
export function createAgentEventLimit(clock: Clock): AdmissionPlugin {
  const allowances = new Map<string, EventAllowance>();
  return {
    name: "AgentEventLimit",
    handles: (request) =>
      request.resource.plural === "events" &&
      request.operation !== "DELETE" &&
      isAgentsWrite(request),
    mutate: ({ user, resource, name, object }) => {
      if (JSON.stringify(object).length > MAX_AGENT_EVENT)
        throw forbiddenBecause(
          resource,
          name,
          `an Event of an agent has at most ${MAX_AGENT_EVENT} characters`,
        );
      const next = afterOneEvent(allowances.get(user.name), clock.monotonic());
      if (next === undefined)
        throw new Refused(
          failure(429, "TooManyRequests", "this agent writes too many Events", {
            retryAfterSeconds: 1,
          }),
        );
      allowances.set(user.name, next);
      return object as AnyObject;
    },
  };
}
