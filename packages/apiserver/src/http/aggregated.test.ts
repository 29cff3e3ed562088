/** The aggregated group without a transport: which front proxy may name users, which right is checked, and when a stream ends. */
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { silentLog } from "@lifeboat/kit";
import { beforeEach, describe, expect, it } from "vitest";
import { type AggregatedDeps, createAggregatedHandle, type PassedOn } from "./aggregated.ts";
import type { Handle, HttpRequest, HttpResponse } from "./exchange.ts";
import type { MemberRequest } from "./member-proxy.ts";

const PREFIX = "/apis/proxy.lifeboat.dev/v1alpha1";
const ann: PassedOn = { user: { name: "ann", groups: ["g"] }, byReplica: false };

let clock: VirtualClock;
let passedOn: PassedOn | undefined;
let isAllowed: boolean;
let isAway: boolean;
let asked: unknown[];
let forwarded: MemberRequest[];
let tunnels: MemberRequest[];
let stopped: number;
let handle: Handle;

beforeEach(() => {
  clock = new VirtualClock(instantOf(0), drainPromises);
  [passedOn, isAllowed, isAway, asked, forwarded, tunnels, stopped] = [
    ann,
    true,
    false,
    [],
    [],
    [],
    0,
  ];
  const answer = async (): Promise<HttpResponse> => ({
    status: 200,
    headers: {},
    body: { start: () => undefined, stop: () => void (stopped += 1) },
  });
  const deps: AggregatedDeps = {
    clock,
    log: silentLog,
    userOf: () => passedOn,
    review: async ({ verb, subresource, name, user }) => {
      asked.push(`${user.name} ${verb} clusters/${subresource} ${name}`);
      if (isAway) throw new Error("away");
      return { allowed: isAllowed, reason: "no binding" };
    },
    members: {
      forward: (request) => (forwarded.push(request), answer()),
      openTunnel: (request) => (tunnels.push(request), answer()),
    },
  };
  handle = createAggregatedHandle(deps);
});

const ask = (url: string, method = "GET"): Promise<HttpResponse> =>
  handle({
    method,
    url,
    headers: {},
    body: new Uint8Array(0),
    signal: new AbortController().signal,
  } satisfies HttpRequest);
const textOf = ({ body }: HttpResponse): string => Buffer.from(body as Uint8Array).toString();

describe("a request", () => {
  it("of a sender who may name no user is refused before a right is asked for", async () => {
    passedOn = undefined;
    for (const url of [PREFIX, `${PREFIX}/clusters/m1/proxy/api`])
      expect((await ask(url)).status).toBe(401);
    expect([asked, forwarded]).toEqual([[], []]);
  });

  it("is passed on in the name of its user when that user may", async () => {
    expect((await ask(`${PREFIX}/clusters/m1/proxy/api/v1?limit=1`, "POST")).status).toBe(200);
    expect(asked).toEqual(["ann create clusters/proxy m1"]);
    expect(forwarded).toMatchObject([
      { cluster: "m1", path: "/api/v1", query: "limit=1", user: ann.user, isForwarded: false },
    ]);
  });

  it("is refused with the reason when the user may not, and with 503 when nobody answers", async () => {
    isAllowed = false;
    const refused = await ask(`${PREFIX}/clusters/m1/attach`);
    expect(refused.status).toBe(403);
    expect(textOf(refused)).toContain('cannot get resource \\"clusters/attach\\"');
    expect(textOf(refused)).toContain("no binding");
    isAway = true;
    expect((await ask(`${PREFIX}/clusters/m1/proxy/api`)).status).toBe(503);
    expect([forwarded, tunnels]).toEqual([[], []]);
  });

  it("that another replica passes on is not asked about again, and is marked", async () => {
    passedOn = { ...ann, byReplica: true };
    await ask(`${PREFIX}/clusters/m1/attach?session=x`);
    expect(asked).toEqual([]);
    expect(tunnels).toMatchObject([{ cluster: "m1", isForwarded: true }]);
  });

  it.each([
    ["GET", "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/api", 404],
    ["GET", "/api/v1/namespaces", 404],
    ["GET", `${PREFIX}/clusters/m1/proxy/../x`, 400],
    ["POST", `${PREFIX}/clusters/m1/attach`, 405],
    ["POST", PREFIX, 405],
  ])("%s %s is none of this group's: %i", async (method, url, status) => {
    expect((await ask(url, method)).status).toBe(status);
    expect([forwarded, tunnels]).toEqual([[], []]);
  });
});

it("discovery lists the two subresources", async () => {
  const list = JSON.parse(textOf(await ask(PREFIX))) as { resources: { name: string }[] };
  expect(list.resources.map(({ name }) => name)).toEqual(["clusters/attach", "clusters/proxy"]);
  expect((await ask("/apis/proxy.lifeboat.dev")).status).toBe(200);
});

describe("an answer that lasts", () => {
  async function begin(): Promise<{ isAborted: () => boolean; stop: () => void }> {
    const { body } = await ask(`${PREFIX}/clusters/m1/proxy/api?watch=1`);
    let isAborted = false;
    if (!("start" in body)) throw new Error("no stream");
    body.start({
      write: () => true,
      onDrain: () => undefined,
      end: () => undefined,
      abort: () => void (isAborted = true),
    });
    return { isAborted: () => isAborted, stop: () => body.stop() };
  }

  it("breaks off when the right to it is gone, and not because nobody answers", async () => {
    const { isAborted } = await begin();
    isAway = true;
    await clock.advance(60_000);
    expect([asked.length, isAborted()]).toEqual([2, false]);
    isAway = false;
    await clock.advance(60_000);
    expect(isAborted()).toBe(false);
    isAllowed = false;
    await clock.advance(60_000);
    expect([isAborted(), stopped]).toEqual([true, 1]);
    await clock.advance(600_000);
    expect(asked.length).toBe(4);
  });

  it("is not asked about once it is over", async () => {
    const { stop } = await begin();
    stop();
    await clock.advance(600_000);
    expect(asked.length).toBe(1);
  });
});
