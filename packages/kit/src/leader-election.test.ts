import { type AnyObject, leases } from "@lifeboat/api";
import { createRandom, createSeededIds, instantOf, sleep, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, test } from "vitest";
import type { Client } from "./client.ts";
import { fencedClient } from "./fenced-client.ts";
import { createLeaderElection, LEADER_ELECTION_TIMES } from "./leader-election.ts";
import type { Term } from "./term.ts";
import { silentLog } from "./log.ts";
import { silentMetrics } from "./metrics.ts";
import { ToyClient } from "./toy-client.suite.ts";

const lease = { namespace: "kube-system", name: "manager" };

function setUp() {
  const clock = new VirtualClock(instantOf(1_700_000_000_123), drainPromises);
  const server = new ToyClient(clock);
  const random = createRandom(7);
  const leading: string[] = [];
  const candidate = (name: string, client = server, giveUpAfterMs?: number) => {
    const stop = new AbortController();
    const ids = createSeededIds(random.fork(name));
    const ports = { clock, random: random.fork(name), ids, log: silentLog, metrics: silentMetrics };
    const election = createLeaderElection(ports, client, {
      ...LEADER_ELECTION_TIMES,
      lease,
      identity: name,
      ...(giveUpAfterMs === undefined ? {} : { giveUpAfterMs }),
      lead: async (signal) => {
        leading.push(name);
        await sleep(clock, 1e12, signal);
        leading.splice(leading.indexOf(name), 1);
      },
    });
    const ended = election.run(stop.signal);
    return { stop, ended };
  };
  const read = (): Promise<AnyObject> => server.get(leases, lease);
  return { clock, server, leading, candidate, read };
}

test("one of two leads, and the lease names it, in micro time", async () => {
  const { clock, leading, candidate, read } = setUp();
  candidate("a");
  await clock.settle();
  candidate("b");
  await clock.advance(60_000);
  expect(leading).toEqual(["a"]);
  const { spec } = await read();
  expect(spec).toMatchObject({ leaseDurationSeconds: 15, leaseTransitions: 0 });
  expect((spec as { holderIdentity: string }).holderIdentity).toMatch(/^a_[0-9a-f-]{36}$/);
  expect((spec as { acquireTime: string }).acquireTime).toBe("2023-11-14T22:13:20.123000Z");
});

test("a leader that stops in order hands over within a retry period", async () => {
  const { clock, leading, candidate, read } = setUp();
  const a = candidate("a");
  await clock.settle();
  candidate("b");
  await clock.advance(5000);
  a.stop.abort();
  await clock.settle();
  await a.ended;
  expect(leading).toEqual([]);
  await clock.advance(2500);
  expect(leading).toEqual(["b"]);
  expect((await read())["spec"]).toMatchObject({ leaseTransitions: 1 });
});

test("one that gives up does so after its time, unless it leads", async () => {
  const { clock, leading, candidate } = setUp();
  const a = candidate("a");
  await clock.settle();
  const b = candidate("b", undefined, 60_000);
  let hasEnded = false;
  void b.ended.then(() => (hasEnded = true));
  await clock.advance(59_000);
  expect(hasEnded).toBe(false);
  await clock.advance(5000);
  expect(hasEnded).toBe(true);
  expect(leading).toEqual(["a"]);
  a.stop.abort();
  await clock.advance(1000);
  const c = candidate("c", undefined, 60_000);
  await clock.advance(600_000);
  expect(leading).toEqual(["c"]);
  c.stop.abort();
});

test("a leader cut off from the server stops before another begins", async () => {
  const { clock, server, leading, candidate } = setUp();
  const cutOff = new Proxy(server, {
    get: (target, name, receiver) => {
      if (isolated && (name === "get" || name === "update" || name === "create"))
        return () => new Promise(() => undefined);
      const value: unknown = Reflect.get(target, name, target);
      void receiver;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  let isolated = false;
  candidate("a", cutOff);
  await clock.settle();
  candidate("b");
  await clock.advance(20_000);
  expect(leading).toEqual(["a"]);
  isolated = true;
  let most = 0;
  let gap = false;
  for (let i = 0; i < 40_000 && leading[0] !== "b"; i += 100) {
    await clock.advance(100);
    most = Math.max(most, leading.length);
    gap ||= leading.length === 0;
  }
  expect(leading).toEqual(["b"]);
  expect(most).toBe(1);
  expect(gap).toBe(true);
});

test("a holder that vanished is followed after the lease's own duration, if that is longer", async () => {
  const { clock, server, leading, candidate } = setUp();
  await server.create(leases, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: lease,
    spec: {
      holderIdentity: "dead",
      leaseDurationSeconds: 40,
      renewTime: "1999-01-01T00:00:00.000000Z",
    },
  });
  candidate("a");
  await clock.advance(39_000);
  expect(leading).toEqual([]);
  await clock.advance(5000);
  expect(leading).toEqual(["a"]);
});

test("a renewal with unknown outcome is not counted, and leading goes on", async () => {
  const { clock, server, leading, candidate } = setUp();
  candidate("a");
  await clock.settle();
  server.writeFaults.push("lost after", "lost before", "not sent");
  await clock.advance(60_000);
  expect(leading).toEqual(["a"]);
  expect(server.writeFaults).toEqual([]);
});

test("work that ends by itself releases the lease, and it is competed for again", async () => {
  const { clock, server } = setUp();
  const random = createRandom(1);
  const ports = {
    clock,
    random,
    ids: createSeededIds(random),
    log: silentLog,
    metrics: silentMetrics,
  };
  let terms = 0;
  void createLeaderElection(ports, server, {
    ...LEADER_ELECTION_TIMES,
    lease,
    identity: "a",
    lead: async () => void (terms += 1),
  }).run(new AbortController().signal);
  await clock.advance(10_000);
  expect(terms).toBeGreaterThan(1);
});

test("times that cannot work are refused", () => {
  const { clock, server } = setUp();
  const random = createRandom(1);
  const ports = {
    clock,
    random,
    ids: createSeededIds(random),
    log: silentLog,
    metrics: silentMetrics,
  };
  const options = { ...LEADER_ELECTION_TIMES, lease, identity: "a", lead: () => Promise.resolve() };
  expect(() =>
    createLeaderElection(ports, server, { ...options, renewDeadlineMs: 15_000 }),
  ).toThrow("leaseDuration");
  expect(() => createLeaderElection(ports, server, { ...options, renewDeadlineMs: 2000 })).toThrow(
    "retryPeriod",
  );
});

test("a process that was paused for longer than its lease writes nothing when it goes on, before any timer rings", async () => {
  const { clock, server } = setUp();
  const random = createRandom(1);
  let paused = 0;
  /** What a paused process sees when it goes on: the time has passed, and its timers have not rung yet. */
  const pausable = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + paused,
    after: clock.after.bind(clock),
  };
  const ports = {
    clock: pausable,
    random,
    ids: createSeededIds(random),
    log: silentLog,
    metrics: silentMetrics,
  };
  const terms: { readonly term: Term; readonly client: Client }[] = [];
  const run = createLeaderElection(ports, server, {
    ...LEADER_ELECTION_TIMES,
    lease,
    identity: "a",
    lead: async (signal, term) => {
      terms.push({ term, client: fencedClient(server, term) });
      await sleep(clock, 1e12, signal);
    },
  });
  void run.run(new AbortController().signal);
  await clock.advance(5000);
  const [first] = terms;
  if (first === undefined) throw new Error("it does not lead");
  const write = (name: string): Promise<AnyObject> => {
    const metadata = { namespace: "kube-system", name };
    return first.client.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata,
    });
  };
  await write("before");
  expect(first.term.isHeld()).toBe(true);
  paused = 20_000;
  expect(first.term.isHeld()).toBe(false);
  await expect(write("after")).rejects.toThrow("does not lead any more");
  expect(await first.client.get(leases, lease)).toBeDefined();
  // It leads again later, by a term of its own; the old one stays over.
  await clock.advance(60_000);
  expect(terms).toHaveLength(2);
  expect(terms[1]?.term.isHeld()).toBe(true);
  expect(first.term.isHeld()).toBe(false);
  await expect(write("after")).rejects.toThrow("does not lead any more");
});

test("a term is over once its work has ended", async () => {
  const { clock, server } = setUp();
  const random = createRandom(1);
  const ports = {
    clock,
    random,
    ids: createSeededIds(random),
    log: silentLog,
    metrics: silentMetrics,
  };
  const held: boolean[] = [];
  const stop = new AbortController();
  let known: Term | undefined;
  const ended = createLeaderElection(ports, server, {
    ...LEADER_ELECTION_TIMES,
    lease,
    identity: "a",
    lead: async (signal, term) => {
      known = term;
      await sleep(clock, 1e12, signal);
      // While it stops in order it may still finish what it began.
      held.push(term.isHeld());
    },
  }).run(stop.signal);
  await clock.advance(5000);
  stop.abort();
  await clock.settle();
  await ended;
  expect(held).toEqual([true]);
  expect(known?.isHeld()).toBe(false);
});
