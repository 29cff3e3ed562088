/**
 * A fleet: a control plane and its members in one process, on one virtual clock, with a network between them.
 *
 *     const fleet = await createFleet({ members: ["m1", "m2"], services: (context) => [createSomething(context)] });
 *     await fleet.plane.create(deployments, …);
 *     await fleet.advance("5s");
 *     expect(await fleet.member("m1").client.get(deployments, …)).toMatchObject(…);
 *
 * 1. API servers, controllers and the model of what runs in members are the real ones; only time, disk and network are not.
 * 2. Controllers reach a member only through its link, by the token that its Secret holds; `member(…).client` is the
 *    test's own way in, which nothing disturbs.
 * 3. The same seed gives the same run.
 */
import { type AnyObject, type Cluster, clusters, isRefused } from "@lifeboat/api";
import {
  type ApiServer,
  createMemoryStorage,
  type MemoryStorage,
  type User,
} from "@lifeboat/apiserver";
import { assert, createRandom, createSeededIds, type Random, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import type { PlaneContext } from "@lifeboat/controllers/context";
import {
  type Client,
  createManager,
  type KitPorts,
  type Metrics,
  type Service,
  silentLog,
  silentMetrics,
} from "@lifeboat/kit";
import {
  createMemberModel,
  MEMBER_DEFAULTS,
  type MemberModel,
  type MemberOptions,
} from "@lifeboat/members";
import {
  type ControlPlane,
  CONTROLLERS_USER,
  createControlPlane,
  createPlaneContext,
  type PlaneContextPorts,
  type RunningContext,
} from "@lifeboat/plane";
import { type Link, linked, openLink } from "./link.ts";
import { newCluster, newClusterSecret, newNamespace } from "./fleet-objects.ts";
import { resources } from "./objects.ts";
import { recordedRights } from "./recorded-rights.ts";
import { advanceBy, createWorld, START_TIME, type World } from "./world.ts";

export interface FleetOptions {
  /** 1 when absent. */
  readonly seed?: number;
  /** The members that exist and are joined from the start. */
  readonly members?: readonly string[];
  /** What runs on the control plane beside its API server, informers, templates and connections. */
  readonly services?: (context: PlaneContext) => readonly Service[];
  readonly member?: Partial<MemberOptions>;
  /** false: nothing runs in members but their API server. */
  readonly memberModel?: boolean;
  readonly interpretation?: PlaneContextPorts["interpretation"];
  /** Where the control plane counts; nowhere when absent. */
  readonly metrics?: Metrics;
}

export interface FleetMember {
  readonly name: string;
  /** A way in that no fault disturbs. */
  readonly client: Client;
  readonly world: World;
  readonly model: MemberModel;
  /** How the control plane reaches it. */
  readonly link: Link;
  /** The token that is taken from now on. */
  setToken(token: string): void;
}

export interface Fleet {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** A client of the present control plane that may do everything. */
  readonly plane: Client;
  readonly server: ApiServer;
  /** Of the present controllers; another one after `restart`. */
  readonly context: PlaneContext;
  member(name: string): FleetMember;
  /** A member that exists and is not joined. */
  addMember(name: string): Promise<FleetMember>;
  /** Makes the Secret and the Cluster of a member, as joining does. */
  join(name: string, cluster?: Partial<Cluster["spec"]>): Promise<Cluster>;
  advance(time: number | string): Promise<void>;
  settle(): Promise<void>;
  /** The control plane dies, with its controllers, and starts again on the same disk. Members go on. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const ADMIN: User = { name: "admin", groups: ["system:masters", "system:authenticated"] };

/** Builds a fleet; its control plane runs and its members are joined when the promise resolves. */
export async function createFleet(options: FleetOptions = {}): Promise<Fleet> {
  const fleet = new RunningFleet(options);
  await fleet.open();
  for (const name of options.members ?? []) {
    await fleet.addMember(name);
    await fleet.join(name);
  }
  await fleet.settle();
  return fleet;
}

interface RunningPlane {
  readonly controlPlane: ControlPlane;
  readonly plane: Client;
  readonly context: PlaneContext;
  readonly stop: AbortController;
}

class RunningFleet implements Fleet {
  readonly clock = new VirtualClock(START_TIME, drainPromises);
  readonly random: Random;
  readonly #options: FleetOptions;
  readonly #members = new Map<string, FleetMember>();
  /** One for each member: Node takes many listeners to one signal for a leak. */
  readonly #memberStops: AbortController[] = [];
  #storage: MemoryStorage;
  #generation = 0;
  #open: RunningPlane | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.random = createRandom(options.seed ?? 1);
    this.#storage = createMemoryStorage(this.clock, { syncDelayMs: 0 });
  }

  get #running(): RunningPlane {
    assert(this.#open !== undefined, "the control plane runs");
    return this.#open;
  }

  get plane(): Client {
    return this.#running.plane;
  }

  get server(): ApiServer {
    return this.#running.controlPlane.server;
  }

  get context(): PlaneContext {
    return this.#running.context;
  }

  member(name: string): FleetMember {
    const member = this.#members.get(name);
    assert(member !== undefined, "the fleet has the member", { name });
    return member;
  }

  async open(): Promise<void> {
    const random = this.random.fork(`plane-${this.#generation}`);
    const ids = createSeededIds(random.fork("ids"));
    const { metrics = silentMetrics } = this.#options;
    const ports = { clock: this.clock, random, ids, log: silentLog, metrics };
    const controlPlane = await createControlPlane(
      { ...ports, storage: this.#storage },
      { version: "0.1.0", tokens: new Map() },
    );
    const plane = recordedRights(controlPlane.server.client(CONTROLLERS_USER));
    const { context, services } = this.#contextOf(ports, plane);
    const own = this.#options.services?.(context) ?? [];
    const stop = new AbortController();
    this.#open = { controlPlane, plane: controlPlane.server.client(ADMIN), context, stop };
    void controlPlane.run(stop.signal);
    void createManager(ports, [...services, ...own]).run(stop.signal);
    await this.clock.settle();
  }

  /** What controllers share, over links that only this generation of the control plane can use. */
  #contextOf(
    ports: KitPorts & { readonly ids: PlaneContext["ids"] },
    plane: Client,
  ): RunningContext {
    const generation = this.#generation;
    const isAlive = (): boolean => generation === this.#generation;
    const { interpretation } = this.#options;
    return createPlaneContext(
      {
        ...ports,
        instance: "test",
        ...(interpretation === undefined ? {} : { interpretation }),
        connect: (access) => {
          const { hostname } = new URL(access.endpoint);
          const member = this.#members.get(hostname.split(".")[0] ?? "");
          return linked(this.clock, member?.link, access.token, isAlive);
        },
      },
      plane,
    );
  }

  async addMember(name: string): Promise<FleetMember> {
    const world = await createWorld({
      clock: this.clock,
      seed: this.random.fork(name).below(2 ** 31),
    });
    const ports = {
      clock: this.clock,
      random: this.random.fork(`model ${name}`),
      log: silentLog,
      metrics: silentMetrics,
    };
    const model = createMemberModel(ports, world.client, {
      ...MEMBER_DEFAULTS,
      ...this.#options.member,
    });
    const link = openLink(() => world.client, `${name}-token`);
    const member: FleetMember = {
      name,
      get client() {
        return world.client;
      },
      world,
      model,
      link,
      setToken: (token) => link.setToken(token),
    };
    this.#members.set(name, member);
    await world.client
      .create(resources.namespaces, newNamespace("kube-system"))
      .catch(ignoreExisting);
    const stop = new AbortController();
    this.#memberStops.push(stop);
    if (this.#options.memberModel !== false) void model.run(stop.signal);
    await this.clock.settle();
    return member;
  }

  async join(name: string, spec: Partial<Cluster["spec"]> = {}): Promise<Cluster> {
    const { plane } = this;
    await plane.create(resources.namespaces, newNamespace("karmada-cluster")).catch(ignoreExisting);
    await plane.create(resources.secrets, newClusterSecret(name, `${name}-token`));
    return plane.create(clusters, newCluster(name, spec));
  }

  advance(time: number | string): Promise<void> {
    return advanceBy(this.clock, time);
  }

  settle(): Promise<void> {
    return this.clock.settle();
  }

  async restart(): Promise<void> {
    this.#generation += 1;
    this.#storage.crash({
      lose: "unsynced",
      random: this.random.fork(`crash-${this.#generation}`),
    });
    this.#running.stop.abort();
    this.#storage = this.#storage.reopen();
    await this.open();
  }

  async close(): Promise<void> {
    for (const stop of this.#memberStops) stop.abort();
    this.#running.stop.abort();
    await this.#running.controlPlane.close();
    for (const { world } of this.#members.values()) await world.close();
  }
}

function ignoreExisting(error: unknown): AnyObject | undefined {
  if (isRefused(error, "AlreadyExists")) return undefined;
  throw error;
}
