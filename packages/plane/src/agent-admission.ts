/**
 * What agents may write, as admission of the embedded server: a thin shell of `agentRefusal` (D25).
 *
 * It comes before every plugin that fills in defaults, so that what is judged is what the agent sent.
 */
import { type AnyObject, forbiddenBecause } from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "@lifeboat/apiserver";
import { agentRefusal, isAgentsWrite } from "@lifeboat/core/clusters/rights";

export const agentAdmission: AdmissionPlugin = Object.freeze({
  name: "AgentRestriction",
  handles: isAgentsWrite,
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
  const why = agentRefusal({ ...request, group, plural });
  if (why !== undefined) throw forbiddenBecause(resource, name, why);
}
