/**
 * The control plane of a simulation: the product's API server and controllers, life after life on one disk.
 *
 * 1. API server and controllers are one process, as in `lifeboat up`: they die together.
 * 2. Controllers reach their own API and the members over links; housekeeping of the API server does not.
 * 3. `crash` takes effect at once; `start` is ready when `ready` says so, which may take simulated time.
 */
import type { User } from "@lifeboat/apiserver";
import { assert, createSeededIds, type Random, type VirtualClock } from "@lifeboat/base";
import type { ConnectMember } from "@lifeboat/controllers";
import { type Client, createManager, type Log, silentMetrics } from "@lifeboat/kit";
import {
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
import { Process } from "./process.ts";

/** As whom controllers act. */
const CONTROLLERS: User = { name: "system:lifeboat", groups: ["system:masters"] };
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

  constructor(ports: PlaneProcessPorts) {
    this.#ports = ports;
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
    return this.#life?.controlPlane?.server.client(ADMIN);
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
    void this.#boot(life);
  }

  /** Ends this life: nothing of it is heard or does anything any more. */
  crash(): void {
    if (this.#life === undefined) return;
    this.#life.process.die();
    this.#life = undefined;
    this.#ports.disk.crash();
  }

  async #boot(life: Life): Promise<void> {
    const { disk, link, writes, connect, controllers, log } = this.#ports;
    const { process, stop } = life;
    const random = this.#ports.random.fork(process.name);
    const kit = { clock: process.clock, random, log, metrics: silentMetrics };
    const ports = { ...kit, ids: createSeededIds(random.fork("ids")) };
    const controlPlane = await createControlPlane({ ...ports, storage: disk.open() }, PLANE_SERVER);
    if (!process.alive) return;
    life.controlPlane = controlPlane;
    const own = controlPlane.server.client(CONTROLLERS);
    const plane = new SimClient({ caller: process, link, writes, target: () => own });
    const { context, services } = createPlaneContext(
      { ...ports, instance: "sim", connect: connect(process) },
      plane,
    );
    void controlPlane.run(stop.signal);
    void createManager(kit, [...services, ...createControllers(context, controllers)]).run(
      stop.signal,
    );
  }
}
