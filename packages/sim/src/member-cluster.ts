/**
 * One member of a simulation: its API server and the model of what runs in it, life after life on one disk.
 *
 * The plane reaches it over a link, by a token that it takes, and may be told lies; people and oracles reach it undisturbed.
 * Its wall clock may be off, and may jump: the API server notices at once, what runs in the cluster in its next life.
 */
import { failure, Refused } from "@lifeboat/api";
import {
  type ApiServer,
  type ApiServerOptions,
  createApiServer,
  type User,
} from "@lifeboat/apiserver";
import { assert, createSeededIds, type Random, type VirtualClock } from "@lifeboat/base";
import { type Client, type Log, silentMetrics } from "@lifeboat/kit";
import {
  createMemberModel,
  type MemberFault,
  type MemberModel,
  type MemberOptions,
} from "@lifeboat/members";
import type { RecordedDisk } from "./disk/recorded-disk.ts";
import { Liar, type Lie } from "./network/lies.ts";
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
  /** How its API server is run. */
  readonly server: ApiServerOptions;
}

interface Life {
  readonly process: Process;
  /** Of what runs in the cluster: its clock does not jump in the middle of a life. */
  readonly inside: Process;
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
  #skewMs = 0;
  /** Who answers in its place, with the client that it had when it began to. */
  #liar: Liar | undefined;
  #lying: { readonly admin: Client; readonly said: Client } | undefined;
  /** How many tokens were issued, and which are taken. */
  #issued = 1;
  readonly #taken = new Set<string>();
  #refusesAll = false;

  constructor(ports: MemberClusterPorts) {
    this.#ports = ports;
    this.name = ports.name;
    this.link = ports.link;
    this.disk = ports.disk;
    this.#taken.add(this.token);
  }

  /** The one that was issued last. */
  get token(): string {
    return `${this.name}-token-${this.#issued}`;
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
    if (client === undefined) return undefined;
    if (this.#refusesAll || !this.#taken.has(token))
      throw new Refused(failure(401, "Unauthorized", "Unauthorized"));
    return this.#liar === undefined ? client : this.#liedFor(this.#liar, client);
  }

  /** Lies to the plane from now on; undefined: no more. Who watches has to list again. */
  lie(how: Lie | undefined): void {
    if (how === undefined && this.#liar === undefined) return;
    const { clock, random } = this.#ports;
    this.#lying = undefined;
    this.#liar = how === undefined ? undefined : new Liar(how, { clock, random: random.fork(how) });
    this.link.expire();
  }

  /** Takes no token, or those again that it took before. */
  refuseTokens(all: boolean): void {
    this.#refusesAll = all;
  }

  /** Issues another token; the former ones are still taken. */
  issueToken(): void {
    this.#issued += 1;
    this.#taken.add(this.token);
  }

  /** From now on only the newest token is taken. What goes on with an older one goes on. */
  revokeOldTokens(): void {
    this.#taken.clear();
    this.#taken.add(this.token);
  }

  /** Its wall clock jumps, in this life and in later ones. */
  stepClock(milliseconds: number): void {
    this.#skewMs += milliseconds;
    this.#life?.process.step(milliseconds);
  }

  #liedFor(liar: Liar, admin: Client): Client {
    if (this.#lying?.admin !== admin) this.#lying = { admin, said: liar.over(admin) };
    return this.#lying.said;
  }

  start(): void {
    assert(this.#life === undefined, "a member is started when it is dead");
    this.#lives += 1;
    const name = `${this.name}#${this.#lives}`;
    const { clock } = this.#ports;
    const process = new Process(name, clock, this.#skewMs);
    const life: Life = { process, inside: new Process(name, clock, this.#skewMs) };
    this.#life = life;
    void this.#boot(life);
  }

  crash(): void {
    if (this.#life === undefined) return;
    this.#life.process.die();
    this.#life.inside.die();
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
    const { options, log, server: how } = this.#ports;
    const { process, inside } = life;
    const random = this.#ports.random.fork(process.name);
    const kit = { clock: process.clock, random, log, metrics: silentMetrics };
    const ids = createSeededIds(random.fork("ids"));
    const server = await createApiServer({ ...kit, ids, storage: this.disk.open() }, how);
    if (!process.alive) return;
    const admin = server.client(MASTER);
    const model = createMemberModel({ ...kit, clock: inside.clock }, admin, options);
    life.server = server;
    life.admin = admin;
    life.model = model;
    if (this.#fault !== undefined) model.setFault(this.#fault);
    const { signal } = new AbortController();
    void server.run(signal);
    void model.run(signal);
  }
}
