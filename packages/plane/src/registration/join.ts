/**
 * Joining a member that the control plane reaches by itself (Push).
 *
 *   check → accounts and rights in the member → tokens → Secrets here → the Cluster → the Secrets belong to it
 *
 * 1. Nothing is written before the request is known to be good: the name, the member's identity, the Cluster's rules.
 * 2. It can be repeated from the start after dying at any step, and then ends the same.
 * 3. A member has one name, and a name one member: a member is recognized by the uid of its kube-system. The control plane
 *    itself is no member.
 * 4. A dry run refuses what the join would refuse: servers are asked with `dryRun`, and a token that cannot come is missed now.
 * 5. A name that an agent has registered, or of whose agent rights are left, is refused before a Secret of this name is written.
 * 6. The tokens are bound to the endpoint that they are for: the Secrets name it, and they are sent nowhere else.
 */
import {
  type AnyObject,
  apiVersionOf,
  type Cluster,
  clusters,
  equalJson,
  type KubeList,
  namespaces,
  type New,
  type OwnerReference,
  secrets,
} from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { CLUSTER_UID, REGISTERED_BY } from "@lifeboat/core/clusters/rights";
import { agentClusterRole } from "@lifeboat/controllers/context";
import type { Client } from "@lifeboat/kit";
import { ensure, findObject } from "./ensure.ts";
import {
  checkCredential,
  type Credential,
  type GivenAccess,
  makeCredential,
  refuseWithoutToken,
} from "./member-side.ts";
import { RegistrationRefused } from "./refusal.ts";
import { impersonatorSecretName, systemObject } from "./resources.ts";

export interface JoinRequest {
  readonly plane: Client;
  readonly member: Client;
  readonly name: string;
  /** How the member is reached now, and how it will be from the control plane. */
  readonly access: GivenAccess;
  /** Of the accounts in the member and of the Secrets here; `karmada-cluster` when absent. */
  readonly namespace?: string;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[];
  /** Whether the member may be reached over plain HTTP, where its token can be read on the way. */
  readonly allowHttp?: boolean;
  /** How long the member may take to issue tokens; 30 s when absent. */
  readonly tokenTimeoutMs?: number;
  /** Checks everything that can be checked, and writes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface JoinOutcome {
  /** As it is stored, or as it would be after a dry run. */
  readonly cluster: Cluster;
  /** Where the control plane's token comes from; undefined after a dry run. */
  readonly credential?: Credential["source"];
}

const TOKEN_TIMEOUT_MS = 30_000;
const PAGE_SIZE = 500;

/** Joins the member, or throws RegistrationRefused. */
export async function joinCluster(
  ports: { readonly clock: Clock },
  request: JoinRequest,
): Promise<JoinOutcome> {
  const { plane, member, name } = request;
  checkEndpoint(request);
  const namespace = request.namespace ?? wellKnown.CLUSTER_NAMESPACE;
  const id = await memberId(member);
  await refuseSelf(plane, id);
  const wanted = clusterOf(request, namespace, id);
  const found = await checkFree(plane, name, id);
  await refuseWithAgent(plane, name);
  const checked = await putCluster(plane, wanted, found, true);
  await refuseWithoutToken(request);
  const asked = {
    member,
    cluster: name,
    namespace,
    access: request.access,
    timeoutMs: request.tokenTimeoutMs ?? TOKEN_TIMEOUT_MS,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
  if (request.dryRun === true) {
    await checkCredential(asked);
    return { cluster: checked };
  }
  const credential = await makeCredential(ports, asked);
  await ensure(plane, namespaces, systemObject(namespaces, { name: namespace }));
  // A token may have registered the name while the member made its tokens.
  await refuseWithAgent(plane, name);
  await putSecrets(request, namespace, credential);
  const cluster = await putCluster(plane, wanted, found);
  await putSecrets(request, namespace, credential, ownerOf(cluster));
  return { cluster, credential: credential.source };
}

/** Refuses a member whose token would travel in clear, unless that is asked for. */
function checkEndpoint({ access, allowHttp }: JoinRequest): void {
  if (!/^http:/i.test(access.server) || allowHttp === true) return;
  throw new RegistrationRefused(
    `the cluster's address ${access.server} is plain http, by which its token would travel in clear: use an https address, or allow it with --allow-insecure-http`,
  );
}

/** What a member is recognized by: the uid of its namespace kube-system. */
export async function memberId(member: Client): Promise<string> {
  const found = await findObject(member, namespaces, { namespace: "", name: "kube-system" });
  if (found !== undefined) return found.metadata.uid;
  throw new RegistrationRefused(
    "the cluster has no namespace kube-system, by whose uid a cluster is recognized: create it there first",
  );
}

/** A control plane that is its own member would place every copy onto its own template. */
async function refuseSelf(plane: Client, id: string): Promise<void> {
  const own = await findObject(plane, namespaces, { namespace: "", name: "kube-system" });
  if (own?.metadata.uid === id)
    throw new RegistrationRefused(
      "--cluster-kubeconfig leads to the control plane itself, which cannot be its own member",
    );
}

/** Refuses a member that has another name here, and a name that another member has; answers what an earlier run made. */
async function checkFree(plane: Client, name: string, id: string): Promise<Cluster | undefined> {
  let own: Cluster | undefined;
  let token = "";
  do {
    const page: KubeList<Cluster> = await plane.list(clusters, {
      limit: PAGE_SIZE,
      continue: token,
    });
    for (const cluster of page.items) {
      if (cluster.metadata.name === name) own = cluster;
      else if (cluster.spec.id === id)
        throw new RegistrationRefused(
          `this cluster is joined already, as ${cluster.metadata.name}: use that name, or unjoin it first`,
        );
    }
    token = page.metadata.continue ?? "";
  } while (token !== "");
  if (own === undefined) return undefined;
  if (own.spec.id !== id || own.spec.syncMode !== "Push")
    throw new RegistrationRefused(
      `another cluster is joined as ${name}: choose another name, or unjoin that one first`,
    );
  if (own.metadata.deletionTimestamp !== undefined)
    throw new RegistrationRefused(`the cluster ${name} is leaving: join it again once it is gone`);
  return own;
}

/** The agent of a name may read the Secrets of that name: no credential is written while one has rights, whatever it is that gave them. */
async function refuseWithAgent(plane: Client, name: string): Promise<void> {
  const role = await agentClusterRole(plane, name);
  if (role === undefined) return;
  const by = role.metadata.annotations?.[REGISTERED_BY] ?? "an administrator";
  throw new RegistrationRefused(
    role.metadata.annotations?.[CLUSTER_UID] === undefined
      ? `${by} has registered the name ${name} for an agent, which would share the credential of this cluster: choose another name, or run lifeboat unregister ${name} first, after which the identity of that agent is refused`
      : `the agent of the cluster that was called ${name} still has its rights: they go within seconds while the control plane runs; join again then`,
  );
}

function clusterOf(request: JoinRequest, namespace: string, id: string): New<Cluster> {
  const { name, access, provider = "", region = "", zones = [] } = request;
  return {
    apiVersion: apiVersionOf(clusters),
    kind: clusters.kind,
    metadata: { name },
    spec: {
      id,
      syncMode: "Push",
      apiEndpoint: access.server,
      secretRef: { namespace, name },
      impersonatorSecretRef: { namespace, name: impersonatorSecretName(name) },
      ...(access.insecureSkipTlsVerify ? { insecureSkipTLSVerification: true } : {}),
      ...(provider === "" ? {} : { provider }),
      ...(region === "" ? {} : { region }),
      ...(zones.length === 0 ? {} : { zones: [...zones] }),
    },
  };
}

/**
 * Creates the Cluster; one that an earlier run made gets what this request names, and keeps the rest. In a dry run the server only
 * checks it, field by field.
 */
async function putCluster(
  plane: Client,
  wanted: New<Cluster>,
  found: Cluster | undefined,
  dryRun = false,
): Promise<Cluster> {
  const options = dryRun ? ({ dryRun: true, fieldValidation: "Strict" } as const) : {};
  if (found === undefined) return plane.create(clusters, wanted, options);
  // Absent in the request means that certificates are checked, whatever an earlier one asked for.
  const { insecureSkipTLSVerification: _, ...kept } = found.spec;
  const spec = { ...kept, ...wanted.spec };
  if (equalJson(spec, found.spec)) return found;
  return plane.update(clusters, { ...found, spec }, options);
}

async function putSecrets(
  { plane, name: cluster, access, allowHttp }: JoinRequest,
  namespace: string,
  credential: Credential,
  owner?: OwnerReference,
): Promise<void> {
  const ownerReferences = owner === undefined ? {} : { ownerReferences: [owner] };
  const annotations = {
    [wellKnown.API_ENDPOINT]: access.server,
    ...(allowHttp === true && { [wellKnown.ALLOW_HTTP]: "true" }),
  };
  const put = (name: string, data: Readonly<Record<string, string>>): Promise<AnyObject> =>
    ensure(
      plane,
      secrets,
      systemObject(
        secrets,
        { name, namespace, annotations, ...ownerReferences },
        { type: "Opaque", data },
      ),
    );
  const authority = credential.caBundle === "" ? {} : { caBundle: toBase64(credential.caBundle) };
  await put(cluster, { token: toBase64(credential.token), ...authority });
  if (credential.impersonatorToken !== "")
    await put(impersonatorSecretName(cluster), { token: toBase64(credential.impersonatorToken) });
}

function ownerOf(cluster: Cluster): OwnerReference {
  const { name, uid } = cluster.metadata;
  return { apiVersion: cluster.apiVersion, kind: cluster.kind, name, uid };
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
