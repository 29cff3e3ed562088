/**
 * Safety of leader election under random partitions, hangs, lost answers, stops and crashes: never two workers at once.
 * And liveness: once everything is healed, one of them leads.
 */
import { createRandom, createSeededIds, instantOf, sleep, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import type { KubeObject, New, ObjectKey, Resource } from "@lifeboat/api";
import fc from "fast-check";
import { expect } from "vitest";
import { type CallOptions, type Client, NotSent, OutcomeUnknown } from "./client.ts";
import { createLeaderElection, LEADER_ELECTION_TIMES } from "./leader-election.ts";
import { silentLog } from "./log.ts";
import { silentMetrics } from "./metrics.ts";
import { ToyClient } from "./toy-client.suite.ts";

/** How the network treats one candidate's calls. */
type Link = "good" | "refused" | "hangs" | "answer lost" | "slow" | "late answer";

/** A client whose calls fare as its link does. A call that hangs ends when its signal aborts, as over HTTP. */
function throughLink(server: ToyClient, clock: VirtualClock, link: () => Link): Client {
  async function pass<T>(read: boolean, options: CallOptions, call: () => Promise<T>): Promise<T> {
    const state = link();
    if (state === "refused") throw new NotSent("no route");
    if (state === "hangs") {
      await sleep(clock, 60_000, options.signal);
      throw read ? new NotSent("timeout") : new OutcomeUnknown("timeout");
    }
    if (state === "slow") await sleep(clock, 3000, options.signal);
    const result = await call();
    if (state === "late answer") await sleep(clock, 20_000);
    if (state === "answer lost") throw read ? new NotSent("reset") : new OutcomeUnknown("reset");
    return result;
  }
  const client: Pick<Client, "get" | "create" | "update"> = {
    get: <T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options: CallOptions = {}) =>
      pass(true, options, () => server.get(resource, key)),
    create: <T extends KubeObject>(
      resource: Resource<T>,
      object: New<T>,
      options: CallOptions = {},
    ) => pass(false, options, () => server.create(resource, object)),
    update: <T extends KubeObject>(resource: Resource<T>, object: T, options: CallOptions = {}) =>
      pass(false, options, () => server.update(resource, object)),
  };
  return client as Client;
}

const step = fc.oneof(
  fc.record({
    do: fc.constant("link" as const),
    who: fc.nat(2),
    state: fc.constantFrom<Link>("good", "refused", "hangs", "answer lost", "slow", "late answer"),
  }),
  fc.record({ do: fc.constantFrom("stop", "start"), who: fc.nat(2) }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 100, max: 20_000 }) }),
);

/** Runs the model `numRuns` times: random partitions, stops and starts, then a healthy network. */
export async function checkLeaderElection(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(), async (steps, seed) => {
      const clock = new VirtualClock(instantOf(0), drainPromises);
      const server = new ToyClient(clock);
      const random = createRandom(seed);
      const links: Link[] = ["good", "good", "good"];
      const running: (AbortController | undefined)[] = [undefined, undefined, undefined];
      let leaders = 0;
      let starts = 0;
      const start = (who: number): void => {
        if (running[who] !== undefined) return;
        const stop = new AbortController();
        running[who] = stop;
        const mine = random.fork(`start ${starts++}`);
        const ports = {
          clock,
          random: mine,
          ids: createSeededIds(mine),
          log: silentLog,
          metrics: silentMetrics,
        };
        const client = throughLink(server, clock, () => links[who] ?? "good");
        void createLeaderElection(ports, client, {
          ...LEADER_ELECTION_TIMES,
          lease: { namespace: "n", name: "l" },
          identity: `c${who}`,
          lead: async (signal) => {
            leaders += 1;
            expect(leaders, "two lead at once").toBe(1);
            await sleep(clock, 1e12, signal);
            leaders -= 1;
          },
        }).run(stop.signal);
      };
      for (const who of [0, 1, 2]) start(who);
      for (const each of steps) {
        if (each.do === "advance") await clock.advance(each.ms);
        else if (each.do === "link") links[each.who] = each.state;
        else if (each.do === "start") start(each.who);
        else {
          running[each.who]?.abort();
          running[each.who] = undefined;
        }
        await clock.settle();
        expect(leaders).toBeLessThanOrEqual(1);
      }
      links.fill("good");
      for (const who of [0, 1, 2]) start(who);
      await clock.advance(120_000);
      expect(leaders).toBe(1);
    }),
    { numRuns },
  );
}
