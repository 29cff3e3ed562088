/**
 * The way from the control plane to a member, and what can be wrong with it.
 *
 *   down        nobody listens: every call fails at once, nothing arrives
 *   partition   packets vanish: a call fails after its timeout, nothing arrives, watches fall silent
 *   errors      the member answers 500 to everything
 *   refused     the other end refuses everything with a Status, and ends the watches
 *   slow        every call takes `delayMs` longer, both for the answer and for the failure
 *   late        a write is given up after its timeout, and arrives `byMs` later all the same
 *
 * 1. A caller whose generation is dead never hears anything again and changes nothing any more.
 * 2. When a fault ends, watches that lived through it end as lost, as broken connections do.
 */
import {
  failure,
  type Json,
  type KubeList,
  type KubeObject,
  Refused,
  type Status,
  type WatchEvent,
} from "@lifeboat/api";
import { type Clock, sleep } from "@lifeboat/base";
import type { MemberClient } from "@lifeboat/controllers/context";
import { type Client, NotSent, OutcomeUnknown, type Watch, type WatchSink } from "@lifeboat/kit";

export type LinkFault =
  | { readonly kind: "down" }
  | { readonly kind: "partition" }
  | { readonly kind: "errors" }
  | { readonly kind: "refused"; readonly status: Status }
  | { readonly kind: "slow"; readonly delayMs: number }
  | { readonly kind: "late"; readonly byMs: number };

export interface Link {
  readonly fault: LinkFault | undefined;
  /** The token that the member takes. */
  readonly token: string;
  readonly target: Client;
  /** Lets this go wrong from now on, in the place of what went wrong before; undefined: nothing. */
  setFault(fault: LinkFault | undefined): void;
  setToken(token: string): void;
  /** Called when watches that are open now must end. The answer ends it. */
  onBreak(handler: () => void): () => void;
}

/** As long as the HTTP adapter waits for a member. */
const CALL_TIMEOUT_MS = 32_000;

/** A working link to what `target` answers. */
export function openLink(target: () => Client, token: string): Link {
  let fault: LinkFault | undefined;
  let taken = token;
  const handlers = new Set<() => void>();
  return {
    get fault() {
      return fault;
    },
    get token() {
      return taken;
    },
    get target() {
      return target();
    },
    setFault: (next) => {
      const breaks =
        next?.kind === "down" || next?.kind === "refused" || fault?.kind === "partition";
      fault = next;
      if (breaks) for (const handler of handlers) handler();
    },
    setToken: (next) => {
      taken = next;
    },
    onBreak: (handler) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
  };
}

/** The client of one generation of the control plane over a link; without a link nobody listens. */
export function linked(
  clock: Clock,
  link: Link | undefined,
  token: string,
  isAlive: () => boolean = () => true,
): MemberClient {
  const client = new LinkedClient(clock, link, token, isAlive);
  return { client, close: () => client.close() };
}

class LinkedClient implements Client {
  readonly #clock: Clock;
  readonly #link: Link | undefined;
  readonly #token: string;
  readonly #isAlive: () => boolean;
  readonly #watches = new Set<LinkedWatch>();
  #closed = false;

  constructor(clock: Clock, link: Link | undefined, token: string, isAlive: () => boolean) {
    this.#clock = clock;
    this.#link = link;
    this.#token = token;
    this.#isAlive = isAlive;
  }

  close(): void {
    this.#closed = true;
    for (const watch of this.#watches) watch.lose("the connection was closed");
  }

  readonly get: Client["get"] = (...given) => this.#call("read", (to) => to.get(...given));
  readonly list: Client["list"] = (...given) => this.#call("read", (to) => to.list(...given));
  readonly read: Client["read"] = (...given): Promise<Json> =>
    this.#call("read", (to) => to.read(...given));
  readonly create: Client["create"] = (...given) =>
    this.#call("write", (to) => to.create(...given));
  readonly update: Client["update"] = (...given) =>
    this.#call("write", (to) => to.update(...given));
  readonly patch: Client["patch"] = (...given) => this.#call("write", (to) => to.patch(...given));
  readonly delete: Client["delete"] = (...given) =>
    this.#call("write", (to) => to.delete(...given));
  readonly deleteCollection: Client["deleteCollection"] = <T extends KubeObject>(
    ...given: Parameters<typeof this.deleteCollection<T>>
  ): Promise<KubeList<T>> => this.#call("write", (to) => to.deleteCollection(...given));

  readonly watch: Client["watch"] = (resource, options, sink) => {
    const watch = new LinkedWatch(sink as unknown as WatchSink, this.#isAlive);
    this.#watches.add(watch);
    void this.#call("read", (to) =>
      Promise.resolve(watch.open(() => to.watch(resource, options, watch.sink as never))),
    ).then(
      () => {
        const forget = this.#link?.onBreak(() => watch.lose("the connection was reset"));
        watch.onEnd(() => {
          forget?.();
          this.#watches.delete(watch);
        });
      },
      (error: unknown) => {
        this.#watches.delete(watch);
        watch.fail(error);
      },
    );
    return { stop: () => watch.stop() };
  };

  async #call<T>(kind: "read" | "write", run: (target: Client) => Promise<T>): Promise<T> {
    if (!this.#isAlive()) return never();
    const fault = this.#link?.fault;
    const link = this.#link;
    if (link === undefined || fault?.kind === "down" || this.#closed)
      throw new NotSent("connection refused");
    if (fault?.kind === "slow") await sleep(this.#clock, fault.delayMs);
    if (fault?.kind === "partition") await this.#timeOut(kind);
    if (fault?.kind === "late" && kind === "write") {
      // What is on its way arrives, whatever becomes of who sent it.
      const arrive = (): void => void run(link.target).catch(() => undefined);
      this.#clock.after(CALL_TIMEOUT_MS + fault.byMs, arrive);
      await this.#timeOut(kind);
    }
    if (fault?.kind === "errors") throw new Refused(failure(500, "InternalError", "broken member"));
    if (fault?.kind === "refused") throw new Refused(fault.status);
    if (link.token !== this.#token) throw new Refused(failure(401, "Unauthorized", "Unauthorized"));
    const answer = await run(link.target);
    if (!this.#isAlive()) return never();
    // A link that broke while the call was under way carries no answer.
    if (link.fault?.kind === "partition") await this.#timeOut(kind);
    return answer;
  }

  async #timeOut(kind: "read" | "write"): Promise<never> {
    await sleep(this.#clock, CALL_TIMEOUT_MS);
    if (!this.#isAlive()) return never();
    throw kind === "read" ? new NotSent("timed out") : new OutcomeUnknown("timed out");
  }
}

/** What the dead await: a new promise each time, because one for all would keep all of them in memory. */
function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** One watch over a link: passes events on until it is stopped, lost, or its caller is dead. */
class LinkedWatch {
  readonly #sink: WatchSink;
  readonly #isAlive: () => boolean;
  #watch: Watch | undefined;
  #ended = false;
  #onEnd: (() => void) | undefined;

  constructor(sink: WatchSink, isAlive: () => boolean) {
    this.#sink = sink;
    this.#isAlive = isAlive;
  }

  readonly sink: WatchSink = {
    event: (event: WatchEvent) => {
      if (!this.#ended && this.#isAlive()) this.#sink.event(event);
    },
    end: (why) => this.#end(why),
  };

  open(start: () => Watch): void {
    if (!this.#ended) this.#watch = start();
  }

  onEnd(handler: () => void): void {
    if (this.#ended) handler();
    else this.#onEnd = handler;
  }

  stop(): void {
    this.#end({ kind: "closed" });
  }

  lose(message: string): void {
    this.#end({ kind: "lost", error: new Error(message) });
  }

  fail(error: unknown): void {
    if (error instanceof Refused) this.#end({ kind: "refused", status: error.status });
    else this.lose(error instanceof Error ? error.message : "lost");
  }

  #end(why: Parameters<WatchSink["end"]>[0]): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#watch?.stop();
    this.#onEnd?.();
    if (this.#isAlive()) this.#sink.end(why);
  }
}
