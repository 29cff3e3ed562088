/** A simulated member in process, on a virtual clock: what the outside sees of it under each fault. */
import type { SimulatedFault } from "@lifeboat/api";
import {
  createMemoryStorage,
  Dropped,
  type HttpRequest,
  type HttpResponse,
  type User,
} from "@lifeboat/apiserver";
import { createRandom, createSeededIds, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { deployment, resources } from "@lifeboat/testkit";
import { beforeEach, describe, expect, it } from "vitest";
import { modelOptions } from "./member-spec.ts";
import { createSimulatedMember, type SimulatedMember } from "./simulated-member.ts";

const ADMIN: User = { name: "admin", groups: ["system:masters"] };
const { deployments, pods } = resources;

let clock: VirtualClock;
let member: SimulatedMember;

beforeEach(async () => {
  clock = new VirtualClock(instantOf(Date.UTC(2026, 0, 1)), drainPromises);
  const random = createRandom(1);
  member = await createSimulatedMember(
    {
      clock,
      random,
      ids: createSeededIds(random.fork("ids")),
      log: silentLog,
      metrics: silentMetrics,
      storage: createMemoryStorage(clock, { syncDelayMs: 0 }),
    },
    {
      name: "member1",
      version: "0.1.0",
      tokens: new Map([["secret", ADMIN]]),
      model: modelOptions({ nodes: 2 }),
    },
  );
});

/** A request under way: what came back, if anything has. */
interface Call {
  readonly gone: AbortController;
  answer?: HttpResponse;
  error?: unknown;
}

function send(url: string, more: Partial<HttpRequest> = {}): Call {
  const gone = new AbortController();
  const call: Call = { gone };
  member
    .handle({
      method: "GET",
      url,
      headers: { authorization: "Bearer secret" },
      body: new Uint8Array(),
      signal: gone.signal,
      ...more,
    })
    .then(
      (answer) => (call.answer = answer),
      (error: unknown) => (call.error = error),
    );
  return call;
}

async function fail(...faults: readonly SimulatedFault[]): Promise<void> {
  await member.setFaults(faults);
  await clock.settle();
}

describe("faults on the way", () => {
  it("without any, its token opens it", async () => {
    const call = send("/api/v1/nodes");
    await clock.settle();
    expect(call.answer?.status).toBe(200);
  });

  it("api-down answers nothing and tells the transport to stop listening, and to listen again", async () => {
    const heard: boolean[] = [];
    member.onServing(async (isServing) => void heard.push(isServing));
    await fail({ mode: "api-down" });
    await fail({ mode: "api-down" });
    const call = send("/version");
    await clock.settle();
    expect(call.error).toBeInstanceOf(Dropped);
    await fail();
    expect(heard).toEqual([false, true]);
  });

  it("partition keeps a request waiting until it heals, and then carries it out", async () => {
    await fail({ mode: "partition" });
    const call = send("/version");
    await clock.advance(60_000);
    expect(call).toEqual({ gone: call.gone });
    await fail();
    expect(call.answer?.status).toBe(200);
  });

  it("a write whose sender gave up during a partition is never carried out", async () => {
    await fail({ mode: "partition" });
    const body = new TextEncoder().encode(JSON.stringify({ metadata: { name: "late" } }));
    const call = send("/api/v1/namespaces", { method: "POST", body });
    await clock.advance(1000);
    call.gone.abort();
    await fail();
    expect(call.error).toBeInstanceOf(Dropped);
    const { items } = await member.server.client(ADMIN).list(resources.namespaces);
    expect(items.map((item) => item.metadata.name)).not.toContain("late");
  });

  it("an answer that is ready when the partition begins waits too", async () => {
    const call = send("/version");
    await member.setFaults([{ mode: "partition" }]);
    await clock.advance(1000);
    expect(call.answer).toBeUndefined();
    await fail();
    expect(call.answer?.status).toBe(200);
  });

  it("a watch falls silent during a partition and misses nothing afterwards", async () => {
    const call = send("/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dnew");
    await clock.settle();
    let text = "";
    const body = call.answer?.body;
    if (body === undefined || !("start" in body)) throw new Error("a watch is a stream");
    body.start({
      write: (chunk) => {
        text += new TextDecoder().decode(chunk);
        return true;
      },
      onDrain: () => undefined,
      end: () => undefined,
      abort: () => undefined,
    });
    await fail({ mode: "partition" });
    const client = member.server.client(ADMIN);
    const created = await client.create(resources.namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "new" },
    });
    const labelled = { ...created, metadata: { ...created.metadata, labels: { a: "b" } } };
    await client.update(resources.namespaces, labelled);
    await clock.advance(1000);
    expect(text).toBe("");
    await fail();
    expect(text).toMatch(/"ADDED".*"MODIFIED"/s);
    body.stop();
  });

  it("slow delays an answer by what is asked, and by five seconds when nothing is", async () => {
    await fail({ mode: "slow", delayMilliseconds: 700 });
    const short = send("/version");
    await clock.advance(699);
    expect(short.answer).toBeUndefined();
    await clock.advance(1);
    expect(short.answer?.status).toBe(200);
    await fail({ mode: "slow" });
    const long = send("/version");
    await clock.advance(4999);
    expect(long.answer).toBeUndefined();
    await clock.advance(1);
    expect(long.answer?.status).toBe(200);
  });

  it.each([
    [0, 0, 0],
    [30, 30, 90],
    [100, 200, 200],
  ])("errors with %i percent", async (errorPercent, least, most) => {
    await fail({ mode: "errors", errorPercent });
    const calls = Array.from({ length: 200 }, () => send("/version"));
    await clock.settle();
    const failed = calls.filter((call) => call.answer?.status === 500).length;
    expect(failed).toBeGreaterThanOrEqual(least);
    expect(failed).toBeLessThanOrEqual(most);
    expect(calls.filter((call) => call.answer?.status === 200)).toHaveLength(200 - failed);
  });

  it("errors reach nothing and say what they are", async () => {
    await fail({ mode: "errors" });
    const body = new TextEncoder().encode(JSON.stringify({ metadata: { name: "never" } }));
    const call = send("/api/v1/namespaces", { method: "POST", body });
    await clock.settle();
    expect(new TextDecoder().decode(call.answer?.body as Uint8Array)).toContain("simulated fault");
    const { items } = await member.server.client(ADMIN).list(resources.namespaces);
    expect(items.map((item) => item.metadata.name)).not.toContain("never");
  });
});

describe("what runs in it", () => {
  const readyPods = async (): Promise<number> => {
    const { items } = await member.server.client(ADMIN).list(pods);
    return items.filter((pod) => JSON.stringify(pod).includes('"type":"Ready","status":"True"'))
      .length;
  };

  it("goes on while it is cut off; pods-not-ready and heal change its pods; a new size starts nothing twice", async () => {
    const stop = new AbortController();
    const running = member.run(stop.signal);
    await fail({ mode: "partition" });
    const client = member.server.client(ADMIN);
    await client.create(deployments, deployment("web", { replicas: 3 }));
    await clock.advance(5000);
    expect(await readyPods()).toBe(3);
    await fail({ mode: "pods-not-ready" });
    await clock.advance(5000);
    expect(await readyPods()).toBe(0);
    member.setModel(modelOptions({ nodes: 3 }));
    await clock.advance(5000);
    expect(await readyPods()).toBe(0);
    await fail();
    await clock.advance(5000);
    expect(await readyPods()).toBe(3);
    const nodes = { ...pods, plural: "nodes", kind: "Node", namespaced: false };
    expect((await client.list(nodes)).items).toHaveLength(3);
    expect((await client.list(pods)).items).toHaveLength(3);
    stop.abort();
    await clock.advance(1000);
    await running;
  });
});
