/** One probe: which paths are asked, and that it ends in time. */
import { failure, Refused } from "@lifeboat/api";
import { VirtualClock, instantOf } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { type CallOptions, type Client, ExcessiveResponse, NotSent } from "@lifeboat/kit";
import { expect, it } from "vitest";
import { probe } from "./probe.ts";

const NOT_FOUND = new Refused(failure(404, "NotFound", "no such path"));

/** A member of which only health paths are known; what it was asked stands in `asked`. */
function member(answers: Readonly<Record<string, Error | "ok" | "never">>) {
  const asked: string[] = [];
  const signals: AbortSignal[] = [];
  const read = (path: string, options: CallOptions = {}): Promise<string> => {
    asked.push(path);
    if (options.signal !== undefined) signals.push(options.signal);
    const answer = answers[path] ?? NOT_FOUND;
    if (answer === "never") return new Promise(() => {});
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { asked, signals, client: { read } as unknown as Client };
}

function clockOf(): VirtualClock {
  return new VirtualClock(instantOf(0), drainPromises);
}

const BROKEN = new Refused(failure(500, "InternalError", "broken"));

it.each([
  { name: "readyz", answers: { "/readyz": "ok" }, asked: 1, reason: "ClusterReady" },
  { name: "healthz alone", answers: { "/healthz": "ok" }, asked: 2, reason: "ClusterReady" },
  { name: "neither path", answers: {}, asked: 2, reason: "ClusterNotReady" },
  {
    name: "a broken readyz",
    answers: { "/readyz": BROKEN, "/healthz": "ok" },
    asked: 1,
    reason: "ClusterNotReady",
  },
] as const)("a member with $name is $reason", async ({ answers, asked, reason }) => {
  const { client, asked: paths } = member(answers);
  const observation = await probe(clockOf(), client, 1000, new AbortController().signal);
  expect(observation.reason).toBe(reason);
  expect(paths).toEqual(["/readyz", "/healthz"].slice(0, asked));
});

it("takes an answer that cannot be read for that of a member that is not well", async () => {
  const cause = new ExcessiveResponse("ResponseTooLarge", "too large");
  const { client } = member({ "/readyz": new NotSent("too large", { cause }) });
  const observation = await probe(clockOf(), client, 1000, new AbortController().signal);
  expect(observation.reason).toBe("ClusterNotReady");
});

it("gives up in time on a member that never answers, and lets the call go", async () => {
  const clock = clockOf();
  const { client, signals } = member({ "/readyz": "never" });
  const observed = probe(clock, client, 1000, new AbortController().signal);
  await clock.advance(999);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  await clock.advance(1);
  expect((await observed).reason).toBe("ClusterNotReachable");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it("ends at once when it is not wanted any more", async () => {
  const stop = new AbortController();
  const { client, signals } = member({ "/readyz": "never" });
  const observed = probe(clockOf(), client, 1000, stop.signal);
  stop.abort();
  await observed;
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});
