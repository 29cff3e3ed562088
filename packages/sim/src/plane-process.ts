/**
 * The control plane of a simulation: the product's API server and controllers, life after life on one disk.
 *
 * 1. API server and controllers are one process, as in `lifeboat up`: they die together.
 * 2. Controllers reach their own API and the members over links; housekeeping of the API server does not.
 * 3. A second set of controllers may work on the same API for a while; it shares nothing with the first but the API.
 * 4. `crash` takes effect at once; `start` is ready when `ready` says so, which may take simulated time.
 */
import type { Storage, User } from "@lifeboat/apiserver";
import {
  assert,
  createSeededIds,
  type Ids,
  type Random,
  sleep,
  type VirtualClock,
} from "@lifeboat/base";
import type { ConnectMember } from "@lifeboat/controllers/context";
import {
  type Client,
  createManager,
  type KitPorts,
  type Log,
  type Metrics,
  silentMetrics,
} from "@lifeboat/kit";
import {
  CONTROLLERS_USER,
  type ControlPlane,
  type ControllersOptions,
  createControllers,
  createControlPlane,
  createPlaneContext,
} from "@lifeboat/plane";
import type { RecordedDisk } from "./disk/recorded-disk.ts";
import { PLANE_SERVER } from "./images.ts";
import type { Link } from "./network/link.ts";
import { SimClient, type WriteWatcher } from "./network/sim-client.ts";
import type { Witness } from "./oracles/witness.ts";
import { Process } from "./process.ts";

/** As whom controllers act. */
const ADMIN: User = { name: "admin", groups: ["system:masters", "system:authenticated"] };

export interface PlaneProcessPorts {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly disk: RecordedDisk;
  /** Between the controllers and their own API. */
  readonly link: Link;
  readonly writes: WriteWatcher;
  /** How a life of the plane reaches a member. */
  readonly connect: (caller: Process) => ConnectMember;
  readonly controllers: ControllersOptions;
  /** Of every life. */
  readonly log: Log;
  readonly witness: Witness;
}

interface Life {
  readonly process: Process;
  readonly stop: AbortController;
  controlPlane?: ControlPlane;
}

export class PlaneProcess {
  readonly #ports: PlaneProcessPorts;
  #life: Life | undefined;
  #lives = 0;
  /** How far its wall clock is off in its next life. */
  skewMs = 0;
  /** What its next life is started with. */
  controllers: ControllersOptions;
  #second: Process | undefined;
  #metrics: Metrics = silentMetrics;
  #seconds = 0;

  constructor(ports: PlaneProcessPorts) {
    this.#ports = ports;
    this.controllers = ports.controllers;
  }

  get lives(): number {
    return this.#lives;
  }

  get running(): boolean {
    return this.#life !== undefined;
  }

  get ready(): boolean {
    return this.#life?.controlPlane !== undefined;
  }

  /** A client that may do everything; undefined while the plane does not serve. */
  get admin(): Client | undefined {
    return this.clientOf(ADMIN);
  }

  /** A client of this user; undefined while the plane does not serve. */
  clientOf(user: User): Client | undefined {
    return this.#life?.controlPlane?.server.client(user);
  }

  /** Milliseconds for which it still stands still. */
  get standsStillFor(): number {
    return this.#life?.process.goesOnIn ?? 0;
  }

  /** Stands still for so long: nothing of it moves, and it does not know. */
  pause(milliseconds: number): void {
    this.#life?.process.pause(milliseconds);
  }

  /** Its wall clock jumps, in this life and in later ones. */
  stepClock(milliseconds: number): void {
    this.skewMs += milliseconds;
    this.#life?.process.step(milliseconds);
  }

  /** A second set of controllers begins to work, unless one does already or the plane does not serve. */
  startSecond(): void {
    const own = this.clientOf(CONTROLLERS_USER);
    if (own === undefined || this.#second !== undefined) return;
    this.#seconds += 1;
    const process = new Process(`second#${this.#seconds}`, this.#ports.clock, this.skewMs);
    this.#second = process;
    this.#runControllers(process, own, new AbortController().signal);
  }

  /** The second set of controllers dies. */
  stopSecond(): void {
    this.#second?.die();
    this.#second = undefined;
  }

  /** Called when the present life ends, once. */
  onDeath(handler: () => void): void {
    assert(this.#life !== undefined, "the plane lives");
    this.#life.process.onDeath(handler);
  }

  /** Begins the next life. */
  start(): void {
    assert(this.#life === undefined, "a plane is started when it is dead");
    this.#lives += 1;
    const process = new Process(`plane#${this.#lives}`, this.#ports.clock, this.skewMs);
    const life: Life = { process, stop: new AbortController() };
    this.#life = life;
    this.#metrics = this.#ports.witness.begins(this.controllers);
    void this.#boot(life);
  }

  /** Ends this life: nothing of it is heard or does anything any more. */
  crash(): void {
    if (this.#life === undefined) return;
    this.#life.process.die();
    this.#life = undefined;
    this.#ports.witness.ended();
    this.stopSecond();
    this.#ports.disk.crash();
  }

  async #boot(life: Life): Promise<void> {
    const { process, stop } = life;
    const ports = { ...this.#portsOf(process), storage: this.#storageOf(process) };
    const controlPlane = await createControlPlane(ports, PLANE_SERVER);
    if (!process.alive) return;
    life.controlPlane = controlPlane;
    void controlPlane.run(stop.signal);
    this.#runControllers(process, controlPlane.server.client(CONTROLLERS_USER), stop.signal);
  }

  #runControllers(process: Process, own: Client, signal: AbortSignal): void {
    const { link, writes, connect } = this.#ports;
    const ports = this.#portsOf(process);
    const plane = new SimClient({ caller: process, link, writes, target: () => own });
    const { context, services } = createPlaneContext(
      {
        ...ports,
        instance: "sim",
        connect: connect(process),
        registration: {},
        clusterStatusUpdateFrequencyMs: this.controllers.clusterStatusUpdateFrequencyMs,
      },
      plane,
    );
    const controllers = createControllers(context, this.controllers);
    void createManager(ports, [...services, ...controllers]).run(signal);
  }

  #portsOf(process: Process): KitPorts & { readonly ids: Ids } {
    const random = this.#ports.random.fork(process.name);
    const { log } = this.#ports;
    const ids = createSeededIds(random.fork("ids"));
    const metrics = process === this.#life?.process ? this.#metrics : silentMetrics;
    return { clock: process.clock, random, log, metrics, ids };
  }

  /** The disk works on while the process stands still; the process learns of it later. */
  #storageOf(process: Process): Storage {
    const storage = this.#ports.disk.open();
    return {
      ...storage,
      commit: async (batch) => {
        await storage.commit(batch);
        if (process.goesOnIn > 0) await sleep(process.clock, process.goesOnIn);
      },
    };
  }
}
