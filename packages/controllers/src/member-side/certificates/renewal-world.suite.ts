/**
 * A control plane and agents on a virtual clock, with certificates on paper: what a certificate or a bundle allows is checked on
 * every call, as TLS does. The authorities are names; the bundle is a list of them.
 */
import {
  type AnyObject,
  certificateSigningRequests,
  failure,
  leases,
  type New,
  Refused,
} from "@lifeboat/api";
import { type Instant, sleep } from "@lifeboat/base";
import { agentIdentity, detectorIdentity } from "@lifeboat/core/clusters/rights";
import { CERTIFICATE_SKEW_MS } from "@lifeboat/core/clusters/certificates";
import {
  type Client,
  createManager,
  NotSent,
  type Service,
  silentLog,
  silentMetrics,
} from "@lifeboat/kit";
import {
  createPaperSigner,
  createWorld,
  paperRequest,
  readPaperCertificate,
  resources,
  type World,
  wrapped,
} from "@lifeboat/testkit";
import { createCertificates } from "../../clusters/certificates/create-certificates.ts";
import { type AgentPair, createCertificateRenewal } from "./create-certificate-renewal.ts";

const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" };

/** The authorities of the control plane: the first signs and serves, all are trusted. */
export interface Authorities {
  names: readonly string[];
}

export interface RenewalWorld {
  readonly world: World;
  readonly authorities: Authorities;
  /** Shows the authorities in cluster-info. */
  readonly publish: () => Promise<void>;
  readonly startAgent: (options: AgentOptions) => Promise<RunningAgent>;
}

export interface AgentOptions {
  readonly cluster: string;
  readonly lookEveryMs?: number;
  readonly withToken?: boolean;
  /** Of the pair that it starts with; 24 hours when absent. */
  readonly lifeMs?: number;
  /** Whose instance it is; an agent's when absent. */
  readonly of?: "agent" | "detector";
  /** What the instances of one identity keep together. */
  readonly shared?: SharedPair;
  /** Held before each of its writes, and before each of its looks for the answer, until this resolves. */
  readonly before?: (step: string) => Promise<void>;
}

export interface RenewalWorldOptions {
  /** How long the control plane takes for each of its answers. */
  readonly answersAfterMs?: number;
}

/** What the instances of one identity keep together, as a Secret that is mounted where each of them runs. */
export interface SharedPair {
  pair: AgentPair | undefined;
  /** How often it was replaced. */
  writes: number;
  /** Whether the API server of the member refuses writes. */
  isDown?: boolean;
}

export interface RunningAgent {
  /** What it uses, and what it has kept for its next start. */
  readonly used: () => AgentPair;
  readonly kept: () => AgentPair | undefined;
  /** Calls that were refused because of the certificate or the bundle. */
  readonly refusals: () => number;
  readonly plane: Client;
  readonly logged: readonly string[];
  stop(): Promise<void>;
}

export async function startRenewalWorld({
  answersAfterMs = 0,
}: RenewalWorldOptions = {}): Promise<RenewalWorld> {
  const world = await createWorld({ housekeeping: false });
  const authorities: Authorities = { names: ["ca1"] };
  const signer = createPaperSigner(() => authorities.names[0] ?? "");
  const slow: Pick<Client, "update"> = {
    update: async (resource, object, options) => {
      await sleep(world.clock, answersAfterMs);
      return world.client.update(resource, object, options);
    },
  };
  const ports = {
    ...portsOf(world),
    plane: answersAfterMs === 0 ? world.client : wrapped(world.client, slow),
  };
  run(world, createCertificates(ports, signer));
  await world.client.create(resources.namespaces, namespaceOf("karmada-cluster"));
  const publish = async (): Promise<void> => {
    const kubeconfig = `clusters:\n- name: ""\n  cluster:\n    server: https://plane\n    certificate-authority-data: ${btoa(authorities.names.join("\n"))}\n`;
    const body = { data: { kubeconfig } };
    await world.client.patch(resources.configMaps, CLUSTER_INFO, { type: "merge", body });
  };
  await world.client.create(resources.configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: CLUSTER_INFO,
    data: {},
  });
  await publish();

  let instances = 0;
  const startAgent = async (options: AgentOptions): Promise<RunningAgent> => {
    const { cluster, lifeMs = 24 * 3_600_000, shared, of = "agent", before } = options;
    const now = world.clock.now();
    const identity = of === "agent" ? agentIdentity(cluster) : detectorIdentity(cluster);
    const { commonName: user, organizations: groups } = identity.subject;
    const subject = { user, groups, publicKey: "first" };
    const notBefore = (now - CERTIFICATE_SKEW_MS) as Instant;
    const certificate = signer.sign({ ...subject, notBefore, notAfter: (now + lifeMs) as Instant });
    let pair: AgentPair = shared?.pair ?? {
      certificate,
      key: "first",
      bundle: authorities.names.join("\n"),
    };
    if (shared !== undefined) shared.pair ??= pair;
    instances += 1;
    const instance = `${cluster}-${instances}`;
    let kept: AgentPair | undefined;
    let refusals = 0;
    const logged: string[] = [];
    const check = (): void => {
      if (!pair.bundle.split("\n").includes(authorities.names[0] ?? "")) {
        refusals += 1;
        throw new NotSent("the server's certificate is by an authority that is not trusted");
      }
      const read = readPaperCertificate(pair.certificate);
      const isGood =
        read !== undefined &&
        authorities.names.includes(read.issuer) &&
        // TLS takes no certificate without its key.
        read.publicKey === pair.key &&
        read.notAfter >= world.clock.now();
      if (isGood) return;
      refusals += 1;
      throw new Refused(failure(401, "Unauthorized", "Unauthorized"));
    };
    const plane = heldBefore(
      checked(world.as({ name: user, groups: [...groups, "system:masters"] }), check),
      before,
    );
    const token = world.as({
      name: "system:bootstrap:abcdef",
      groups: [`system:bootstrappers:lifeboat:cluster:${cluster}`, "system:masters"],
    });
    if (of === "agent" && instances === 1)
      await world.client.create(leases, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { namespace: "karmada-cluster", name: cluster },
        spec: {},
      });
    if (options.withToken === true)
      await world.client.create(resources.secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
        type: "bootstrap.kubernetes.io/token",
        stringData: { "token-id": "abcdef" },
      });
    let requests = 0;
    const service = createCertificateRenewal(
      {
        ...portsOf(world, shared === undefined ? cluster : instance),
        log: {
          ...silentLog,
          warn: (text) => logged.push(text),
          error: (text) => logged.push(text),
        },
        plane,
        ...(options.withToken === true ? { bootstrap: token } : {}),
        makeRequest: ({ commonName, organizations }) => {
          requests += 1;
          const key = `${shared === undefined ? cluster : instance}-${requests}`;
          return { request: paperRequest(commonName, organizations, key), key };
        },
        readCertificate: readPaperCertificate,
        isPair: ({ certificate: of, key }) => readPaperCertificate(of)?.publicKey === key,
        save: async (saved) => {
          await before?.("save");
          if (shared?.isDown === true) throw new NotSent("the member is down");
          kept = saved;
          if (shared !== undefined) {
            shared.pair = saved;
            shared.writes += 1;
          }
        },
        ...(shared !== undefined && { kept: () => Promise.resolve(shared.pair) }),
        use: (used) => {
          pair = used;
        },
      },
      {
        cluster,
        of,
        pair,
        ...(options.lookEveryMs === undefined ? {} : { lookEveryMs: options.lookEveryMs }),
      },
    );
    const stop = run(world, [service]);
    return { used: () => pair, kept: () => kept, refusals: () => refusals, plane, logged, stop };
  };
  return { world, authorities, publish, startAgent };
}

function run(world: World, services: readonly Service[]): () => Promise<void> {
  const stop = new AbortController();
  const running = createManager(portsOf(world), services).run(stop.signal);
  return async () => {
    stop.abort();
    await running;
  };
}

function portsOf(world: World, name = "plane"): Parameters<typeof createManager>[0] {
  return {
    clock: world.clock,
    random: world.random.fork(name),
    log: silentLog,
    metrics: silentMetrics,
  };
}

function namespaceOf(name: string): New<AnyObject> {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

/** A client whose writes, and looks for an answer, are held first. */
function heldBefore(client: Client, before: AgentOptions["before"]): Client {
  if (before === undefined) return client;
  return wrapped(client, {
    get: async (resource, key, options) => {
      if (resource.plural === certificateSigningRequests.plural) await before("get");
      return client.get(resource, key, options);
    },
    create: async (resource, object, options) => {
      await before("create");
      return client.create(resource, object, options);
    },
    delete: async (resource, key, options) => {
      await before("delete");
      return client.delete(resource, key, options);
    },
  });
}

/** A client whose every call passes the check first. */
function checked(client: Client, check: () => void): Client {
  const guarded =
    <A extends readonly unknown[], R>(call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      check();
      return call(...given);
    };
  return wrapped(client, {
    get: guarded(client.get.bind(client)),
    list: guarded(client.list.bind(client)),
    create: guarded(client.create.bind(client)),
    update: guarded(client.update.bind(client)),
    patch: guarded(client.patch.bind(client)),
    delete: guarded(client.delete.bind(client)),
  });
}
