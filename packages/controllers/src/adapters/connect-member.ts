/** The connection to a member over HTTP, by the token and authority of its Secret. */
import { X509Certificate } from "node:crypto";
import {
  createHttpClient,
  fixedCredential,
  httpProxyOf,
  MEMBER_LIMITS,
} from "@lifeboat/kit/adapters";
import type { JudgeAddress } from "@lifeboat/kit";
import type { ConnectMember, MemberAccess } from "../context/member-connections.ts";

/** A member that hangs must not hold a reconcile for longer than this. */
const CALL_TIMEOUT_MS = 32_000;

/** Opens connections to members; `userAgent` names the control plane in their logs, `judgeAddress` what is never dialled (T6). */
export function connectMemberOverHttp(
  userAgent: string,
  judgeAddress?: JudgeAddress,
): ConnectMember {
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
      // Never past a proxy that the Cluster names: the direct way may be closed on purpose.
      ...(access.proxyUrl === undefined
        ? {}
        : { proxy: httpProxyOf(access.proxyUrl, access.proxyHeaders) }),
      judgeAddress,
      userAgent,
      callTimeoutMs: CALL_TIMEOUT_MS,
      limits: MEMBER_LIMITS,
      onExcess,
    });
    return { client, close: () => client.close() };
  };
}

/** What makes an access useless before anything is sent, in one sentence. */
function problemOf(access: MemberAccess): string | undefined {
  const { endpoint, token, caBundle } = access;
  if (!/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint))
    return `the apiEndpoint "${endpoint}" is not an http or https URL`;
  if (!/^[\u0021-\u007e]+$/.test(token)) return "the token holds characters that no token has";
  // A user with the right to edit Clusters can name a proxy, without the right to read the token.
  if (
    access.proxyUrl !== undefined &&
    (!/^https:/i.test(endpoint) || access.insecureSkipTlsVerification)
  )
    return "the Cluster has a proxyURL, and the proxy could read the token: use an https apiEndpoint, and check its certificate (no insecureSkipTLSVerification)";
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
