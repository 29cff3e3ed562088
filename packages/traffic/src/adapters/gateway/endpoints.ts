/**
 * The backends as the gateway uses them: a connection pool and a state of health for each address, shared by all pools that send
 * requests there.
 *
 * 1. A new address is probed once before it gets requests, as long as another one serves.
 * 2. One that cannot be connected to is left out for a pause that grows, and comes back after a probe that succeeds. When no
 *    address of a pool is well, all are tried.
 *    Before that, those that drain and take connections are: a substitute that is well for the control plane may be out of reach here.
 * 3. When no pool sends requests to an address any more, its idle connections are closed; those under way end first.
 */
import { Agent } from "node:http";
import { connect, type LookupFunction } from "node:net";
import type { Backend, Pool } from "@lifeboat/core/traffic";
import type { Cancel, Clock } from "@lifeboat/base";
import { nextOf, type Weighted } from "../../gateway/balance.ts";
import type { Leaving } from "../../provider.ts";

/** Shorter than the five seconds after which many servers close idle connections. */
const IDLE_MS = 4000;
const MAX_IDLE = 256;
const PROBE_TIMEOUT_MS = 2000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

export type Health = "unconfirmed" | "up" | "down";

/** One address. */
export class Endpoint {
  readonly address: string;
  readonly port: number;
  readonly agent: Agent;
  /** Names are judged by what they resolve to, each time; numbers were when the table was made. */
  readonly lookup: LookupFunction;
  health: Health = "unconfirmed";
  readonly #clock: Clock;
  #pauseMs = FIRST_PAUSE_MS;
  #cancel: Cancel | undefined;
  #isClosed = false;

  constructor(clock: Clock, lookup: LookupFunction, address: string, port: number) {
    this.#clock = clock;
    this.lookup = lookup;
    this.address = address;
    this.port = port;
    const kept = { keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS };
    this.agent = new Agent({ ...kept, lookup });
    this.#probe();
  }

  /** It answered. */
  answered(): void {
    this.health = "up";
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** It could not be connected to: it is probed until it can. */
  failed(): void {
    if (this.health !== "down") {
      this.health = "down";
      this.#probeLater();
    }
  }

  /** Closes connections that no request uses. */
  closeIdle(): void {
    for (const sockets of Object.values(this.agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
  }

  /** No pool uses it any more. */
  retire(): void {
    this.#isClosed = true;
    this.#cancel?.();
    // What is under way ends; then the connection is not kept.
    this.agent.maxFreeSockets = 0;
    this.closeIdle();
  }

  #probeLater(): void {
    if (this.#isClosed) return;
    this.#cancel?.();
    this.#cancel = this.#clock.after(this.#pauseMs, () => this.#probe());
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #probe(): void {
    if (this.#isClosed) return;
    const { address: host, port, lookup } = this;
    const socket = connect({ host, port, timeout: PROBE_TIMEOUT_MS, lookup });
    const end = (isUp: boolean): void => {
      socket.removeAllListeners();
      socket.on("error", () => undefined);
      socket.destroy();
      if (isUp) this.answered();
      else {
        this.health = "down";
        this.#probeLater();
      }
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  }
}

/** A backend of one pool. */
export interface Member extends Weighted {
  readonly id: string;
  readonly pool: string;
  readonly cluster: string;
  readonly endpoint: Endpoint;
  weight: number;
  isServing: boolean;
  /** Requests under way. */
  active: number;
}

/** All backends, by pool. */
export class Backends {
  readonly #clock: Clock;
  readonly #lookup: LookupFunction;
  readonly #endpoints = new Map<string, Endpoint>();
  #pools = new Map<string, readonly Member[]>();
  /** Taken out of the table while requests were under way. */
  readonly #former = new Set<Member>();

  constructor(clock: Clock, lookup: LookupFunction) {
    this.#clock = clock;
    this.#lookup = lookup;
  }

  /** What shall be; members that were there before keep their connections and counts. */
  replace(pools: readonly Pool[]): void {
    const before = new Map([...this.#pools.values()].flat().map((one) => [one.id, one]));
    const now = new Map<string, readonly Member[]>();
    for (const { id, backends } of pools)
      now.set(
        id,
        backends.map((backend) => this.#member(id, backend, before)),
      );
    for (const gone of before.values()) {
      gone.isServing = false;
      if (gone.active > 0) this.#former.add(gone);
    }
    this.#pools = now;
    this.#closeUnused();
  }

  /** The backend that gets the next request of a pool, other than those tried before if there is one. */
  choose(pool: string, tried: ReadonlySet<Member>): Member | undefined {
    const members = this.#pools.get(pool) ?? [];
    const serving = members.filter((one) => one.isServing && !tried.has(one));
    for (const health of ["up", "unconfirmed"] as const) {
      const well = serving.filter(({ endpoint }) => endpoint.health === health);
      if (well.length > 0) return nextOf(well);
    }
    const standIns = standInsOf(members).filter((one) => !tried.has(one));
    return nextOf(standIns.length > 0 ? standIns : serving);
  }

  /** The pools with requests under way at members that get no new ones, or with members that drain and get new ones. */
  leaving(): ReadonlyMap<string, Leaving> {
    for (const one of this.#former) if (one.active === 0) this.#former.delete(one);
    const members = [...this.#former, ...[...this.#pools.values()].flat()];
    const found = new Map<string, Leaving>();
    for (const { pool, isServing, active } of members)
      if (!isServing && active > 0) found.set(pool, "ends");
    for (const [pool, ofPool] of this.#pools)
      if (standInsOf(ofPool).length > 0) found.set(pool, "serves");
    return found;
  }

  close(): void {
    for (const endpoint of this.#endpoints.values()) endpoint.retire();
    this.#endpoints.clear();
  }

  /** Takes the member of before out of `before`, or makes a new one. */
  #member(pool: string, backend: Backend, before: Map<string, Member>): Member {
    const { cluster, address, port, weight, state } = backend;
    const id = `${pool} ${cluster} ${address} ${port}`;
    const found = before.get(id) ?? {
      id,
      pool,
      cluster,
      endpoint: this.#endpoint(address, port),
      weight,
      credit: 0,
      isServing: false,
      active: 0,
    };
    before.delete(id);
    found.weight = weight;
    found.isServing = state === "serving";
    return found;
  }

  #endpoint(address: string, port: number): Endpoint {
    const id = `${address} ${port}`;
    const found = this.#endpoints.get(id) ?? new Endpoint(this.#clock, this.#lookup, address, port);
    this.#endpoints.set(id, found);
    return found;
  }

  #closeUnused(): void {
    const members = [...this.#pools.values()].flat();
    const serving = new Set(members.filter((one) => one.isServing).map((one) => one.endpoint));
    const known = new Set(members.map((one) => one.endpoint));
    for (const [id, endpoint] of this.#endpoints) {
      if (!serving.has(endpoint)) endpoint.closeIdle();
      if (known.has(endpoint)) continue;
      endpoint.retire();
      this.#endpoints.delete(id);
    }
  }
}

/** The members that drain and get requests nevertheless: those that are not known to refuse, where no serving one takes connections. */
function standInsOf(members: readonly Member[]): readonly Member[] {
  if (members.some(({ isServing, endpoint }) => isServing && endpoint.health === "up")) return [];
  const draining = members.filter(({ isServing }) => !isServing);
  for (const health of ["up", "unconfirmed"] as const) {
    const well = draining.filter(({ endpoint }) => endpoint.health === health);
    if (well.length > 0) return well;
  }
  return [];
}
