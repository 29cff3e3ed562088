/** The connection to a member over HTTP, by the token and authority of its Secret. */
import { createHttpClient, fixedCredential } from "@lifeboat/kit/adapters";
import type { ConnectMember } from "../member-connections.ts";

/** A member that hangs must not hold a look for longer than this. */
const CALL_TIMEOUT_MS = 32_000;

/** Opens connections to members; `userAgent` names the control plane in their logs. */
export function connectMemberOverHttp(userAgent: string): ConnectMember {
  return (access) => {
    const client = createHttpClient({
      server: access.endpoint,
      credentials: fixedCredential({ headers: { authorization: `Bearer ${access.token}` } }),
      ...(access.caBundle === undefined ? {} : { certificateAuthority: access.caBundle }),
      insecureSkipTlsVerify: access.insecureSkipTlsVerification,
      userAgent,
      callTimeoutMs: CALL_TIMEOUT_MS,
    });
    return { client, close: () => client.close() };
  };
}
