import { getEventListeners } from "node:events";
import {
  alreadyExists,
  type AnyObject,
  conflict,
  failure,
  formatKey,
  Refused,
  type Resource,
  STALE_VERSION,
} from "@lifeboat/api";
import {
  addMs,
  createRandom,
  instantOf,
  InvariantError,
  sleep,
  VirtualClock,
} from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, test } from "vitest";
import { createPromMetrics } from "./adapters/prom-metrics.ts";
import { NotSent, OutcomeUnknown } from "./client.ts";
import {
  checkAgainAt,
  createController,
  done,
  type Outcome,
  ownKey,
  watching,
} from "./controller.ts";
import { Informer } from "./informer.ts";
import type { Log } from "./log.ts";
import { ToyClient } from "./toy-client.suite.ts";

const things: Resource = {
  group: "",
  version: "v1",
  plural: "things",
  kind: "Thing",
  namespaced: true,
};
const others: Resource = { ...things, plural: "others", kind: "Other" };

function thing(name: string, data: Record<string, unknown> = {}) {
  return { apiVersion: "v1", kind: "Thing", metadata: { namespace: "ns", name }, ...data };
}

function recordingLog(lines: string[]): Log {
  const at = (level: string) => (message: string) => {
    lines.push(`${level}: ${message}`);
  };
  const log: Log = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => log,
  };
  return log;
}

function setUp(reconcile: (name: string, attempt: number) => Promise<Outcome>, concurrency = 1) {
  const clock = new VirtualClock(instantOf(1_000_000), drainPromises);
  const client = new ToyClient(clock);
  const lines: string[] = [];
  const metrics = createPromMetrics();
  const ports = { clock, random: createRandom(1), log: recordingLog(lines), metrics };
  const informer = new Informer(ports, client, things);
  const second = new Informer<AnyObject>(ports, client, others);
  const looks: string[] = [];
  const stop = new AbortController();
  const controller = createController(ports, {
    name: "test",
    concurrency,
    watches: [
      watching(informer, ownKey),
      watching(second, (old, now) => [
        { namespace: "ns", name: (now ?? old)?.["owner"] as string },
      ]),
    ],
    reconcile: (key) => {
      looks.push(`${clock.monotonic()} ${formatKey(key)}`);
      return reconcile(key.name, looks.length);
    },
  });
  const start = async (): Promise<{ ended: Promise<void> }> => {
    void informer.run(stop.signal);
    void second.run(stop.signal);
    const ended = controller.run(stop.signal);
    ended.catch(() => undefined);
    await clock.settle();
    return { ended };
  };
  return { clock, client, lines, metrics, looks, stop, controller, informer, second, start };
}

test("objects and what is mapped to them lead to reconciles", async () => {
  const { clock, client, looks, start } = setUp(async () => done);
  await client.create(things, thing("a"));
  await start();
  await client.create(others, { ...thing("x"), owner: "b" });
  await clock.settle();
  expect(looks).toEqual(["0 ns/a", "0 ns/b"]);
});

test("no key is reconciled before every informer is synced", async () => {
  const { clock, client, controller, informer, second, looks, stop } = setUp(async () => done);
  await client.create(things, thing("a"));
  void informer.run(stop.signal);
  void controller.run(stop.signal);
  await clock.advance(5000);
  expect(informer.synced).toBe(true);
  expect(looks).toEqual([]);
  void second.run(stop.signal);
  await clock.settle();
  expect(looks).toEqual(["5000 ns/a"]);
});

test("checkAgainAt leads to a reconcile at that time, and a reconcile in between makes it void", async () => {
  const at = instantOf(1_060_000);
  const { clock, client, controller, looks, start } = setUp(async (_, attempt) =>
    attempt < 3 ? checkAgainAt(addMs(at, attempt * 1000)) : done,
  );
  await client.create(things, thing("a"));
  await start();
  await clock.advance(30_000);
  controller.enqueue({ namespace: "ns", name: "a" });
  await clock.advance(600_000);
  expect(looks).toEqual(["0 ns/a", "30000 ns/a", "62000 ns/a"]);
});

test("a time that was found while the clock jumped is not relied on", async () => {
  const { clock, client, looks, start } = setUp(async (_, attempt) => {
    const at = addMs(clock.now(), 1000);
    if (attempt === 1) clock.step(-600_000);
    return attempt < 3 ? checkAgainAt(at) : done;
  });
  await client.create(things, thing("a"));
  await start();
  expect(looks).toHaveLength(2);
  await clock.advance(1000);
  expect(looks).toHaveLength(3);
});

test("a time that has passed already leads to a reconcile at once", async () => {
  const { client, looks, start } = setUp(async (_, attempt) =>
    attempt === 1 ? checkAgainAt(instantOf(5)) : done,
  );
  await client.create(things, thing("a"));
  await start();
  expect(looks).toEqual(["0 ns/a", "0 ns/a"]);
});

test.each([
  {
    name: "a conflict",
    error: () => conflict(things, "a", STALE_VERSION),
    line: "debug",
    outcome: "conflict",
  },
  {
    name: "a double create",
    error: () => alreadyExists(things, "a"),
    line: "debug",
    outcome: "conflict",
  },
  {
    name: "a lost connection",
    error: () => new NotSent("x"),
    line: "warn",
    outcome: "unavailable",
  },
  {
    name: "an unknown outcome",
    error: () => new OutcomeUnknown("x"),
    line: "warn",
    outcome: "unavailable",
  },
  { name: "a bug", error: () => new TypeError("x"), line: "error", outcome: "error" },
])("$name is reconciled again after 5 ms with one $line line", async ({ error, line, outcome }) => {
  const { clock, client, lines, looks, metrics, start } = setUp(async (_, attempt) => {
    if (attempt === 1) throw error();
    return done;
  });
  await client.create(things, thing("a"));
  await start();
  await clock.advance(4);
  expect(looks).toHaveLength(1);
  await clock.advance(1);
  expect(looks).toHaveLength(2);
  expect(lines.filter((text) => text.startsWith(line))).toHaveLength(1);
  expect(await metrics.expose()).toContain(
    `kit_reconcile_outcomes_total{controller="test",outcome="${outcome}"} 1`,
  );
});

test("a Retry-After is kept to", async () => {
  const busy = new Refused(failure(429, "TooManyRequests", "busy", { retryAfterSeconds: 3 }));
  const { clock, client, looks, start } = setUp(async (_, attempt) => {
    if (attempt === 1) throw busy;
    return done;
  });
  await client.create(things, thing("a"));
  await start();
  await clock.advance(10_000);
  expect(looks).toEqual(["0 ns/a", "3000 ns/a"]);
});

test("a success ends the row of failures", async () => {
  const { clock, client, controller, looks, start } = setUp(async (_, attempt) => {
    if (attempt <= 3 || attempt === 5) throw new Error("x");
    return done;
  });
  await client.create(things, thing("a"));
  await start();
  await clock.advance(1000);
  expect(looks.map((look) => look.split(" ")[0])).toEqual(["0", "5", "15", "35"]);
  controller.enqueue({ namespace: "ns", name: "a" });
  await clock.advance(1000);
  expect(looks.map((look) => look.split(" ")[0]).slice(4)).toEqual(["1000", "1005"]);
});

test("an InvariantError stops the controller", async () => {
  const { client, looks, start } = setUp(async () => {
    throw new InvariantError("counts differ");
  });
  await client.create(things, thing("a"));
  await client.create(things, thing("b"));
  const { ended } = await start();
  await expect(ended).rejects.toThrow(InvariantError);
  expect(looks).toHaveLength(1);
});

test("stopping waits for the reconciles under way and aborts their signal", async () => {
  let finish: (() => void) | undefined;
  const { clock, client, looks, start, stop } = setUp(
    () => new Promise((resolve) => (finish = () => resolve(done))),
  );
  await client.create(things, thing("a"));
  await client.create(things, thing("b"));
  const { ended } = await start();
  let over = false;
  void ended.then(() => (over = true));
  stop.abort();
  await clock.settle();
  expect(over).toBe(false);
  finish?.();
  await clock.settle();
  expect(over).toBe(true);
  expect(looks).toEqual(["0 ns/a"]);
});

test("several keys are reconciled at once, one key never", async () => {
  let now = 0;
  let most = 0;
  const { clock, client, controller, start } = setUp(async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => void clock.after(10, resolve));
    now -= 1;
    return done;
  }, 3);
  for (const name of ["a", "b", "c", "d", "e"]) await client.create(things, thing(name));
  await start();
  controller.enqueue({ namespace: "ns", name: "a" });
  await clock.advance(5);
  expect(now).toBe(3);
  await clock.advance(1000);
  expect(most).toBe(3);
});

test("a controller can be run again after it ended, and sees everything again", async () => {
  const { clock, client, controller, looks, start } = setUp(async (_, attempt) => {
    if (attempt === 1) throw new InvariantError("once");
    return done;
  });
  await client.create(things, thing("a"));
  await start();
  void controller.run(new AbortController().signal);
  await clock.settle();
  expect(looks).toEqual(["0 ns/a", "0 ns/a"]);
});

test("no signal gets a listener for each watch or for each reconcile under way", async () => {
  const clock = new VirtualClock(instantOf(1_000_000), drainPromises);
  const ports = {
    clock,
    random: createRandom(1),
    log: recordingLog([]),
    metrics: createPromMetrics(),
  };
  const client = new ToyClient(clock);
  const informer = new Informer(ports, client, things);
  const stop = new AbortController();
  const seen = new Set<AbortSignal>();
  const controller = createController(ports, {
    name: "test",
    concurrency: 20,
    watches: Array.from({ length: 20 }, () => watching(informer, ownKey)),
    reconcile: async (_key, signal) => {
      seen.add(signal);
      await sleep(clock, 1000, signal);
      return done;
    },
  });
  for (let i = 0; i < 20; i++) await client.create(things, thing(`t${i}`));
  const running = controller.run(stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  void informer.run(new AbortController().signal);
  await clock.advance(100);
  expect(seen.size).toBe(20);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  for (const signal of seen) expect(getEventListeners(signal, "abort")).toHaveLength(1);
  stop.abort();
  await running;
  for (const signal of seen) expect(signal.aborted).toBe(true);
});
