/**
 * The informer against its promises while everything goes wrong: connections are lost, history is forgotten, the server is
 * away, lists come from the past, events come twice. The changes that handlers received, replayed, are what the informer
 * holds; no object ever goes back; and once the server is well, the copy equals the server.
 */
import { type AnyObject, failure, type Resource } from "@lifeboat/api";
import { createRandom, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import fc from "fast-check";
import { expect } from "vitest";
import { compareVersions, Informer } from "./informer.ts";
import { silentLog } from "./log.ts";
import { silentMetrics } from "./metrics.ts";
import { ToyClient } from "./toy-client.suite.ts";

const things: Resource = {
  group: "",
  version: "v1",
  plural: "things",
  kind: "Thing",
  namespaced: true,
};

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), name: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), name: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "lose",
        "close",
        "expire",
        "forget",
        "down",
        "up",
        "freeze",
        "thaw",
        "repeat",
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.nat(5000) }),
  },
);

/** Runs the model `numRuns` times: random writes and faults, then a healthy server. */
export async function checkInformer(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.nat(),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      async (steps, seed, streamingList, pageSize) => {
        const clock = new VirtualClock(instantOf(0), drainPromises);
        const client = new ToyClient(clock);
        const ports = { clock, random: createRandom(seed), log: silentLog, metrics: silentMetrics };
        const options = { streamingList, pageSize, indexes: { name: nameOf } };
        const informer = new Informer<AnyObject>(ports, client, things, options);
        const told = new Map<string, AnyObject>();
        const newest = new Map<string, string>();
        informer.onChange((old, now) => {
          const { uid, name } = (now ?? old)?.metadata ?? { uid: "", name: "" };
          expect(told.get(name), "the old state is the one reported last").toBe(old);
          if (now === undefined) told.delete(name);
          else {
            const { resourceVersion } = now.metadata;
            expect(compareVersions(resourceVersion, newest.get(uid) ?? "0")).toBeGreaterThan(0);
            newest.set(uid, resourceVersion);
            told.set(name, now);
          }
        });
        const stop = new AbortController();
        const run = informer.run(stop.signal);
        for (const each of steps) {
          await apply(client, clock, each);
          await clock.settle();
        }
        client.down = false;
        client.stale = undefined;
        await clock.advance(120_000);
        const server = (await client.list(things)).items;
        expect(informer.synced).toBe(true);
        expect(new Set(informer.list())).toEqual(new Set(server));
        expect(new Set(told.values())).toEqual(new Set(server));
        for (const object of server)
          expect(informer.byIndex("name", object.metadata.name)).toEqual([object]);
        stop.abort();
        await clock.settle();
        await run;
      },
    ),
    { numRuns },
  );
}

function nameOf(object: AnyObject): readonly string[] {
  return [object.metadata.name];
}

async function apply(
  client: ToyClient,
  clock: VirtualClock,
  step: { readonly do: string; readonly name?: number; readonly ms?: number },
): Promise<void> {
  const name = `n${step.name ?? 0}`;
  const wasDown = client.down;
  switch (step.do) {
    case "write":
    case "delete":
      // Another client writes, over a connection of its own.
      client.down = false;
      await writeOrDelete(client, name, step.do).finally(() => (client.down = wasDown));
      break;
    case "lose":
      client.endWatches({ kind: "lost", error: new Error("reset") });
      break;
    case "close":
      client.endWatches({ kind: "closed" });
      break;
    case "expire":
      client.endWatches({ kind: "refused", status: failure(410, "Expired", "too old") });
      break;
    case "forget":
      client.forgetHistory();
      break;
    case "down":
    case "up":
      client.down = step.do === "down";
      break;
    case "freeze":
      client.stale = client.snapshot();
      break;
    case "thaw":
      client.stale = undefined;
      break;
    case "repeat": {
      const [object] = [...(client.snapshot().tables.get("things")?.values() ?? [])];
      if (object !== undefined) client.repeat({ type: "MODIFIED", object });
      break;
    }
    default:
      await clock.advance(step.ms ?? 0);
  }
}

async function writeOrDelete(client: ToyClient, name: string, what: string): Promise<void> {
  const key = { namespace: "ns", name };
  const old = await client.get(things, key).catch(() => undefined);
  if (what === "delete") {
    if (old !== undefined) await client.delete(things, key);
  } else if (old === undefined)
    await client.create(things, { apiVersion: "v1", kind: "Thing", metadata: key });
  else await client.update(things, { ...old, touched: client.version });
}
