/** The connection to a member over HTTP, by the token and authority of its Secret. */
import { X509Certificate } from "node:crypto";
import { createHttpClient, fixedCredential, MEMBER_LIMITS } from "@lifeboat/kit/adapters";
import type { ConnectMember, MemberAccess } from "../context/member-connections.ts";

/** A member that hangs must not hold a reconcile for longer than this. */
const CALL_TIMEOUT_MS = 32_000;

/** Opens connections to members; `userAgent` names the control plane in their logs. */
export function connectMemberOverHttp(userAgent: string): ConnectMember {
  return (access, onExcess) => {
    const why = problemOf(access);
    if (why !== undefined) throw new Error(why);
    const client = createHttpClient({
      server: access.endpoint,
      credentials: fixedCredential({ headers: { authorization: `Bearer ${access.token}` } }),
      ...(access.caBundle === undefined || access.insecureSkipTlsVerification
        ? {}
        : { certificateAuthority: access.caBundle }),
      insecureSkipTlsVerify: access.insecureSkipTlsVerification,
      userAgent,
      callTimeoutMs: CALL_TIMEOUT_MS,
      limits: MEMBER_LIMITS,
      onExcess,
    });
    return { client, close: () => client.close() };
  };
}

/** What makes an access useless before anything is sent, in one sentence. */
function problemOf({ endpoint, token, caBundle, proxyUrl }: MemberAccess): string | undefined {
  if (!/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint))
    return `the apiEndpoint "${endpoint}" is not an http or https URL`;
  // Never go round a proxy that the Cluster asks for: the way past it may be closed on purpose.
  if (proxyUrl !== undefined)
    return "the Cluster has a proxyURL, and members cannot be reached through a proxy: remove it and give an apiEndpoint that the control plane reaches itself";
  if (!/^[\u0021-\u007e]+$/.test(token)) return "the token holds characters that no token has";
  if (caBundle !== undefined && !isCertificate(caBundle))
    return "the caBundle does not begin with a PEM certificate";
  return undefined;
}

/** Node takes an unreadable authority without an error and then trusts no server, so it is read here once. */
function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
