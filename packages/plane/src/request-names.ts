/**
 * Under which names agents make certificate requests: each under its own, so that none takes the name by which another one
 * renews its certificate.
 */
import { forbiddenBecause } from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "@lifeboat/apiserver";
import { clusterOfAgent, isAgentUser, renewalRequestName } from "@lifeboat/core/clusters/rights";

export function createRequestNames(): AdmissionPlugin {
  return {
    name: "RequestNames",
    handles: ({ operation, resource, user }: AdmissionRequest) =>
      operation === "CREATE" &&
      resource.table === "certificates.k8s.io/certificatesigningrequests" &&
      isAgentUser(user.name),
    validate: ({ resource, name, user }: AdmissionRequest): void => {
      const own = renewalRequestName(clusterOfAgent(user.name) ?? "");
      if (name !== own)
        throw forbiddenBecause(resource, name, `an agent makes its requests under the name ${own}`);
    },
  };
}
