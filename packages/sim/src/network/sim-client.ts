/**
 * A Client over a link: what controllers and users of a simulation hold instead of a connection.
 *
 * 1. A call ends as a call over HTTP does: an answer, Refused, NotSent or OutcomeUnknown; a caller that died in the
 *    meantime never hears of it.
 * 2. Every write that reaches the server is told to the `WriteWatcher` before and after; it may kill the caller there.
 * 3. Events of a watch keep their order; after a partition or a reset the watch is lost.
 */
import { failure, type Json, Refused, type WatchEvent } from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import {
  type Client,
  NotSent,
  OutcomeUnknown,
  type Watch,
  type WatchEnd,
  type WatchSink,
} from "@lifeboat/kit";
import { never, type Process } from "../process.ts";
import { truthBehind } from "./lies.ts";
import { type Link, type LinkConditions, PAST_IS_GONE, type WriteRefusal } from "./link.ts";
import { SharedSleep } from "./shared-sleep.ts";

export interface Write {
  readonly from: string;
  readonly to: string;
  readonly verb: "create" | "update" | "patch" | "delete" | "deleteCollection";
  /** `plural namespace/name`, with the subresource where there is one. */
  readonly what: string;
  /** Where the object is stored: `group/plural`, and `namespace/name`. */
  readonly table: string;
  readonly key: string;
  readonly subresource?: string;
  /** The uid that a deletion is for. */
  readonly uid?: string;
  /** The version that a change was decided on. */
  readonly version?: string;
}

/** Told of every write that reaches a server. */
export interface WriteWatcher {
  before(write: Write): void;
  /** It took effect, with this answer, or was refused, without one. */
  after(write: Write, answer: unknown): void;
}

export interface SimClientPorts {
  readonly caller: Process;
  readonly link: Link;
  /** Whom a call reaches now; undefined: nobody listens. Throws Refused when the caller is not let in. */
  readonly target: () => Client | undefined;
  readonly writes?: WriteWatcher | undefined;
  /** Told of every read of a path: whether there was an answer. */
  readonly heard?: (path: string, ok: boolean) => void;
  /** How long the server stands still from now on, in milliseconds; absent: it never does. */
  readonly standsStill?: () => number;
}

/** As long as the HTTP adapter waits for an answer. */
const CALL_TIMEOUT_MS = 32_000;
/** How long after that a request may still arrive. */
const LATE_MS = 55_000;
/** After so long a silent connection is given up. */
const KEEPALIVE_MS = 60_000;
/** After less than so long a watch that missed something ends. */
const EXPIRES_MS = 20_000;
const EXPIRED: WatchEnd = Object.freeze({
  kind: "refused",
  status: failure(410, "Expired", "too old resource version"),
});

export class SimClient implements Client {
  readonly #ports: SimClientPorts;
  readonly #watches = new Set<SimWatch>();
  readonly #sleeps = new SharedSleep();
  #closed = false;

  constructor(ports: SimClientPorts) {
    this.#ports = ports;
  }

  close(): void {
    this.#closed = true;
    for (const watch of this.#watches) watch.lose("the connection was closed");
  }

  readonly get: Client["get"] = (...given) =>
    this.#call(given[2]?.signal, (to) => to.get(...given));
  readonly list: Client["list"] = (...given) =>
    this.#call(given[1]?.signal, (to) => to.list(...given));
  readonly read: Client["read"] = async (...given): Promise<Json> => {
    const { heard } = this.#ports;
    try {
      const answer = await this.#call(given[1]?.signal, (to) => to.read(...given));
      heard?.(given[0], true);
      return answer;
    } catch (error) {
      heard?.(given[0], false);
      throw error;
    }
  };

  readonly create: Client["create"] = (...given) => {
    const [resource, { metadata }, options] = given;
    const name = metadata.name ?? `${metadata.generateName ?? ""}*`;
    const write = this.#write("create", resource, { ...metadata, name });
    return this.#call(options?.signal, (to) => to.create(...given), write);
  };
  readonly update: Client["update"] = (...given) => {
    const [resource, { metadata }, options] = given;
    const { resourceVersion: version } = metadata;
    const asks = { ...subresourceOf(options), ...(version !== undefined && { version }) };
    const write = this.#write("update", resource, metadata, asks);
    return this.#call(options?.signal, (to) => to.update(...given), write);
  };
  readonly patch: Client["patch"] = (...given) => {
    const [resource, key, , options] = given;
    const write = this.#write("patch", resource, key, subresourceOf(options));
    return this.#call(options?.signal, (to) => to.patch(...given), write);
  };
  readonly delete: Client["delete"] = (...given) => {
    const [resource, key, options] = given;
    const { uid, resourceVersion: version } = options?.preconditions ?? {};
    const asks = { ...(uid !== undefined && { uid }), ...(version !== undefined && { version }) };
    const write = this.#write("delete", resource, key, asks);
    return this.#call(options?.signal, (to) => to.delete(...given), write);
  };
  readonly deleteCollection: Client["deleteCollection"] = (...given) => {
    const [resource, options] = given;
    const { namespace = "" } = options;
    const write = this.#write("deleteCollection", resource, { namespace, name: "*" });
    return this.#call(options.signal, (to) => to.deleteCollection(...given), write);
  };

  readonly watch: Client["watch"] = (resource, options, sink) => {
    const watch = new SimWatch(this.#ports, sink as unknown as WatchSink, () =>
      this.#watches.delete(watch),
    );
    this.#watches.add(watch);
    void this.#call(undefined, (to) => {
      watch.open(() => to.watch(resource, options, watch.sink as never));
      return Promise.resolve();
    }).catch((error: unknown) => watch.fail(error));
    return { stop: () => watch.stop() };
  };

  #write(
    verb: Write["verb"],
    { group, plural }: { readonly group: string; readonly plural: string },
    { namespace = "", name }: { readonly namespace?: string | undefined; readonly name: string },
    asks: Pick<Write, "subresource" | "uid" | "version"> = {},
  ): Write {
    const { caller, link } = this.#ports;
    const path = asks.subresource === undefined ? plural : `${plural}/${asks.subresource}`;
    return {
      from: caller.name,
      to: link.name,
      verb,
      what: `${path} ${namespace === "" ? "" : `${namespace}/`}${name}`,
      table: `${group}/${plural}`,
      key: `${namespace}/${name}`,
      ...asks,
    };
  }

  async #call<T>(
    signal: AbortSignal | undefined,
    run: (target: Client) => Promise<T>,
    write?: Write,
  ): Promise<T> {
    const { caller, link } = this.#ports;
    if (!caller.alive) return never();
    if (this.#closed || link.conditions?.down === true) throw new NotSent("connection refused");
    const conditions = link.conditions;
    if (conditions === undefined) return this.#deliver(run, write);
    return this.#carry(conditions, signal, run, write);
  }

  /** Over a link that something is wrong with. */
  async #carry<T>(
    conditions: LinkConditions,
    signal: AbortSignal | undefined,
    run: (target: Client) => Promise<T>,
    write: Write | undefined,
  ): Promise<T> {
    const { link } = this.#ports;
    if (link.happens(conditions.fail)) throw new Refused(brokenAnswer(link.random.below(3)));
    if (write !== undefined && isRefusedBy(conditions.refuse, write.verb)) {
      link.injected += 1;
      throw new Refused(refusal(conditions.refuse));
    }
    await this.#wait(link.delay(conditions), signal, new NotSent("given up"));
    if (isCut(link.conditions, "requests") || link.happens(conditions.lose))
      return this.#timeOut(signal, write);
    if (write !== undefined && link.happens(conditions.late)) {
      this.#arriveLate(run);
      return this.#timeOut(signal, write);
    }
    if (write !== undefined && link.happens(conditions.duplicate)) this.#repeatLater(run);
    const answer = await settled(this.#deliver(run, write));
    const lost = write === undefined ? new NotSent("given up") : new OutcomeUnknown("given up");
    await this.#wait(link.delay(conditions), signal, lost);
    if (isCut(link.conditions, "answers") || link.happens(conditions.loseAnswer))
      return this.#timeOut(signal, write);
    return open(answer);
  }

  /** At the server. */
  async #deliver<T>(run: (target: Client) => Promise<T>, write: Write | undefined): Promise<T> {
    const { caller, link, target, writes, standsStill } = this.#ports;
    const stillMs = standsStill?.() ?? 0;
    if (stillMs > 0) await sleep(caller.clock, stillMs);
    const reached = target();
    if (reached === undefined) throw new NotSent("connection refused");
    if (write !== undefined) {
      writes?.before(write);
      if (!caller.alive) return never();
    }
    const answer = await settled(
      new Promise<T>((resolve, reject) => {
        const forget = link.onReset((why) =>
          reject(write === undefined ? new NotSent(why) : new OutcomeUnknown(why)),
        );
        run(reached).then(resolve, reject).finally(forget);
      }),
    );
    if (!caller.alive) return never();
    if (write !== undefined)
      writes?.after(write, "value" in answer ? truthBehind(answer.value) : undefined);
    return caller.alive ? open(answer) : never();
  }

  async #wait(delayMs: number, signal: AbortSignal | undefined, given: Error): Promise<void> {
    const { caller } = this.#ports;
    if (delayMs === 0) return;
    const passed =
      signal === undefined
        ? await sleep(caller.clock, delayMs)
        : await this.#sleeps.sleep(caller.clock, delayMs, signal);
    if (!passed) throw given;
  }

  async #timeOut(signal: AbortSignal | undefined, write: Write | undefined): Promise<never> {
    const error = write === undefined ? new NotSent("timed out") : new OutcomeUnknown("timed out");
    await this.#wait(CALL_TIMEOUT_MS, signal, error);
    throw error;
  }

  /** A copy of the request that was held up somewhere; its answer reaches nobody. */
  #repeatLater(run: (target: Client) => Promise<unknown>): void {
    const { caller, link, target } = this.#ports;
    const again = async (): Promise<void> => {
      // Who is asked may refuse by now: the token was good when the request was sent.
      const reached = target();
      if (reached !== undefined) await run(reached);
    };
    caller.clock.after(1 + link.random.below(5000), () => {
      again().catch(() => {
        // The answer reaches no caller, an error neither.
      });
    });
  }

  /** A request that is on its way for longer than anybody waits for it, whatever becomes of who sent it. */
  #arriveLate(run: (target: Client) => Promise<unknown>): void {
    const { caller, link, target } = this.#ports;
    const arrive = async (): Promise<void> => {
      if (link.conditions?.down === true || isCut(link.conditions, "requests")) return;
      const reached = target();
      if (reached !== undefined) await run(reached);
    };
    caller.outside.after(CALL_TIMEOUT_MS + 1 + link.random.below(LATE_MS), () => {
      arrive().catch(() => {
        // The answer reaches no caller, an error neither.
      });
    });
  }
}

/** One watch over a link. */
class SimWatch {
  readonly #ports: SimClientPorts;
  readonly #given: WatchSink;
  readonly #forget: () => void;
  #watch: Watch | undefined;
  #ended = false;
  #offReset: (() => void) | undefined;
  #offDeath: (() => void) | undefined;
  /** When the last event arrives, so that none overtakes it. */
  #lastDue = 0;
  /** What is on its way, in order: a process that stands still again may let a later timer fire first. */
  readonly #underWay: (() => void)[] = [];
  #silent = false;

  constructor(ports: SimClientPorts, sink: WatchSink, forget: () => void) {
    this.#ports = ports;
    this.#given = sink;
    this.#forget = forget;
  }

  readonly sink: WatchSink = {
    event: (event: WatchEvent) => {
      if (this.#ended || this.#silent) return;
      const { link } = this.#ports;
      if (isCut(link.conditions, "answers")) this.#fallSilent();
      else if (link.happens(link.conditions?.missEvents)) this.#missOut();
      else this.#arrive(() => this.#given.event(event));
    },
    end: (why) => {
      if (!this.#silent) this.#arrive(() => this.#end(why));
    },
  };

  open(start: () => Watch): void {
    const { caller, link } = this.#ports;
    if (this.#ended) return;
    this.#watch = start();
    this.#offReset = link.onReset((why) => {
      if (why === PAST_IS_GONE) this.#end(EXPIRED);
      else this.lose(why);
    });
    // The server notices that the caller is gone.
    this.#offDeath = caller.onDeath(() => this.#watch?.stop());
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

  #arrive(tell: () => void): void {
    const { caller, link } = this.#ports;
    const { clock } = caller;
    const now = clock.monotonic();
    const delay = link.conditions === undefined ? 0 : link.delay(link.conditions);
    const due = Math.max(now + delay, now + caller.goesOnIn, this.#lastDue);
    if (due === now && this.#underWay.length === 0) {
      if (caller.alive) tell();
      return;
    }
    this.#lastDue = due;
    this.#underWay.push(tell);
    clock.after(due - now, () => {
      const next = this.#underWay.shift();
      if (!this.#ended) next?.();
    });
  }

  /** From the first event that does not arrive on, none may: the caller would miss it. */
  #fallSilent(): void {
    this.#silent = true;
    this.#ports.caller.clock.after(KEEPALIVE_MS, () => this.lose("no sign of life"));
  }

  /** What the server knows of the past does not reach back to what was missed: the caller has to list again. */
  #missOut(): void {
    this.#silent = true;
    const { caller, link } = this.#ports;
    caller.clock.after(link.random.below(EXPIRES_MS), () => this.#end(EXPIRED));
  }

  #end(why: WatchEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#offReset?.();
    this.#offDeath?.();
    this.#watch?.stop();
    this.#forget();
    if (this.#ports.caller.alive) this.#given.end(why);
  }
}

function subresourceOf(options: { readonly subresource?: string } = {}) {
  const { subresource } = options;
  return subresource === undefined ? {} : { subresource };
}

function isCut(conditions: LinkConditions | undefined, way: "requests" | "answers"): boolean {
  return conditions?.partition === "both" || conditions?.partition === way;
}

function isRefusedBy(
  refuse: WriteRefusal | undefined,
  verb: Write["verb"],
): refuse is WriteRefusal {
  if (refuse === undefined) return false;
  // What goes needs no room.
  return refuse === "forbidden" || !verb.startsWith("delete");
}

function refusal(refuse: WriteRefusal | undefined): ReturnType<typeof failure> {
  if (refuse === "quota") return failure(403, "Forbidden", "exceeded quota: everything");
  if (refuse === "webhook")
    return failure(400, "BadRequest", 'admission webhook "no.test" denied the request');
  if (refuse === "full") return failure(507, "InternalError", "there is no space left");
  return failure(403, "Forbidden", "this user may not do that");
}

function brokenAnswer(which: number): ReturnType<typeof failure> {
  if (which === 0) return failure(500, "InternalError", "something broke");
  if (which === 1) return failure(503, "ServiceUnavailable", "not now");
  return failure(429, "TooManyRequests", "too many requests");
}

/** How a call ended. */
type Ending<T> = { readonly value: T } | { readonly error: unknown };

async function settled<T>(call: Promise<T>): Promise<Ending<T>> {
  try {
    return { value: await call };
  } catch (error) {
    return { error };
  }
}

function open<T>(ending: Ending<T>): T {
  if ("value" in ending) return ending.value;
  throw ending.error;
}
