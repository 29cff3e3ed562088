/**
 * A whole world from one seed: the product's control plane, members, the network between them, their disks, and time.
 *
 *     const simulation = await createSimulation({ drain }, { seed: 1, members: ["m1", "m2", "m3"] });
 *     await simulation.user(async (plane) => void (await plane.create(…)));
 *     simulation.plane.crash();
 *     await simulation.advance("30s");
 *
 * 1. Only time, chance, disks and the network are simulated; everything else is what the product runs.
 * 2. The same options give the same run, to the byte: `ledger.hash` says so.
 * 3. A life that ended does nothing any more: no timer of it fires, no call of it ends.
 */
import {
  type AnyObject,
  type Cluster,
  clusters,
  isRefused,
  namespaces,
  type New,
  Refused,
  secrets,
} from "@lifeboat/api";
import {
  assert,
  createRandom,
  parseDuration,
  type Random,
  sleep,
  VirtualClock,
} from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { type Client, type Log, NotSent, OutcomeUnknown, silentLog } from "@lifeboat/kit";
import { MEMBER_DEFAULTS, type MemberOptions } from "@lifeboat/members";
import { type ControllersOptions, DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { createUnlessThere, ensureAgentRights } from "@lifeboat/controllers/context";
import { AgentProcess, register } from "./agent-process.ts";
import { BalancerProcess } from "./balancer-process.ts";
import { DETECTOR_PERIOD_MS, DetectorProcess, registerDetectorOf } from "./detector-process.ts";
import { Ledger } from "./disk/ledger.ts";
import { createRecordedDisk, type RecordedDisk } from "./disk/recorded-disk.ts";
import { freshImages, type Images, MEMBER_SERVER } from "./images.ts";
import { MemberCluster } from "./member-cluster.ts";
import { Link } from "./network/link.ts";
import { SimClient } from "./network/sim-client.ts";
import { Witness } from "./oracles/witness.ts";
import { NameServerProcess } from "./name-server-process.ts";
import { PlaneProcess } from "./plane-process.ts";
import type { BesidePorts, ProcessBeside } from "./process-beside.ts";
import { Process } from "./process.ts";
import { WriteCounter } from "./write-counter.ts";

export interface SimulationPorts {
  /** Waits until every promise continuation has run; see `drainPromises` of the base package's adapters. */
  readonly drain: () => Promise<void>;
  readonly log?: Log;
}

export interface SimulationOptions {
  readonly seed: number;
  /** The members that exist from the start; they are joined when the promise resolves. */
  readonly members: readonly string[];
  /** Those of the members that pull: an agent runs beside each. Absent: those that the images say. */
  readonly pull?: readonly string[];
  /** The load balancers that run beside the plane. */
  readonly balancers?: readonly string[];
  /** The instances of detectors, as `m1/a`. */
  readonly detectors?: readonly string[];
  /** A DNS server for federated StatefulSets runs beside the plane. */
  readonly names?: boolean;
  readonly member?: Partial<MemberOptions>;
  readonly controllers?: Partial<ControllersOptions>;
  /** How long a sync of the plane's disk takes. */
  readonly syncDelayMs?: number;
  /** What the disks hold at first; absent: a plane and members that have just been installed. */
  readonly images?: Images;
}

/** What may die and begin another life. */
type Mortal = Pick<PlaneProcess, "running" | "crash" | "start">;

const LEASES = "coordination.k8s.io/leases";
/** How long a user waits before trying again what did not work. */
const RETRY_MS = 1000;
/** What starting may take of simulated time. */
const START_LIMIT_MS = 60_000;

/** Builds a world; its plane runs and its members are joined when the promise resolves. */
export async function createSimulation(
  ports: SimulationPorts,
  options: SimulationOptions,
): Promise<Simulation> {
  const simulation = new Simulation(ports, options, options.images ?? (await freshImages()));
  await simulation.open();
  return simulation;
}

export class Simulation {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly writes = new WriteCounter(() => this.clock.monotonic());
  readonly plane: PlaneProcess;
  readonly witness: Witness;
  readonly planeDisk: RecordedDisk;
  /** Between the controllers and the plane's own API. */
  readonly planeLink: Link;
  readonly members = new Map<string, MemberCluster>();
  /** Of members that pull. */
  readonly agents = new Map<string, AgentProcess>();
  readonly balancers = new Map<string, BalancerProcess>();
  /** By member and node. */
  readonly detectors = new Map<string, DetectorProcess>();
  /** Undefined: this world has none. */
  nameServer: NameServerProcess | undefined;
  readonly options: SimulationOptions;
  readonly #images: Images;
  readonly #log: Log;
  readonly #person: Process;
  /** Between people and the plane; broken by its death alone. */
  readonly #userLink: Link;
  /** What people still have to do, one thing after the other. */
  #orders: Promise<void> = Promise.resolve();
  #openOrders = 0;
  #failedOrders: unknown[] = [];

  constructor(ports: SimulationPorts, options: SimulationOptions, images: Images) {
    this.options = options;
    this.#images = images;
    this.#log = ports.log ?? silentLog;
    this.clock = new VirtualClock(images.takenAt, ports.drain);
    this.random = createRandom(options.seed);
    this.ledger = new Ledger(() => this.clock.monotonic(), images.takenAt);
    this.#person = new Process("user", this.clock);
    this.#userLink = new Link("user", this.random.fork("user link"));
    this.planeLink = new Link("plane", this.random.fork("plane link"));
    this.planeDisk = createRecordedDisk(this.clock, this.random.fork("plane disk"), this.ledger, {
      server: "plane",
      syncDelayMs: options.syncDelayMs ?? 0,
      image: images.plane,
    });
    this.witness = new Witness(() => this.clock.monotonic());
    this.plane = new PlaneProcess({
      clock: this.clock,
      random: this.random.fork("plane"),
      disk: this.planeDisk,
      link: this.planeLink,
      writes: this.writes,
      controllers: { ...DEFAULT_CONTROLLERS, ...options.controllers },
      log: this.#log,
      witness: this.witness,
      connect: (caller) => (access) => {
        const name = new URL(access.endpoint).hostname.split(".")[0] ?? "";
        const member = this.members.get(name);
        const link = member?.link ?? new Link(name, this.random.fork(`no ${name}`));
        const target = (): Client | undefined => this.members.get(name)?.reach(access.token);
        const heard = (path: string, ok: boolean): void =>
          this.witness.heard(name, caller.name, path, ok);
        const client = new SimClient({ caller, link, target, writes: this.writes, heard });
        return { client, close: () => client.close() };
      },
    });
  }

  async open(): Promise<void> {
    this.plane.start();
    for (const name of this.options.members) this.addMember(name);
    const started = await this.clock.advanceUntil(
      () => this.plane.ready && [...this.members.values()].every(({ ready }) => ready),
      START_LIMIT_MS,
    );
    assert(started, "everything starts");
    for (const name of this.options.members)
      if (!this.#images.joined.has(name)) this.join(name);
      else if (this.options.pull !== undefined) this.agents.get(name)?.start();
    if (this.options.pull === undefined) await this.#resumeAgents();
    for (const name of this.options.balancers ?? []) this.#addBalancer(name);
    for (const name of this.options.detectors ?? []) this.#addDetector(name);
    if (this.options.names === true) this.#addNameServer();
    await this.settle();
  }

  /**
   * Starts the agents of members that images of a snapshot say pull, and waits for the first sign of life of each that the plane
   * hears of. Another program may have registered them, so each gets the rights that this product's agent needs.
   */
  async #resumeAgents(): Promise<void> {
    if (this.agents.size === 0) return;
    const heard = [...this.agents].filter(
      ([name]) => this.#images.traits?.get(name)?.hasSilentAgent !== true,
    );
    this.user(async (plane) => {
      await Promise.all([...this.agents.keys()].map((name) => ensureAgentRights(plane, name)));
      for (const agent of this.agents.values()) if (!agent.running) agent.start();
    });
    const hasLease = (name: string): boolean =>
      this.ledger.find("plane", LEASES, `${wellKnown.CLUSTER_NAMESPACE}/${name}`) !== undefined;
    await this.clock.advanceUntil(
      () => this.allOrdersDone && heard.every(([name]) => hasLease(name)),
      START_LIMIT_MS,
    );
    for (const [name, { isSilent }] of this.#images.traits ?? [])
      if (isSilent === true) this.member(name).link.set({ down: true });
  }

  member(name: string): MemberCluster {
    const member = this.members.get(name);
    assert(member !== undefined, "the simulation has the member", { name });
    return member;
  }

  /** A member that exists and is not joined. */
  addMember(name: string): MemberCluster {
    const random = this.random.fork(`member ${name}`);
    const traits = this.#images.traits?.get(name) ?? {};
    const { nodes, gitVersion, isSilent = false, pulls = false, hasSilentAgent = false } = traits;
    const disk = createRecordedDisk(this.clock, random.fork("disk"), this.ledger, {
      server: name,
      syncDelayMs: 0,
      image: this.#images.joined.get(name) ?? this.#images.member,
    });
    const link = new Link(name, random.fork("link"));
    // An agent registers with the help of its member, so that one falls silent after that.
    if (isSilent && !(pulls && this.options.pull === undefined)) link.set({ down: true });
    const member = new MemberCluster({
      name,
      clock: this.clock,
      random,
      disk,
      link,
      log: this.#log,
      options: { ...MEMBER_DEFAULTS, ...this.options.member, ...(nodes && { nodes }) },
      server: { ...MEMBER_SERVER, ...(gitVersion !== undefined && { gitVersion }) },
    });
    this.members.set(name, member);
    if (this.options.pull?.includes(name) ?? pulls) this.#addAgent(member, hasSilentAgent);
    member.start();
    return member;
  }

  #addAgent(member: MemberCluster, isSilent: boolean): void {
    const { name } = member;
    const { controllers } = this.plane;
    const agent = new AgentProcess({
      ...this.#besidePorts(`agent ${name}`),
      member,
      heard: (caller, path, ok) => this.witness.heard(name, caller, path, ok),
      thresholds: {
        failureThresholdMs: controllers.clusterFailureThresholdMs,
        successThresholdMs: controllers.clusterSuccessThresholdMs,
      },
    });
    if (isSilent) agent.link.set({ down: true });
    this.agents.set(name, agent);
  }

  #addBalancer(name: string): void {
    const { witness } = this;
    const balancer = new BalancerProcess({
      ...this.#besidePorts(`balancer ${name}`),
      name,
      witness,
    });
    this.balancers.set(name, balancer);
    balancer.start();
  }

  #addDetector(name: string): void {
    const ports = this.#besidePorts(`detector ${name}`);
    const detector = new DetectorProcess({ ...ports, name, witness: this.witness });
    this.detectors.set(name, detector);
    this.user(async (plane) => {
      await registerDetectorOf(plane, detector.cluster);
      // Nodes start when they start: their periods are not in step.
      await sleep(this.clock, ports.random.below(DETECTOR_PERIOD_MS));
      if (!detector.running) detector.start();
    });
  }

  #addNameServer(): void {
    const { witness } = this;
    this.nameServer = new NameServerProcess({ ...this.#besidePorts("name server"), witness });
    this.nameServer.start();
  }

  /** What a process beside the plane is given: chance and a link of its own. */
  #besidePorts(name: string): BesidePorts {
    const random = this.random.fork(name);
    return {
      clock: this.clock,
      random,
      log: this.#log,
      link: new Link("plane", random.fork("link")),
      plane: {
        clientOf: (user) => this.plane.clientOf(user),
        standsStillFor: () => this.plane.standsStillFor,
      },
      writes: this.writes.beside,
    };
  }

  /** All that runs beside the plane and reaches it over a link of its own. */
  beside(): readonly ProcessBeside[] {
    const { agents, balancers, detectors, nameServer } = this;
    const servers = nameServer === undefined ? [] : [nameServer];
    return [...agents.values(), ...balancers.values(), ...detectors.values(), ...servers];
  }

  /** Between the plane and a member: what cuts the member off. */
  wayTo(name: string): Link {
    return this.agents.get(name)?.link ?? this.member(name).link;
  }

  /** A person joins a member, or registers it. */
  join(name: string): void {
    const member = this.member(name);
    const { token } = member;
    const agent = this.agents.get(name);
    if (agent !== undefined) return this.user((plane) => register(plane, member, agent));
    this.user(async (plane) => {
      await createUnlessThere(plane, namespaces, newNamespace(wellKnown.CLUSTER_NAMESPACE));
      await createUnlessThere(plane, secrets, newSecret(name, token));
      await createUnlessThere(plane, clusters, newCluster(name));
    });
  }

  /**
   * Lets a person do something, after everything ordered before. It is done again from its start until it works, so it
   * has to be such that doing it twice is doing it once. Refusals other than by overload count as done, and are kept.
   */
  user(act: (plane: Client) => Promise<void>): void {
    this.#openOrders += 1;
    this.#orders = this.#orders.then(async () => {
      await this.#insist(act);
      this.#openOrders -= 1;
    });
  }

  /** Nobody waits for anything to be done. */
  get allOrdersDone(): boolean {
    return this.#openOrders === 0;
  }

  /** What people were refused. */
  get refusedOrders(): readonly unknown[] {
    return this.#failedOrders;
  }

  /** What somebody was told had been written, and is on no disk. */
  lostAcknowledgements(): readonly string[] {
    return this.writes.acknowledged
      .filter(({ to, revision }) => !this.ledger.has(to === "user" ? "plane" : to, revision))
      .map(({ verb, what, revision }) => `${verb} ${what} was answered with ${revision}`);
  }

  /** The plane dies now and comes back after a while; `whileDown` happens in between. */
  crashPlane(downForMs: number, whileDown?: () => void): void {
    this.crash(this.plane, downForMs, () => {
      whileDown?.();
      this.#userLink.reset("the plane died");
      for (const { link } of this.beside()) link.reset("the plane died");
    });
  }

  /** A person starts the plane anew with other options. */
  restartPlane(controllers: Partial<ControllersOptions>): void {
    this.plane.controllers = { ...this.plane.controllers, ...controllers };
    this.crashPlane(RETRY_MS);
  }

  /** A member, or a process beside the plane, dies now and comes back after a while; `whileDown` happens in between. */
  crash(process: Mortal | undefined, downForMs: number, whileDown?: () => void): void {
    if (process?.running !== true) return;
    process.crash();
    whileDown?.();
    this.clock.after(downForMs, () => {
      if (!process.running) process.start();
    });
  }

  async advance(time: number | string): Promise<void> {
    const milliseconds = typeof time === "number" ? time : parseDuration(time);
    assert(milliseconds !== undefined, "a duration such as 30s", { time });
    await this.clock.advance(milliseconds);
  }

  settle(): Promise<void> {
    return this.clock.settle();
  }

  async #insist(act: (plane: Client) => Promise<void>): Promise<void> {
    for (;;) {
      const client = new SimClient({
        caller: this.#person,
        link: this.#userLink,
        target: () => this.plane.admin,
        standsStill: () => this.plane.standsStillFor,
        writes: {
          before: () => undefined,
          after: (write, answer) => this.writes.acknowledge(write, answer),
        },
      });
      try {
        await act(client);
        return;
      } catch (error) {
        if (isFinal(error)) {
          this.#failedOrders.push(error);
          return;
        }
      }
      await sleep(this.clock, RETRY_MS);
    }
  }
}

/** Whether trying again would not help. */
function isFinal(error: unknown): boolean {
  if (error instanceof NotSent || error instanceof OutcomeUnknown) return false;
  if (isRefused(error, "Conflict") || isRefused(error, "TooManyRequests")) return false;
  return !(error instanceof Refused) || error.status.code < 500;
}

function newNamespace(name: string): New<AnyObject> {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

/** What lets the plane into a member. */
export function newSecret(name: string, token: string): New<AnyObject> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: wellKnown.CLUSTER_NAMESPACE,
      annotations: { [wellKnown.API_ENDPOINT]: endpointOf(name) },
    },
    type: "Opaque",
    data: { token: btoa(token) },
  };
}

function newCluster(name: string): New<Cluster> {
  return {
    apiVersion: `${clusters.group}/${clusters.version}`,
    kind: clusters.kind,
    metadata: { name },
    spec: {
      syncMode: "Push",
      apiEndpoint: endpointOf(name),
      secretRef: { namespace: wellKnown.CLUSTER_NAMESPACE, name },
    },
  };
}

/** Where the member of this name is found. */
export function endpointOf(name: string): string {
  return `https://${name}.test:6443`;
}
