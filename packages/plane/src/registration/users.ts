/**
 * People and programs with a certificate of their own: asked for, approved and read through the API of certificate requests, with
 * the rights of the caller. The key never leaves the caller.
 *
 *   request → approval → certificate → bindings → record
 *
 * The record (ConfigMap `lifeboat-system/users`) is for people: it lists which user was given what, and rules nothing.
 */
import {
  type AnyObject,
  certificateSigningRequests,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  isJsonObject,
  type Json,
  namespaces,
  type New,
  orNothing,
  roleBindings,
} from "@lifeboat/api";
import { type Clock, formatDuration, formatTime, type Instant, sleep } from "@lifeboat/base";
import { CLIENT_SIGNER } from "@lifeboat/core/clusters/rights";
import type { Client } from "@lifeboat/kit";
import { ensure } from "./ensure.ts";
import { RegistrationRefused } from "./refusal.ts";

const RECORD = { namespace: "lifeboat-system", name: "users" };
const RBAC = "rbac.authorization.k8s.io";
const POLL_MS = 250;

/** A certificate that is asked for and approved with the rights of the caller. */
export interface CertificateOrder {
  readonly lifeMs: number;
  /** The certificate request, PEM. */
  readonly request: string;
  /** Distinguishes this request from others of the user: the name of the object is made of it. */
  readonly requestId: string;
  readonly timeoutMs: number;
}

export interface NewUser extends CertificateOrder {
  readonly name: string;
  readonly groups: readonly string[];
  /** ClusterRoles. */
  readonly roles: readonly string[];
  /** Where the roles count; absent: everywhere. */
  readonly namespace?: string | undefined;
}

/** What is recorded of a user. */
export interface RecordedUser {
  readonly user: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly namespace: string;
  /** When the newest certificate begins and ends. */
  readonly since: string;
  readonly until: string;
  /** Hexadecimal; for `certs revoke --serial`. */
  readonly serial: string;
}

/** What is recorded of a certificate. */
export interface UserCertificate {
  readonly notBefore: Instant;
  readonly notAfter: Instant;
  readonly serial: string;
}

/** Gives a user a certificate, rights and a record; answers the certificate, PEM. */
export async function addUser(
  {
    clock,
    readCertificate,
  }: {
    readonly clock: Clock;
    readonly readCertificate: (pem: string) => UserCertificate | undefined;
  },
  plane: Client,
  user: NewUser,
): Promise<string> {
  await checkRoles(plane, user);
  const certificate = await issueCertificate(clock, plane, user);
  for (const role of user.roles) await bind(plane, user, role);
  // The authority may end before the time that was asked for: the certificate has the truth.
  const read = readCertificate(certificate);
  if (read === undefined)
    throw new RegistrationRefused("the control plane issued something that is no certificate");
  await record(plane, user, read);
  return certificate;
}

export async function listUsers(plane: Client): Promise<readonly RecordedUser[]> {
  const found = await orNothing(plane.get(configMaps, RECORD));
  const data = found?.["data"];
  if (!isJsonObject(data)) return [];
  return Object.values(data).flatMap((text) => {
    try {
      const read = JSON.parse(typeof text === "string" ? text : "") as RecordedUser;
      // A record of an earlier version has the end alone.
      return [{ ...read, since: read.since ?? "", serial: read.serial ?? "" }];
    } catch {
      // Edited by hand, and no longer readable: the record rules nothing.
      return [];
    }
  });
}

/** A role that does not exist would be bound all the same, and give nothing. */
async function checkRoles(plane: Client, { roles, namespace }: NewUser): Promise<void> {
  for (const name of roles)
    if ((await orNothing(plane.get(clusterRoles, { namespace: "", name }))) === undefined)
      throw new RegistrationRefused(`there is no ClusterRole ${name}`);
  if (namespace === undefined) return;
  if ((await orNothing(plane.get(namespaces, { namespace: "", name: namespace }))) === undefined)
    throw new RegistrationRefused(`there is no namespace ${namespace}`);
}

/** Asks for a certificate, approves it and waits for it; answers it, PEM. */
export async function issueCertificate(
  clock: Clock,
  plane: Client,
  user: CertificateOrder,
): Promise<string> {
  const name = `user-${user.requestId}`;
  const made = await plane.create(certificateSigningRequests, {
    apiVersion: "certificates.k8s.io/v1",
    kind: certificateSigningRequests.kind,
    metadata: { name },
    spec: {
      request: btoa(user.request),
      signerName: CLIENT_SIGNER,
      expirationSeconds: Math.floor(user.lifeMs / 1000),
      usages: ["digital signature", "key encipherment", "client auth"],
    },
  });
  const now = formatTime(clock.now());
  const approved = {
    type: "Approved",
    status: "True",
    reason: "AddedByAdministrator",
    message: "approved by lifeboat users add",
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
  const status = { conditions: [approved] };
  await plane.update(
    certificateSigningRequests,
    { ...made, status },
    {
      subresource: "approval",
    },
  );
  const deadline = clock.monotonic() + user.timeoutMs;
  for (;;) {
    const found = await plane.get(certificateSigningRequests, { namespace: "", name });
    const answer = (found["status"] ?? {}) as {
      readonly certificate?: string;
      readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
    };
    if (answer.certificate !== undefined && answer.certificate !== "")
      return atob(answer.certificate);
    const failed = answer.conditions?.find(({ type }) => type === "Failed" || type === "Denied");
    if (failed !== undefined)
      throw new RegistrationRefused(`no certificate was issued: ${failed.message ?? ""}`);
    if (clock.monotonic() >= deadline)
      throw new RegistrationRefused(
        `the control plane issued no certificate within ${formatDuration(user.timeoutMs)}: does it run its controller certificates?`,
      );
    await sleep(clock, POLL_MS);
  }
}

async function bind(plane: Client, { name, namespace }: NewUser, role: string): Promise<void> {
  const binding = {
    apiVersion: `${RBAC}/v1`,
    kind: namespace === undefined ? clusterRoleBindings.kind : roleBindings.kind,
    metadata: {
      name: `lifeboat:user:${name}:${role}`,
      ...(namespace !== undefined && { namespace }),
    },
    roleRef: { apiGroup: RBAC, kind: clusterRoles.kind, name: role },
    subjects: [{ apiGroup: RBAC, kind: "User", name }],
  } as unknown as New<AnyObject>;
  await ensure(plane, namespace === undefined ? clusterRoleBindings : roleBindings, binding);
}

async function record(plane: Client, user: NewUser, certificate: UserCertificate): Promise<void> {
  const { name, groups, roles, namespace = "" } = user;
  const [since, until] = [formatTime(certificate.notBefore), formatTime(certificate.notAfter)];
  const { serial } = certificate;
  const entry: RecordedUser = { user: name, groups, roles, namespace, since, until, serial };
  const data: Json = { [keyOfUser(name)]: JSON.stringify(entry) };
  await ensure(plane, namespaces, {
    apiVersion: "v1",
    kind: namespaces.kind,
    metadata: { name: RECORD.namespace },
  });
  await ensure(plane, configMaps, {
    apiVersion: "v1",
    kind: configMaps.kind,
    metadata: RECORD,
    data,
  });
}

/** Keys of a ConfigMap have few letters. */
function keyOfUser(name: string): string {
  const bytes = new TextEncoder().encode(name);
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
