/**
 * The API server as its users see it: composed from store, catalog, verbs, HTTP handling and housekeeping.
 *
 * 1. `createApiServer` resolves when everything stored is loaded, the catalog knows the stored CRDs and the first
 *    namespaces and roles exist: from then on every request is answered.
 * 2. Nothing runs by itself but timers of open watches: housekeeping runs while `run` does.
 */
import type { Clock, Ids, Random } from "@lifeboat/base";
import {
  type AnyObject,
  isRefused,
  namespaces,
  type New,
  type ObjectKey,
  type Resource,
} from "@lifeboat/api";
import type { Client, Log, Metrics } from "@lifeboat/kit";
import type { AdmissionPlugin } from "./admission/admission.ts";
import { createCertificateRequests, type ReadRequest } from "./admission/certificate-requests.ts";
import { createAdmissionChain } from "./admission/chain.ts";
import { crdAdmission } from "./admission/crd-admission.ts";
import { createNamespaceLifecycle } from "./admission/namespace-lifecycle.ts";
import { createRoleEscalation } from "./admission/role-escalation.ts";
import { createServiceAllocation } from "./admission/service-allocation.ts";
import { createServiceAccountTokens } from "./authentication/service-accounts.ts";
import type { TokenCrypto } from "./authentication/token-crypto.ts";
import {
  createStaticTokens,
  createTokenAuthentication,
  type TokenAuthenticator,
} from "./authentication/tokens.ts";
import type { Authorizer } from "./authorization/authorizer.ts";
import { defaultRights } from "./authorization/rbac/default-roles.ts";
import { installRights } from "./authorization/rbac/install-rights.ts";
import { createRbacAuthorizer } from "./authorization/rbac/rbac-authorizer.ts";
import { EVENTS_TABLE, servedBuiltins } from "./catalog/builtins.ts";
import { createCatalog } from "./catalog/catalog.ts";
import { followCrds } from "./catalog/follow-crds.ts";
import type { Catalog } from "./catalog/served-resource.ts";
import { createInProcessClient } from "./client/in-process-client.ts";
import { createHousekeeping } from "./housekeeping/housekeeping.ts";
import type { Auditor } from "./http/audit/auditor.ts";
import { createIdentify } from "./http/authentication.ts";
import type { NextTurn } from "./http/body-turns.ts";
import type { Handle, Identify, Streams } from "./http/exchange.ts";
import { createHandle } from "./http/handle.ts";
import type { HealthCheck } from "./http/health.ts";
import type { MemberProxy } from "./http/member-proxy.ts";
import { isMemberTarget } from "./http/path.ts";
import type { PodLogs } from "./http/pod-logs.ts";
import type { PodStreams } from "./http/pod-streams.ts";
import { createOpenApi } from "./openapi/create-openapi.ts";
import { createStore } from "./store/create-store.ts";
import { countWrites } from "./store/metrics.ts";
import type { Storage } from "./store/storage.ts";
import type { Store } from "./store/store.ts";
import { createVerbs } from "./verbs/create-verbs.ts";
import { storeKey } from "./verbs/write-object.ts";
import type { User } from "./authentication/user.ts";

export interface ApiServerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly storage: Storage;
  /** Lets others have their turn while a large body is decoded; absent in process, where no other client waits. */
  readonly nextTurn?: NextTurn;
  /** Absent: the server issues and knows no tokens of ServiceAccounts. */
  readonly tokenCrypto?: TokenCrypto;
}

export interface ApiServerOptions {
  /** What `/version` answers as gitVersion, such as `v1.36.4+lifeboat.0.1.0`. */
  readonly gitVersion: string;
  /** Static bearer tokens. */
  readonly tokens: ReadonlyMap<string, User>;
  /** `RBAC`: the stored roles and bindings decide, and the default ones are put there at start. */
  readonly authorizer: Authorizer | "RBAC";
  /** Of other kinds of tokens, tried after the server's own; they may look up what is stored, by table and key. */
  readonly tokenAuthenticators?: (store: Pick<Store, "get">) => readonly TokenAuthenticator[];
  /** Reads a certificate request (PEM); answers what is wrong with it. Absent: it is stored unread. */
  readonly readRequest?: ReadRequest;
  /** After the built-in plugins. */
  readonly admissionPlugins: readonly AdmissionPlugin[];
  /** At most this much history for watches to resume from. */
  readonly historyMaxEvents: number;
  readonly historyMaxBytes: number;
  /**
   * Whether `/readyz` fails, in its check `disk`, while writes that grow are refused. Everything is served in any case. Off
   * for members: a full disk alone is no reason to move what runs there.
   */
  readonly unreadyWhenFull?: boolean;
  /** Further checks of `/readyz`, for what the process serves beside the API. */
  readonly readyChecks?: readonly HealthCheck[] | undefined;
  /** Records requests that come over HTTP; absent: nothing is recorded. */
  readonly auditor?: Auditor | undefined;
  /** The way into members; absent: there are none. */
  readonly members?: MemberProxy;
  /** Logs of pods; absent: there are none. */
  readonly podLogs?: PodLogs;
  /** Commands in pods and connections into them; absent: there are none. */
  readonly podStreams?: PodStreams;
}

export interface ApiServer {
  readonly catalog: Catalog;
  readonly handle: Handle;
  /** The user that asks, before there is a body to handle. */
  readonly identify: Identify;
  /** Which requests a transport hands over while their bodies arrive. */
  readonly streams: Streams;
  /** An object as it is stored now, for decisions that cannot wait; undefined when there is none. */
  stored(resource: Resource, key: ObjectKey): AnyObject | undefined;
  /** A client that skips bytes and authentication, and nothing else. */
  client(user: User): Client;
  /** Housekeeping (garbage collection, namespaces, CRDs, expiry) until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** From now on `/readyz` fails, so that load balancers send no new work; everything is still served. */
  beginShutdown(): void;
  /** Ends watches in order, waits for writes under way, closes the storage. */
  close(): Promise<void>;
}

const FIRST_NAMESPACES: readonly string[] = [
  "default",
  "kube-node-lease",
  "kube-public",
  "kube-system",
];
/** The server's own user, for what it does by itself. */
const SERVER_USER: User = { name: "system:apiserver", groups: ["system:masters"] };
const PING: HealthCheck = { name: "ping", check: () => undefined };
/** More than a burst that one turn of the event loop brings; see watch-queue.ts. */
const WATCH_QUEUE_LIMIT = 100_000;

/** Opens the storage and builds the server on it; rejects when the storage cannot be opened. */
export async function createApiServer(
  ports: ApiServerPorts,
  options: ApiServerOptions,
): Promise<ApiServer> {
  const { clock, log, storage, metrics, ids } = ports;
  const store = await createStore({ clock, log }, storage, {
    volatileTables: new Set([EVENTS_TABLE]),
    historyMaxEvents: options.historyMaxEvents,
    historyMaxBytes: options.historyMaxBytes,
    onWrite: countWrites(metrics),
  });
  const catalog = createCatalog(servedBuiltins());
  followCrds(log, store, catalog);
  const { authorizer, plugins } = accessOf(store, options);
  const admission = createAdmissionChain([
    createNamespaceLifecycle(store),
    createServiceAllocation(clock, store),
    crdAdmission,
    createCertificateRequests(clock, authorizer, options.readRequest),
    ...plugins,
    ...options.admissionPlugins,
  ]);
  const { gitVersion } = options;
  const { tokenCrypto } = ports;
  const authenticateToken = createTokenAuthentication([
    createStaticTokens(options.tokens),
    ...(tokenCrypto === undefined ? [] : [createServiceAccountTokens(clock, store, tokenCrypto)]),
    ...(options.tokenAuthenticators?.(store) ?? []),
  ]);
  const verbs = createVerbs(ports, {
    store,
    catalog,
    admission,
    authorizer,
    authenticateToken,
    tokenCrypto,
  });
  let shuttingDown = false;
  const handle = createHandle({
    clock,
    ids,
    log,
    metrics,
    verbs,
    catalog,
    authorizer,
    openApi: createOpenApi(catalog, clock),
    health: {
      live: [PING, storageCheck(store)],
      ready: [
        PING,
        storageCheck(store),
        ...(options.unreadyWhenFull === true ? [diskCheck(store)] : []),
        ...(options.members === undefined ? [] : [tunnelsCheck(options.members)]),
        ...(options.readyChecks ?? []),
        {
          name: "shutdown",
          check: () => (shuttingDown ? "the server is shutting down" : undefined),
        },
      ],
    },
    authenticateToken,
    publicKeys: tokenCrypto?.publicKeys,
    gitVersion,
    members: options.members,
    podLogs: options.podLogs,
    podStreams: options.podStreams,
    nextTurn: ports.nextTurn,
    auditor: options.auditor,
  });
  const client = (user: User): Client =>
    createInProcessClient({ verbs, catalog, handle }, { user, watchQueueLimit: WATCH_QUEUE_LIMIT });
  await createFirstNamespaces(client(SERVER_USER));
  if (options.authorizer === "RBAC") await installRights(client(SERVER_USER), defaultRights());
  const housekeeping = createHousekeeping(ports, client(SERVER_USER), catalog);
  return {
    catalog,
    handle,
    identify: createIdentify(authenticateToken),
    streams: (url) => options.members !== undefined && isMemberTarget(url),
    stored: ({ group, version, plural }, key) => {
      const served = catalog.find(group, version, plural);
      return served === undefined ? undefined : store.get(served.table, storeKey(key))?.object;
    },
    client,
    run: (signal) => housekeeping.run(signal),
    beginShutdown: () => {
      shuttingDown = true;
    },
    close: () => {
      shuttingDown = true;
      return store.close();
    },
  };
}

/** What decides about requests, and what guards that which it decides by. */
function accessOf(
  store: Store,
  options: ApiServerOptions,
): { readonly authorizer: Authorizer; readonly plugins: readonly AdmissionPlugin[] } {
  if (options.authorizer !== "RBAC") return { authorizer: options.authorizer, plugins: [] };
  const authorizer = createRbacAuthorizer(store);
  return { authorizer, plugins: [createRoleEscalation(authorizer)] };
}

/**
 * A broken storage fails liveness too: only a new process can open it again. A full one does not: what is there is served,
 * and deletions that make room have to reach the server.
 */
function storageCheck(store: Store): HealthCheck {
  return { name: "storage", check: () => store.broken?.message };
}

/** An agent that is away is no fault of this server: `lifeboat status` counts them. */
function tunnelsCheck(members: MemberProxy): HealthCheck {
  return { name: "tunnels", check: () => members.problem?.() };
}

/** The answer is what was known when the check began; the next one knows the disk as it is now. */
function diskCheck(store: Store): HealthCheck {
  return {
    name: "disk",
    check: () => {
      store.askForRoom().catch(() => {
        // A disk that cannot even be asked shows itself in the next write.
      });
      return store.full?.message;
    },
  };
}

async function createFirstNamespaces(client: Client): Promise<void> {
  await Promise.all(FIRST_NAMESPACES.map((name) => createNamespace(client, name)));
}

async function createNamespace(client: Client, name: string): Promise<void> {
  const namespace: New<AnyObject> = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  try {
    await client.create(namespaces, namespace);
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
  }
}
