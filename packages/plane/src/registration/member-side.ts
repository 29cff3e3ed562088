/**
 * What joining makes in a member, and how unjoining takes it away again.
 *
 * 1. The control plane's account may do everything: it applies whatever templates hold, roles included.
 * 2. The tokens come from the member's own token controller. A member without one is reached by the bearer token that
 *    the person who joins it uses, if that is what they use.
 * 3. Taking away leaves what other control planes made in the same namespace.
 */
import {
  type AnyObject,
  clusterRoleBindings,
  clusterRoles,
  isJsonObject,
  isRefused,
  namespaces,
  type New,
  type Resource,
  secrets,
  serviceAccounts,
} from "@lifeboat/api";
import { type Clock, formatDuration, sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import type { Client } from "@lifeboat/kit";
import { ensure, ensureGone, findObject } from "./ensure.ts";
import { RegistrationRefused } from "./refusal.ts";
import {
  accountName,
  IMPERSONATOR,
  impersonatorRoleName,
  roleName,
  systemObject,
  TOKEN_ACCOUNT,
  TOKEN_TYPE,
} from "./resources.ts";

/** How the person who joins a member reaches it. */
export interface GivenAccess {
  /** The URL, as the control plane will use it too. */
  readonly server: string;
  readonly insecureSkipTlsVerify: boolean;
  /** PEM; absent: the system's authorities. */
  readonly caBundle?: string;
  /** The bearer token, where requests are authenticated by one. */
  readonly token?: string;
  /** The token of the member's impersonator, where the member issues none; absent: the proxy stays closed. */
  readonly impersonatorToken?: string;
}

export interface Credential {
  readonly token: string;
  /** "": there is none, and the proxy into the member stays closed. */
  readonly impersonatorToken: string;
  /** PEM; "": the system's authorities. */
  readonly caBundle: string;
  readonly source: "serviceAccount" | "kubeconfig";
}

export interface MemberSide {
  readonly member: Client;
  readonly cluster: string;
  readonly namespace: string;
}

export interface CredentialRequest extends MemberSide {
  readonly access: GivenAccess;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const POLL_MS = 200;

/** Makes the accounts with their rights and answers the tokens by which they are used. */
export async function makeCredential(
  ports: { readonly clock: Clock },
  request: CredentialRequest,
): Promise<Credential> {
  const { member, namespace, cluster, access } = request;
  const account = accountName(cluster);
  await makeNamespace(ports, request);
  for (const name of [IMPERSONATOR, account])
    await ensure(member, serviceAccounts, systemObject(serviceAccounts, { name, namespace }));
  await makeRights(request);
  if (!(await issuesTokens(member))) return givenCredential(request);
  for (const name of [IMPERSONATOR, account]) await makeTokenSecret(request, name);
  const deadline = ports.clock.monotonic() + request.timeoutMs;
  const impersonator = await awaitToken(ports, request, IMPERSONATOR, deadline);
  const own = await awaitToken(ports, request, account, deadline);
  if (own === undefined || impersonator === undefined) return givenCredential(request);
  // The authority that vouches for the address is the one by which the address was just reached.
  const caBundle = access.caBundle ?? (access.insecureSkipTlsVerify ? own.caBundle : "");
  const { token } = own;
  return { token, impersonatorToken: impersonator.token, caBundle, source: "serviceAccount" };
}

/** Refuses a member that will never give a token, before anything is written there. */
export async function refuseWithoutToken({
  member,
  access,
}: Pick<CredentialRequest, "member" | "access">): Promise<void> {
  if ((access.token ?? "") !== "" || (await issuesTokens(member))) return;
  throw new RegistrationRefused(
    "the cluster issues no tokens for service accounts, and its kubeconfig has no bearer token to use instead:" +
      " join it with a kubeconfig that has one",
  );
}

/**
 * Checks what can be checked of `makeCredential` without a write: the rights of the person in the member, and a namespace that is
 * being deleted. Throws what `makeCredential` would throw.
 */
export async function checkCredential(request: CredentialRequest): Promise<void> {
  const { member, namespace, cluster } = request;
  const found = await findObject(member, namespaces, { namespace: "", name: namespace });
  if (found?.metadata.deletionTimestamp !== undefined) throw stillBeingDeleted(namespace);
  const tried = { dryRun: true } as const;
  const check = async (resource: Resource, wanted: New<AnyObject>): Promise<void> => {
    try {
      await member.create(resource, wanted, tried);
    } catch (error) {
      if (!isRefused(error, "AlreadyExists")) throw error;
    }
  };
  await check(namespaces, systemObject(namespaces, { name: namespace }));
  for (const { role, binding } of allRights(request)) {
    await check(clusterRoles, role);
    await check(clusterRoleBindings, binding);
  }
  // In a namespace that is not there yet a server refuses everything: then only the rest can be tried.
  if (found !== undefined) {
    const account = { name: accountName(cluster), namespace };
    await check(serviceAccounts, systemObject(serviceAccounts, account));
    await check(secrets, systemObject(secrets, account, { type: "Opaque" }));
  }
}

function stillBeingDeleted(namespace: string): RegistrationRefused {
  return new RegistrationRefused(
    `the namespace ${namespace} is still being deleted in the cluster: join again once it is gone`,
  );
}

/** Makes the namespace; one that is still going since the cluster left is waited for. */
async function makeNamespace(
  { clock }: { readonly clock: Clock },
  { member, namespace, timeoutMs, signal }: CredentialRequest,
): Promise<void> {
  const deadline = clock.monotonic() + timeoutMs;
  const wanted = systemObject(namespaces, { name: namespace });
  for (;;) {
    const { metadata } = await ensure(member, namespaces, wanted);
    if (metadata.deletionTimestamp === undefined) return;
    if (clock.monotonic() >= deadline) throw stillBeingDeleted(namespace);
    await pause(clock, signal);
  }
}

async function pause(clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  if (!(await sleep(clock, POLL_MS, signal)))
    throw new RegistrationRefused("joining was interrupted; run it again to go on");
}

async function makeRights(side: MemberSide): Promise<void> {
  for (const { role, binding } of allRights(side)) {
    await ensure(side.member, clusterRoles, role);
    await ensure(side.member, clusterRoleBindings, binding);
  }
}

interface Rights {
  readonly role: New<AnyObject>;
  readonly binding: New<AnyObject>;
}

/** Of the control plane's account, and of the impersonator. */
function allRights({ cluster, namespace }: MemberSide): readonly Rights[] {
  const own = roleName(cluster);
  return [
    rightsOf(own, { name: accountName(cluster), namespace }, [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["get"] },
    ]),
    // A user with a right to `clusters/proxy` in the control plane is named in a request, and has the rights of that name here.
    rightsOf(
      impersonatorRoleName(namespace),
      { name: IMPERSONATOR, namespace },
      IMPERSONATION_RULES,
    ),
  ];
}

const IMPERSONATION_RULES = [
  { apiGroups: [""], resources: ["users", "groups", "serviceaccounts"], verbs: ["impersonate"] },
  // Not by name: each key of an extra value is a subresource of its own, and RBAC has no pattern for those.
  { apiGroups: ["authentication.k8s.io"], resources: ["*"], verbs: ["impersonate"] },
];

function rightsOf(
  name: string,
  account: { readonly name: string; readonly namespace: string },
  rules: readonly object[],
): Rights {
  const roleRef = { apiGroup: clusterRoles.group, kind: clusterRoles.kind, name };
  const subjects = [{ kind: serviceAccounts.kind, ...account }];
  return {
    role: systemObject(clusterRoles, { name }, { rules }),
    binding: systemObject(clusterRoleBindings, { name }, { roleRef, subjects }),
  };
}

/** Our embedded API server has no token controller, so there is none to wait for. */
async function issuesTokens(member: Client): Promise<boolean> {
  const version = await member.read("/version");
  const name = isJsonObject(version) ? version["gitVersion"] : undefined;
  return typeof name !== "string" || !name.includes("+lifeboat.");
}

/** The Secret that asks the member's token controller for a token that does not expire. */
async function makeTokenSecret({ member, namespace }: MemberSide, account: string): Promise<void> {
  const annotations = { [TOKEN_ACCOUNT]: account };
  const metadata = { name: account, namespace, annotations };
  await ensure(member, secrets, systemObject(secrets, metadata, { type: TOKEN_TYPE }));
}

interface IssuedToken {
  readonly token: string;
  readonly caBundle: string;
}

/** The token once it is there; undefined when the deadline passes first. */
async function awaitToken(
  { clock }: { readonly clock: Clock },
  { member, namespace, signal }: CredentialRequest,
  account: string,
  deadline: number,
): Promise<IssuedToken | undefined> {
  for (;;) {
    const secret = await findObject(member, secrets, { namespace, name: account });
    const token = decoded(secret, "token");
    if (token !== "") return { token, caBundle: decoded(secret, "ca.crt") };
    if (clock.monotonic() >= deadline) return undefined;
    await pause(clock, signal);
  }
}

function givenCredential(request: CredentialRequest): Credential {
  const { access, cluster, namespace, timeoutMs } = request;
  // The person's own token impersonates no user: that would be the administrator's credential in the proxy.
  const { token = "", caBundle = "", impersonatorToken = "" } = access;
  if (token !== "") return { token, impersonatorToken, caBundle, source: "kubeconfig" };
  throw new RegistrationRefused(
    `the cluster issued no token for its service account ${namespace}/${accountName(cluster)} within ${formatDuration(timeoutMs)}` +
      " (is its kube-controller-manager running?), and its kubeconfig has no bearer token to use instead:" +
      " mend one of the two and join again, or take away what was made with" +
      ` lifeboat unjoin ${cluster} --cluster-kubeconfig FILE`,
  );
}

function decoded(secret: AnyObject | undefined, key: string): string {
  const data = secret?.["data"];
  const value = isJsonObject(data) ? data[key] : undefined;
  if (typeof value !== "string") return "";
  return new TextDecoder().decode(Uint8Array.from(atob(value), (char) => char.charCodeAt(0)));
}

/** Takes away what joining made in the member; answers what was left because others use it. */
export async function cleanMember({ member, cluster, namespace }: MemberSide): Promise<string[]> {
  const account = accountName(cluster);
  const role = { namespace: "", name: roleName(cluster) };
  await ensureGone(member, clusterRoleBindings, role);
  await ensureGone(member, clusterRoles, role);
  for (const resource of [secrets, serviceAccounts])
    await ensureGone(member, resource, { namespace, name: account });
  const space = await findObject(member, namespaces, { namespace: "", name: namespace });
  if (space === undefined) return [];
  if (space.metadata.labels?.[wellKnown.SYSTEM] !== "true") {
    await removeImpersonator(member, namespace);
    return [`the namespace ${namespace}, which joining did not make`];
  }
  const others = await otherAccounts(member, namespace);
  if (others.length > 0)
    return [`the namespace ${namespace}, in which there are still ${others.join(", ")}`];
  await removeImpersonator(member, namespace);
  await ensureGone(member, namespaces, { namespace: "", name: namespace });
  return [];
}

async function removeImpersonator(member: Client, namespace: string): Promise<void> {
  const role = { namespace: "", name: impersonatorRoleName(namespace) };
  await ensureGone(member, clusterRoleBindings, role);
  await ensureGone(member, clusterRoles, role);
  for (const resource of [secrets, serviceAccounts])
    await ensureGone(member, resource, { namespace, name: IMPERSONATOR });
}

/** The accounts of other control planes, or of other names. */
async function otherAccounts(member: Client, namespace: string): Promise<readonly string[]> {
  const { items } = await member.list(serviceAccounts, { namespace });
  const known = new Set(["default", IMPERSONATOR]);
  return items.map(({ metadata }) => metadata.name).filter((name) => !known.has(name));
}
