/**
 * The controllers and the admission of a control plane beside any kube-apiserver, as one of several replicas.
 *
 * 1. Every replica answers admission reviews; one replica at a time, by a Lease, runs the controllers.
 * 2. Each term of leading begins with new controllers, on a client that sends no write once the term is over, to the API server as to members.
 *    When the lease is lost everything of the term stops, and the replica competes again.
 * 3. No controller runs while a control plane is being moved to this API server (moving/mark.ts).
 * 4. Where replicas share out members (`share`), each of them works on its own members all the time (member-work.ts), and the leader
 *    runs the rest.
 * 5. Nothing runs that `createPlaneWork` does not also run in `lifeboat up`, but for the webhook's certificate and the records of
 *    tunnels (aggregated/). Every replica serves the way into members, whether it leads or not.
 */
import { clusterRoleBindings, formatKey, type ObjectKey, orNothing } from "@lifeboat/api";
import { createAdmissionChain, type Handle } from "@lifeboat/apiserver";
import { type Ids, sleep } from "@lifeboat/base";
import type { ConnectMember, TokenRegistration } from "@lifeboat/controllers/context";
import {
  type Client,
  createLeaderElection,
  createManager,
  fencedClient,
  type KitPorts,
  type LeaderElectionOptions,
  type Service,
  type Term,
} from "@lifeboat/kit";
import { type AggregatedProxy, createAggregated } from "./aggregated/create-aggregated.ts";
import type { ControllersOptions } from "./controllers.ts";
import { readKeptSwitches } from "./gates.ts";
import { certificateExpiration } from "./metrics.ts";
import { untilMovedIn } from "./moving/mark.ts";
import { agentRules, planeAdmission, type PlaneAdmission } from "./plane-admission.ts";
import { createMemberWork, type ShareTimes } from "./member-work.ts";
import { createPlaneWork, type PlaneWork } from "./plane-work.ts";
import { preparedClient } from "./prepared-client.ts";
import {
  type CertificateMaker,
  type CertifiedPair,
  createWebhookCertificates,
  followWebhook,
  isServed,
  servingPair,
  untilServed,
  type WebhookObjects,
} from "./webhook/certificates.ts";
import { CERTIFICATE_SECRET, REGISTRATION_ROLE, SYSTEM_NAMESPACE } from "./webhook/resources.ts";
import { answerReview, type ReviewAnswer, type ReviewChains } from "./webhook/review.ts";

export interface PlaneManagerPorts extends KitPorts {
  readonly ids: Ids;
  readonly certificates: CertificateMaker;
}

export interface PlaneManagerOptions extends Pick<PlaneAdmission, "scripts"> {
  readonly work: PlaneWork;
  /** Absent: this is the only replica, and an operator sees to that. */
  readonly election?: ElectionOptions;
  /** How replicas share out the work on Push members; absent: the leader does it all. */
  readonly share?: ShareTimes;
  /** Called when this replica begins to run controllers, and when it has ceased to. */
  readonly onLeading?: (isLeading: boolean) => void;
  /** Gets a sentence for each gate that is not as flags alone would have it. */
  readonly tell?: (sentence: string) => void;
  /** The way into members, for the aggregated group; absent: this replica serves none. */
  readonly proxy?: AggregatedProxy;
  /** How clusters register by a token; absent: they do not. */
  readonly registration?: TokenRegistration;
}

export type ElectionOptions = Pick<
  LeaderElectionOptions,
  "lease" | "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs"
>;

/** The Lease by which replicas elect a leader, unless they are started with another. */
export const MANAGER_LEASE: ObjectKey = Object.freeze({
  namespace: SYSTEM_NAMESPACE,
  name: "lifeboat-manager",
});

export interface PlaneManager {
  /** Answers one admission review. */
  review(path: string, body: string): Promise<ReviewAnswer>;
  /** Answers one request that the API server has passed on; undefined: this replica serves no way into members. */
  readonly handle: Handle | undefined;
  /** Calls with what to serve with, at once if there is something, and whenever something else has to be served. */
  onCertificate(serve: (material: ServedMaterial) => void): void;
  /** Resolves with true once the API server trusts what this replica serves. `run` has to run. */
  whenServed(signal: AbortSignal): Promise<boolean>;
  /** Whether the API server trusts what this replica serves, as far as this replica knows. */
  isServed(): boolean;
  isLeading(): boolean;
  /** Whether this replica works on its share of the members, or has none to work on; false while its Lease is not fresh. */
  isSharing(): boolean;
  /** Until the signal aborts. Rejects only with an InvariantError. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ServedMaterial extends CertifiedPair {
  /** The CA certificates of front proxies, which may name the user of a request; PEM. */
  readonly clientCa: string;
}

/** Builds a replica over the API of a control plane. Constructing starts nothing. */
export function createPlaneManager(
  ports: PlaneManagerPorts,
  client: Client,
  {
    work: given,
    scripts,
    election,
    share,
    onLeading,
    tell,
    proxy,
    registration,
  }: PlaneManagerOptions,
): PlaneManager {
  const { clock, certificates } = ports;
  const work = { ...given, reading: READING };
  let controllers: ControllersOptions | undefined;
  const rules = {
    controllers: () => controllers,
    ...(scripts === undefined ? {} : { scripts }),
  };
  const chains: ReviewChains = {
    agents: createAdmissionChain(agentRules(clock)),
    all: createAdmissionChain(planeAdmission(ports, rules, () => client)),
  };
  const objects = followWebhook(ports, client, { servesProxy: proxy !== undefined });
  const aggregated =
    proxy === undefined ? undefined : createAggregated(ports, client, objects, work, proxy);
  let leads = false;
  const lead = async (signal: AbortSignal, term: Term): Promise<void> => {
    if (!(await untilMovedIn(ports, client, signal))) return;
    const plane = preparedClient(ports, fencedClient(client, term));
    controllers = await readKept(ports, signal, () =>
      readKeptSwitches(plane, work.controllers, tell),
    );
    if (controllers === undefined) return;
    const registering = await readKept(ports, signal, () =>
      installedRegistration(plane, registration, tell),
    );
    if (registering === undefined) return;
    const services = [
      createWebhookCertificates(ports, plane, objects, certificates),
      ...createPlaneWork({ ...ports, ...registering }, plane, {
        ...work,
        controllers: { ...published(controllers, election), shareMembers: share !== undefined },
        part: share === undefined ? "all" : "decisions",
        connect: fencedConnect(work.connect, term),
      }).services,
    ];
    leads = true;
    onLeading?.(true);
    try {
      await createManager(ports, services, { stopTimeoutMs: TERM_STOP_MS }).run(signal);
    } finally {
      leads = false;
      controllers = undefined;
      onLeading?.(false);
    }
  };
  showCertificates(ports, objects.secret);
  const leading = leaderService(ports, client, work.instance, election, lead);
  const members =
    share === undefined
      ? undefined
      : createMemberWork(ports, preparedClient(ports, client), work, {
          ...share,
          namespace: SYSTEM_NAMESPACE,
        });
  const sharing: Service = {
    name: "share of members",
    run: async (signal) => {
      if (members === undefined || !(await untilMovedIn(ports, client, signal))) return;
      await createManager(ports, members.services, { stopTimeoutMs: TERM_STOP_MS }).run(signal);
    },
  };
  const followed: readonly Service[] = Object.values(objects);
  const manager = createManager(ports, [
    ...followed,
    ...(aggregated?.services ?? []),
    ...(members === undefined ? [] : [sharing]),
    leading,
  ]);
  return {
    review: (path, body) => answerReview(chains, path, body),
    handle: aggregated?.handle,
    onCertificate: (serve) => {
      const look = (): void => {
        const pair = servingPair(objects.secret.get(CERTIFICATE_SECRET));
        if (pair === undefined) return;
        const { certificate, key, authority } = pair;
        serve({ certificate, key, clientCa: aggregated?.clientCa() ?? authority });
      };
      objects.secret.onChange(look);
      aggregated?.onClientCa(look);
    },
    whenServed: (signal) => untilServed(clock, objects, certificates, signal),
    isServed: () => isServed(objects, certificates),
    isLeading: () => leads,
    isSharing: () => members?.shares.isFresh() ?? true,
    run: (signal) => manager.run(signal),
  };
}

/** How clusters register, if `lifeboat install` has given the manager the rights to that; without them every attempt would be refused. */
async function installedRegistration(
  plane: Client,
  registration: TokenRegistration | undefined,
  tell: PlaneManagerOptions["tell"],
): Promise<{ readonly registration?: TokenRegistration }> {
  if (registration === undefined) return {};
  const binding = { namespace: "", name: REGISTRATION_ROLE };
  if ((await orNothing(plane.get(clusterRoleBindings, binding))) !== undefined)
    return { registration };
  tell?.(
    "registration by a token is off: `lifeboat install` has left it out; install it, then start the managers again, or start them with --registration=false",
  );
  return {};
}

/** When the certificates end that all replicas serve with. */
function showCertificates(
  { metrics, certificates }: PlaneManagerPorts,
  secret: WebhookObjects["secret"],
): void {
  const expiration = metrics.gauge(certificateExpiration);
  secret.onChange(() => {
    const pair = servingPair(secret.get(CERTIFICATE_SECRET));
    const [authority = ""] = certificates.split(pair?.authority ?? "");
    const pems = { webhook: pair?.certificate ?? "", "webhook authority": authority };
    for (const [certificate, pem] of Object.entries(pems)) {
      const notAfter = pem === "" ? undefined : certificates.notAfter(pem);
      if (notAfter === undefined) expiration.remove({ certificate });
      else expiration.set(notAfter / 1000, { certificate });
    }
  });
}

/** Reads until it works or the term ends: controllers must not run with gates that differ from the operator's. */
async function readKept<T>(
  { clock, log }: KitPorts,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T | undefined> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      log.warn("the settings object cannot be read, trying again", { error });
      if (!(await sleep(clock, READ_RETRY_MS, signal))) return undefined;
    }
  }
}

/** kube-apiserver streams a first list out of its watch cache; in pages etcd reads each of them. */
const READING = { streamingList: true } as const;

const READ_RETRY_MS = 1000;

/** How long one part of a term may take to end. Its writes are over before; the rest must not keep the replica from competing. */
const TERM_STOP_MS = 2000;

function leaderService(
  ports: PlaneManagerPorts,
  client: Client,
  identity: string,
  election: ElectionOptions | undefined,
  lead: (signal: AbortSignal, term: Term) => Promise<void>,
): Service {
  if (election === undefined) {
    const always: Term = { isHeld: () => true, signal: new AbortController().signal };
    return { name: "controllers", run: (signal) => lead(signal, always) };
  }
  return createLeaderElection(ports, client, { ...election, identity, lead });
}

/** The controllers publish how they were elected, so that a person can find the leader. */
function published(
  controllers: ControllersOptions,
  election: ElectionOptions | undefined,
): ControllersOptions {
  return election === undefined
    ? controllers
    : { ...controllers, leaderLease: formatKey(election.lease) };
}

/** Members are written to only while the term is held, too. */
function fencedConnect(connect: ConnectMember, term: Term): ConnectMember {
  return (access, onExcess) => {
    const member = connect(access, onExcess);
    return { client: fencedClient(member.client, term), close: () => member.close() };
  };
}
