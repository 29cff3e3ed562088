/**
 * One member of a simulation: its API server and the model of what runs in it, life after life on one disk.
 *
 * The plane reaches it over a link, by the token that it takes; people and oracles reach it undisturbed.
 */
import { failure, Refused } from "@lifeboat/api";
import { type ApiServer, createApiServer, type User } from "@lifeboat/apiserver";
import { assert, createSeededIds, type Random, type VirtualClock } from "@lifeboat/base";
import { type Client, type Log, silentMetrics } from "@lifeboat/kit";
import {
  createMemberModel,
  type MemberFault,
  type MemberModel,
  type MemberOptions,
} from "@lifeboat/members";
import type { RecordedDisk } from "./disk/recorded-disk.ts";
import { MEMBER_SERVER } from "./images.ts";
import type { Link } from "./network/link.ts";
import { Process } from "./process.ts";

const MASTER: User = { name: "admin", groups: ["system:masters"] };

export interface MemberClusterPorts {
  readonly name: string;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly disk: RecordedDisk;
  readonly link: Link;
  readonly log: Log;
  readonly options: MemberOptions;
}

interface Life {
  readonly process: Process;
  server?: ApiServer;
  admin?: Client;
  model?: MemberModel;
}

export class MemberCluster {
  readonly name: string;
  readonly link: Link;
  readonly disk: RecordedDisk;
  readonly #ports: MemberClusterPorts;
  #life: Life | undefined;
  #lives = 0;
  #fault: MemberFault | undefined;

  constructor(ports: MemberClusterPorts) {
    this.#ports = ports;
    this.name = ports.name;
    this.link = ports.link;
    this.disk = ports.disk;
  }

  get token(): string {
    return `${this.name}-token`;
  }

  get running(): boolean {
    return this.#life !== undefined;
  }

  get ready(): boolean {
    return this.#life?.server !== undefined;
  }

  /** A way in that no fault disturbs; undefined while its API server does not run. */
  get admin(): Client | undefined {
    return this.#life?.admin;
  }

  /** Whom a caller with this token reaches. */
  reach(token: string): Client | undefined {
    const client = this.admin;
    if (client !== undefined && token !== this.token)
      throw new Refused(failure(401, "Unauthorized", "Unauthorized"));
    return client;
  }

  start(): void {
    assert(this.#life === undefined, "a member is started when it is dead");
    this.#lives += 1;
    const life: Life = {
      process: new Process(`${this.name}#${this.#lives}`, this.#ports.clock),
    };
    this.#life = life;
    void this.#boot(life);
  }

  crash(): void {
    if (this.#life === undefined) return;
    this.#life.process.die();
    this.#life = undefined;
    this.disk.crash();
    this.link.reset("the server died");
  }

  /** Lets pods suffer from now on, also in later lives; undefined: no more. */
  suffer(fault: MemberFault | undefined): void {
    this.#fault = fault;
    if (fault === undefined) this.#life?.model?.heal();
    else this.#life?.model?.setFault(fault);
  }

  async #boot(life: Life): Promise<void> {
    const { options, log } = this.#ports;
    const { process } = life;
    const random = this.#ports.random.fork(process.name);
    const kit = { clock: process.clock, random, log, metrics: silentMetrics };
    const ids = createSeededIds(random.fork("ids"));
    const server = await createApiServer({ ...kit, ids, storage: this.disk.open() }, MEMBER_SERVER);
    if (!process.alive) return;
    const admin = server.client(MASTER);
    const model = createMemberModel(kit, admin, options);
    life.server = server;
    life.admin = admin;
    life.model = model;
    if (this.#fault !== undefined) model.setFault(this.#fault);
    const { signal } = new AbortController();
    void server.run(signal);
    void model.run(signal);
  }
}
