/**
 * The certificate request by which a process of a member renews its own identity: the one name that its rights name, and the signer of
 * clients. What the request asks for is judged when it is answered (../certificates/request.ts).
 */
import { textAt } from "../../fields.ts";
import type { AgentWrite } from "./agent-admission.ts";
import { CLIENT_SIGNER, type RenewedIdentity } from "./identity.ts";

/** Why it may not write this certificate request; undefined when it may. */
export function requestRefusal(
  what: "agent" | "detector",
  cluster: string,
  { requestName }: RenewedIdentity,
  { operation, name, subresource, object }: AgentWrite,
): string | undefined {
  if (name !== requestName)
    return `the ${what} of cluster ${cluster} writes the certificate request ${requestName} and no other`;
  if (subresource !== "") return `a ${what} answers no certificate request`;
  if (operation === "DELETE") return undefined;
  if (operation === "UPDATE") return `a ${what} changes no certificate request: it makes another`;
  return textAt(object, "spec", "signerName") === CLIENT_SIGNER
    ? undefined
    : `a ${what} asks for certificates of the signer ${CLIENT_SIGNER} alone`;
}
