/**
 * Renews the certificate of one cluster's agent or detector while it runs, and follows the authorities of the control plane.
 *
 *   after 70 to 80 % of its life          a new key, a request under its own name, the new certificate
 *   every minute                          the CA bundle of `kube-public/cluster-info`, which may hold the next authority
 *   when the certificate is refused       the bootstrap token, where one is configured; else a line in the log with what to do
 *
 * 1. A new pair is kept before it is used: an agent that dies between the two starts with a pair that is good.
 * 2. A bundle that is fetched replaces the one of before only through a connection that the latter has verified. What another instance
 *    fetched so and kept counts as well.
 * 3. Several instances may share one identity and what is kept (replicas of an agent, a detector on every node): one that finds a
 *    certificate kept that is not older than its own uses it and asks for none. They also share the name of the request. So each takes
 *    the answer to the request that it made itself and to no other, and replaces that of another only when its maker has had the time
 *    to take the answer. No certificate is ever kept or used with a key that is not its own.
 * 4. On its Lease the agent reports which bundle it trusts, so that the old authority is not taken away too early.
 * 5. Nothing here ends the process: what fails is tried again after a pause, and what runs keeps running.
 */
import {
  type AnyObject,
  certificateSigningRequests,
  configMaps,
  decodeYaml,
  isRefused,
  type JsonObject,
  leases,
  type New,
  orNothing,
} from "@lifeboat/api";
import { addMs, type Instant, sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import {
  AGENT_CERTIFICATE_MS,
  CA_BUNDLE,
  CERTIFICATE_SKEW_MS,
  CLIENT_CERTIFICATE_MS,
  bundleMark,
  decideRenewal,
  type Life,
} from "@lifeboat/core/clusters/certificates";
import {
  agentIdentity,
  CLIENT_SIGNER,
  detectorIdentity,
  type RenewedIdentity,
} from "@lifeboat/core/clusters/rights";
import type { Client, KitPorts, Service } from "@lifeboat/kit";

/** What an agent or a detector presents to the control plane, and what it trusts; all PEM. */
export interface AgentPair {
  readonly certificate: string;
  readonly key: string;
  /** The authorities of the control plane, one after the other. */
  readonly bundle: string;
}

export interface CertificateRenewalPorts extends KitPorts {
  /** The control plane, by the pair in use. */
  readonly plane: Client;
  /** The control plane, by the bootstrap token; absent: none is configured. */
  readonly bootstrap?: Client;
  /** A new key, and the request for its certificate. */
  makeRequest(subject: {
    readonly commonName: string;
    readonly organizations: readonly string[];
  }): { readonly request: string; readonly key: string };
  /** Whose a certificate is, and when it begins and ends; undefined when it is none. */
  readCertificate(certificate: string): (Life & { readonly user: string }) | undefined;
  /** Whether the certificate is of this key. */
  isPair(pair: { readonly certificate: string; readonly key: string }): boolean;
  /** Keeps a pair for the next start. */
  save(pair: AgentPair): Promise<void>;
  /** What is kept by now, where others keep it as well; undefined: nothing that can be read. */
  kept?(): Promise<AgentPair | undefined>;
  /** From now on new connections use this pair. */
  use(pair: AgentPair): void;
}

export interface CertificateRenewalOptions {
  readonly cluster: string;
  /** Whose certificate it is; an agent's when absent. */
  readonly of?: "agent" | "detector";
  /** The pair that it has started with. */
  readonly pair: AgentPair;
  /** How often the CA bundle is fetched; a minute when absent. */
  readonly lookEveryMs?: number;
}

const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" };
const LOOK_EVERY_MS = 60_000;
/** The longest time until what failed is tried again. */
const LONGEST_PAUSE_MS = 60_000;
const FIRST_PAUSE_MS = 5000;
/** How long an answer to a request is waited for. */
const ANSWER_MS = 60_000;
const POLL_MS = 1000;
/** The shortest life that can be asked for. */
const SHORTEST_MS = 600_000;

/** Builds the service. */
export function createCertificateRenewal(
  ports: CertificateRenewalPorts,
  options: CertificateRenewalOptions,
): Service {
  return {
    name: "certificate-renewal",
    run: (signal) => new Renewal(ports, options).run(signal),
  };
}

class Renewal {
  readonly #ports: CertificateRenewalPorts;
  readonly #cluster: string;
  readonly #of: "agent" | "detector";
  readonly #identity: RenewedIdentity;
  readonly #lookEveryMs: number;
  #pair: AgentPair;
  /** Drawn once per certificate. */
  #chance: number;
  #reported = "";
  #failures = 0;
  /** Until it is answered the same key asks again: a bootstrap token is good for one key. */
  #asked: { readonly request: string; readonly key: string } | undefined;
  /** Issued and not kept yet: while it cannot be kept, no other is asked for. */
  #issued: Omit<AgentPair, "bundle"> | undefined;
  /** The bundles that the control plane has published another one after. */
  readonly #left = new Set<string>();
  /** The request that this instance made last. */
  #made: string | undefined;
  /** A request in the same name that another instance made, and when it was first found. */
  #another: { readonly uid: string | undefined; readonly since: Instant } | undefined;

  constructor(ports: CertificateRenewalPorts, options: CertificateRenewalOptions) {
    this.#ports = ports;
    this.#cluster = options.cluster;
    this.#of = options.of ?? "agent";
    this.#identity =
      this.#of === "agent" ? agentIdentity(this.#cluster) : detectorIdentity(this.#cluster);
    this.#pair = options.pair;
    this.#lookEveryMs = options.lookEveryMs ?? LOOK_EVERY_MS;
    this.#chance = ports.random.next();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#ports;
    let wait = 0;
    while (await sleep(clock, wait, signal)) {
      try {
        await this.#look(signal);
        this.#failures = 0;
        wait = this.#untilNext(clock.now());
      } catch (error) {
        if (signal.aborted) return;
        wait = this.#pause();
        log.warn(`looking after the ${this.#of}'s certificate failed, trying again`, {
          cluster: this.#cluster,
          error,
        });
      }
    }
  }

  #pause(): number {
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    return Math.floor(pause * (0.5 + this.#ports.random.next() / 2));
  }

  #untilNext(now: Instant): number {
    return Math.max(POLL_MS, Math.min(this.#lookEveryMs, this.#due() - now));
  }

  #due(): Instant {
    const life = this.#ports.readCertificate(this.#pair.certificate);
    return life === undefined ? this.#ports.clock.now() : decideRenewal(life, this.#chance);
  }

  async #look(signal: AbortSignal): Promise<void> {
    await this.#adopt();
    try {
      if (this.#due() <= this.#ports.clock.now())
        await this.#renewBy(this.#ports.plane, this.#identity.requestName, signal);
      await this.#followBundle(signal);
    } catch (error) {
      if (!isRefused(error, "Unauthorized")) throw error;
      await this.#bootstrap(error, signal);
    }
  }

  /** Uses what another instance has kept: a certificate of this identity that is not older, and the bundle that it has followed. */
  async #adopt(): Promise<void> {
    const kept = await this.#ports.kept?.();
    if (kept === undefined) return;
    const isOther = kept.certificate !== this.#pair.certificate;
    const { certificate, key } = isOther && this.#isOfUse(kept) ? kept : this.#pair;
    // What is read back may be older than what was kept: files that are mounted follow late.
    const bundle = this.#left.has(kept.bundle) ? this.#pair.bundle : kept.bundle;
    if (certificate === this.#pair.certificate && bundle === this.#pair.bundle) return;
    if (certificate !== this.#pair.certificate) {
      this.#ports.log.info("a newer certificate was kept by another instance", {
        cluster: this.#cluster,
      });
      this.#asked = undefined;
      this.#issued = undefined;
      this.#another = undefined;
      this.#chance = this.#ports.random.next();
    }
    this.#pair = { certificate, key, bundle };
    this.#ports.use(this.#pair);
  }

  #isOfUse(kept: AgentPair): boolean {
    const found = this.#ports.readCertificate(kept.certificate);
    const own = this.#ports.readCertificate(this.#pair.certificate);
    return (
      found?.user === this.#identity.subject.commonName &&
      this.#ports.isPair(kept) &&
      (own === undefined || !isOlder(found, own))
    );
  }

  /** Takes over the bundle that the control plane publishes, and reports it on the Lease. */
  async #followBundle(signal: AbortSignal): Promise<void> {
    const { plane } = this.#ports;
    const info = await orNothing(plane.get(configMaps, CLUSTER_INFO, { signal }));
    const bundle = bundleOf(info);
    if (bundle !== undefined && bundle !== this.#pair.bundle) {
      const before = this.#pair.bundle;
      await this.#take({ ...this.#pair, bundle });
      this.#left.add(before);
      this.#left.delete(bundle);
    }
    // A detector has no Lease that a rotation of the authorities waits for.
    if (this.#of !== "agent") return;
    const mark = bundleMark(this.#pair.bundle);
    if (mark === this.#reported) return;
    const key = { namespace: wellKnown.CLUSTER_NAMESPACE, name: this.#cluster };
    const body = { metadata: { annotations: { [CA_BUNDLE]: mark } } };
    const lease = await orNothing(plane.patch(leases, key, { type: "merge", body }, { signal }));
    // Without a Lease nothing is reported yet: the agent makes it after its first status.
    if (lease !== undefined) this.#reported = mark;
  }

  async #renewBy(client: Client, name: string | undefined, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    if (this.#issued !== undefined) return this.#takeIssued(this.#issued);
    this.#asked ??= this.#ports.makeRequest(this.#identity.subject);
    const { request, key } = this.#asked;
    if (name !== undefined && !(await this.#makeRoom(client, name, signal))) return;
    const made = await client.create(certificateSigningRequests, this.#newRequest(name, request), {
      signal,
    });
    this.#made = made.metadata.uid;
    const until = addMs(clock.now(), ANSWER_MS);
    for (;;) {
      const answered = await orNothing(
        client.get(
          certificateSigningRequests,
          { namespace: "", name: made.metadata.name },
          { signal },
        ),
      );
      // Another instance has asked in its place: what it gets will be kept.
      if (answered?.metadata.uid !== this.#made) return;
      const certificate = certificateOf(answered);
      if (certificate !== undefined) {
        if (this.#ports.readCertificate(certificate) === undefined)
          throw new Error("the control plane issued a certificate that cannot be read");
        if (!this.#ports.isPair({ certificate, key }))
          throw new Error(
            "the control plane issued a certificate that is not of the key that asked",
          );
        this.#issued = { certificate, key };
        this.#asked = undefined;
        return this.#takeIssued(this.#issued);
      }
      if (clock.now() >= until)
        throw new Error(
          `the certificate request ${made.metadata.name} is not answered yet: approve it (kubectl certificate approve), or see what the control plane's controllers do`,
        );
      if (!(await sleep(clock, POLL_MS, signal))) return;
    }
  }

  /** Whether the name of the request is free. What another instance asks for is left to it until it has had the time to take it. */
  async #makeRoom(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
    const now = this.#ports.clock.now();
    const key = { namespace: "", name };
    const found = await orNothing(client.get(certificateSigningRequests, key, { signal }));
    if (found === undefined) return true;
    const { uid } = found.metadata;
    if (this.#another?.uid !== uid) this.#another = { uid, since: now };
    const isOver = this.#isOwn(found) || now - this.#another.since >= ANSWER_MS;
    if (!isOver) return false;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await orNothing(client.delete(certificateSigningRequests, key, { ...preconditions, signal }));
    return true;
  }

  /** Whether no other instance waits for the answer to a request: this one made it, or has what it brought, or it was refused. */
  #isOwn(found: AnyObject): boolean {
    if (this.#made !== undefined && found.metadata.uid === this.#made) return true;
    return refusalOf(found) !== undefined || issuedBy(found) === this.#pair.certificate;
  }

  #newRequest(name: string | undefined, request: string): New<AnyObject> {
    return {
      apiVersion: "certificates.k8s.io/v1",
      kind: certificateSigningRequests.kind,
      metadata: name === undefined ? { generateName: `register-${this.#cluster}-` } : { name },
      spec: {
        request: btoa(request),
        signerName: CLIENT_SIGNER,
        usages: ["digital signature", "key encipherment", "client auth"],
        expirationSeconds: this.#lifeSeconds(),
      },
    };
  }

  /** A person decided how long the certificate of a detector lives: the next one lives as long. */
  #lifeSeconds(): number {
    const life = this.#ports.readCertificate(this.#pair.certificate);
    if (this.#of === "agent" || life === undefined) return AGENT_CERTIFICATE_MS / 1000;
    const ms = life.notAfter - life.notBefore - CERTIFICATE_SKEW_MS;
    return Math.floor(Math.min(CLIENT_CERTIFICATE_MS, Math.max(SHORTEST_MS, ms)) / 1000);
  }

  async #bootstrap(refusal: unknown, signal: AbortSignal): Promise<void> {
    const { bootstrap, log } = this.#ports;
    const cluster = this.#cluster;
    if (bootstrap === undefined) {
      const remedy =
        this.#of === "agent"
          ? `no bootstrap token is configured; make one there (lifeboat token create --cluster ${cluster}) and register this cluster again with it (lifeboat register)`
          : `another one is made by lifeboat register --detector ${cluster}`;
      log.error(
        `the control plane refuses the certificate of this ${this.#of}: it has ended or was revoked, and ${remedy}`,
        { cluster },
      );
      throw refusal;
    }
    log.warn(
      "the control plane refuses the certificate of this agent: asking by the bootstrap token",
      {
        cluster,
      },
    );
    await this.#renewBy(bootstrap, undefined, signal);
  }

  async #takeIssued(issued: Omit<AgentPair, "bundle">): Promise<void> {
    await this.#take({ ...issued, bundle: this.#pair.bundle });
    this.#issued = undefined;
    this.#chance = this.#ports.random.next();
  }

  async #take(pair: AgentPair): Promise<void> {
    await this.#ports.save(pair);
    this.#pair = pair;
    this.#ports.use(pair);
  }
}

/** By when it was issued, then by its end. */
function isOlder(a: Life, b: Life): boolean {
  return a.notBefore < b.notBefore || (a.notBefore === b.notBefore && a.notAfter < b.notAfter);
}

/** The bundle in the kubeconfig of cluster-info; undefined where there is none that can be read. */
function bundleOf(info: AnyObject | undefined): string | undefined {
  const text = (info?.["data"] as { readonly kubeconfig?: unknown } | undefined)?.kubeconfig;
  if (typeof text !== "string") return undefined;
  // Clusters have no name there, so it is read as the document that it is.
  const { clusters = [] } = (decodeYaml(text).value ?? {}) as {
    readonly clusters?: readonly { readonly cluster?: JsonObject }[];
  };
  const authority = clusters[0]?.cluster?.["certificate-authority-data"];
  return typeof authority === "string" && authority !== "" ? atob(authority) : undefined;
}

interface RequestCondition {
  readonly type: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The certificate of an answered request; throws with reason and message when it was refused. */
function certificateOf(request: AnyObject): string | undefined {
  const refused = refusalOf(request);
  if (refused !== undefined) {
    const { reason = "", message = "" } = refused;
    throw new Error(`the certificate request was refused: ${reason}: ${message}`);
  }
  return issuedBy(request);
}

function refusalOf(request: AnyObject): RequestCondition | undefined {
  const { conditions = [] } = (request["status"] ?? {}) as {
    readonly conditions?: readonly RequestCondition[];
  };
  return conditions.find(({ type }) => type === "Denied" || type === "Failed");
}

function issuedBy(request: AnyObject): string | undefined {
  const { certificate } = (request["status"] ?? {}) as { readonly certificate?: unknown };
  return typeof certificate === "string" && certificate !== "" ? atob(certificate) : undefined;
}
