/**
 * A test world: the real API server in process, on a virtual clock and a simulated disk.
 *
 *     const world = await createWorld();
 *     await world.client.create(configMaps, …);
 *     await world.advance("30s");
 *
 * 1. The same seed gives the same run: uids, generated names, timeouts.
 * 2. Time moves only by `advance`. `restart` is a crash: what was not synced is lost by chance, what was acknowledged
 *    is not, and everything that the dead server still had to say is never heard.
 */
import {
  assert,
  createRandom,
  createSeededIds,
  type Instant,
  instantOf,
  parseDuration,
  type Random,
  VirtualClock,
} from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import {
  type AdmissionPlugin,
  allowMasters,
  type ApiServer,
  type Authorizer,
  type Auditor,
  createApiServer,
  createMemoryStorage,
  type MemberProxy,
  type PodStreams,
  type MemoryStorage,
  type TokenCrypto,
  type User,
} from "@lifeboat/apiserver";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";

export interface WorldOptions {
  /** A clock shared with other worlds; absent: one of its own. */
  readonly clock?: VirtualClock;
  /** 1 when absent. */
  readonly seed?: number;
  /** Where the server keeps its objects; absent: a fresh disk that syncs at once. */
  readonly storage?: MemoryStorage;
  /** Whether the server's housekeeping runs; true when absent. */
  readonly housekeeping?: boolean;
  /** Who may do what; absent: masters may everything. */
  readonly authorizer?: Authorizer | "RBAC";
  readonly tokens?: ReadonlyMap<string, User>;
  /** Whether `/readyz` fails while the disk is full; false when absent, as for members. */
  readonly unreadyWhenFull?: boolean;
  /** After the server's own; none when absent. */
  readonly admissionPlugins?: readonly AdmissionPlugin[];
  /** How many changes watches can resume from. */
  readonly historyMaxEvents?: number;
  /** Records requests; absent: nothing is recorded. */
  readonly auditor?: Auditor;
  /** Lets others have their turn while a large body is decoded; absent: it is decoded at once. */
  readonly nextTurn?: () => Promise<void>;
  /** Absent: the server issues no tokens. */
  readonly tokenCrypto?: TokenCrypto;
  /** The way into members; absent: there are none. */
  readonly members?: MemberProxy;
  /** Commands in pods; absent: there are none. */
  readonly podStreams?: PodStreams;
}

export interface World {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** The server that runs now; another one after `restart`. */
  readonly server: ApiServer;
  /** A client of the present server that may do everything. */
  readonly client: Client;
  readonly storage: MemoryStorage;
  /** A client of the present server for somebody else. */
  as(user: User): Client;
  /** Lets time pass: milliseconds, or a text such as `30s`. */
  advance(time: number | string): Promise<void>;
  /** Lets everything run that needs no time. */
  settle(): Promise<void>;
  /** The server dies and a new one opens the same disk. Old clients stay without answer. */
  restart(): Promise<void>;
  /** Ends the server in order. */
  close(): Promise<void>;
}

/** When every test begins. */
export const START_TIME: Instant = instantOf(Date.UTC(2026, 0, 1));
const MASTER: User = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const HISTORY_MAX_EVENTS = 50_000;
const HISTORY_MAX_BYTES = 128 * 1024 * 1024;

/** Builds a world; its server is ready when the promise resolves. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = options.clock ?? new VirtualClock(START_TIME, drainPromises);
  const random = createRandom(options.seed ?? 1);
  const storage = options.storage ?? createMemoryStorage(clock, { syncDelayMs: 0 });
  const world = new RunningWorld(clock, random, storage, options);
  await world.open();
  return world;
}

class RunningWorld implements World {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly #options: WorldOptions;
  #storage: MemoryStorage;
  #server: ApiServer | undefined;
  #client: Client | undefined;
  #housekeeping = new AbortController();
  #generation = 0;

  constructor(clock: VirtualClock, random: Random, storage: MemoryStorage, options: WorldOptions) {
    this.clock = clock;
    this.random = random;
    this.#storage = storage;
    this.#options = options;
  }

  get server(): ApiServer {
    assert(this.#server !== undefined, "the world has a server");
    return this.#server;
  }

  get client(): Client {
    assert(this.#client !== undefined, "the world has a client");
    return this.#client;
  }

  get storage(): MemoryStorage {
    return this.#storage;
  }

  async open(): Promise<void> {
    const random = this.random.fork(`server-${this.#generation}`);
    this.#server = await createApiServer(
      {
        clock: this.clock,
        random,
        ids: createSeededIds(random.fork("ids")),
        log: silentLog,
        metrics: silentMetrics,
        storage: this.#storage,
        ...(this.#options.nextTurn === undefined ? {} : { nextTurn: this.#options.nextTurn }),
        ...(this.#options.tokenCrypto && { tokenCrypto: this.#options.tokenCrypto }),
      },
      {
        gitVersion: "v1.36.4+lifeboat.0.1.0",
        tokens: this.#options.tokens ?? new Map(),
        authorizer: this.#options.authorizer ?? allowMasters,
        admissionPlugins: this.#options.admissionPlugins ?? [],
        historyMaxEvents: this.#options.historyMaxEvents ?? HISTORY_MAX_EVENTS,
        historyMaxBytes: HISTORY_MAX_BYTES,
        unreadyWhenFull: this.#options.unreadyWhenFull ?? false,
        auditor: this.#options.auditor,
        ...(this.#options.members === undefined ? {} : { members: this.#options.members }),
        ...(this.#options.podStreams === undefined ? {} : { podStreams: this.#options.podStreams }),
      },
    );
    this.#client = this.#server.client(MASTER);
    this.#housekeeping = new AbortController();
    if (this.#options.housekeeping === false) return;
    void this.#server.run(this.#housekeeping.signal);
    await this.clock.settle();
  }

  as(user: User): Client {
    return this.server.client(user);
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
    this.#housekeeping.abort();
    this.#storage = this.#storage.reopen();
    await this.open();
  }

  async close(): Promise<void> {
    this.#housekeeping.abort();
    await this.server.close();
  }
}

/** Lets time pass on a clock: milliseconds, or a text such as `30s`. */
export async function advanceBy(clock: VirtualClock, time: number | string): Promise<void> {
  const milliseconds = typeof time === "number" ? time : parseDuration(time);
  assert(milliseconds !== undefined, "a duration such as 30s", { time });
  await clock.advance(milliseconds);
}
