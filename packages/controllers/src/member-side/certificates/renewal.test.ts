import {
  certificateSigningRequests,
  clusters,
  controlPlaneKinds,
  crdOf,
  type JsonObject,
  leases,
  type Resource,
} from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import { bundleMark } from "@lifeboat/core/clusters/certificates";
import {
  agentUser,
  detectorIdentity,
  detectorRoleObjects,
  detectorUser,
} from "@lifeboat/core/clusters/rights";
import { createPaperSigner, newCluster, readPaperCertificate, resources } from "@lifeboat/testkit";
import { describe, expect, it, test } from "vitest";
import { type RunningAgent, type SharedPair, startRenewalWorld } from "./renewal-world.suite.ts";

const HOUR = 3_600_000;
const certificateOf = (agent: RunningAgent) => {
  const read = readPaperCertificate(agent.used().certificate);
  if (read === undefined) throw new Error("the agent has a certificate");
  return read;
};

describe("an agent's certificate", () => {
  it("is renewed after 70 to 80 % of its life, kept before it is used, and never refused", async () => {
    const { world, startAgent } = await startRenewalWorld();
    const start = world.clock.now();
    const agent = await startAgent({ cluster: "eu-1" });
    await world.advance(16.5 * HOUR);
    expect(certificateOf(agent).publicKey).toBe("first");
    await world.advance(3 * HOUR);
    const renewed = certificateOf(agent);
    expect(renewed).toMatchObject({ user: agentUser("eu-1"), publicKey: "eu-1-1" });
    expect(renewed.notAfter - start).toBeGreaterThan(24 * HOUR + 16.5 * HOUR);
    expect(agent.kept()).toEqual(agent.used());
    expect(agent.used().key).toBe("eu-1-1");
    expect(agent.refusals()).toBe(0);
    await agent.stop();
  });

  it("that ended while the agent was cut off is replaced by the bootstrap token", async () => {
    const { world, startAgent } = await startRenewalWorld();
    const agent = await startAgent({ cluster: "eu-1", withToken: true, lifeMs: -1 });
    await world.advance("1m");
    expect(certificateOf(agent).publicKey).toBe("eu-1-1");
    expect(agent.logged.join()).toContain("asking by the bootstrap token");
    const before = agent.refusals();
    await world.advance("30h");
    expect(agent.refusals()).toBe(before);
    await agent.stop();
  });

  it("that ended without a token is told with what to do, again and again", async () => {
    const { world, startAgent } = await startRenewalWorld();
    const agent = await startAgent({ cluster: "eu-1", lifeMs: -1 });
    await world.advance("10m");
    expect(agent.logged[0]).toContain("lifeboat token create --cluster eu-1");
    expect(certificateOf(agent).publicKey).toBe("first");
    expect(agent.refusals()).toBeGreaterThan(9);
    expect(agent.refusals()).toBeLessThan(60);
    await agent.stop();
  });
});

describe("a detector's certificate", () => {
  const DAY = 24 * HOUR;
  const clusterRoles: Resource = {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    plural: "clusterroles",
    kind: "ClusterRole",
    namespaced: false,
  };

  /** A world in which the detector of eu-1 is registered. */
  async function registered() {
    const opened = await startRenewalWorld();
    const { client } = opened.world;
    const crd = await client.create(resources.crds, clusterCrd());
    // As housekeeping does it, which would be busy for all the days of these tests.
    const { names } = crd["spec"] as { readonly names: JsonObject };
    const conditions = ["NamesAccepted", "Established"].map((type) => ({ type, status: "True" }));
    const status = { acceptedNames: names, storedVersions: ["v1alpha1"], conditions };
    await client.update(
      resources.crds,
      { ...crd, status },
      {
        subresource: "status",
      },
    );
    const cluster = await client.create(clusters, newCluster("eu-1"));
    const [role] = detectorRoleObjects("eu-1");
    if (role === undefined) throw new Error("a detector has a ClusterRole");
    const annotations = { "lifeboat.dev/cluster-uid": cluster.metadata.uid ?? "" };
    await client.create(clusterRoles, { ...role, metadata: { ...role.metadata, annotations } });
    return opened;
  }
  function clusterCrd() {
    const kind = controlPlaneKinds.find(({ plural }) => plural === clusters.plural);
    if (kind === undefined) throw new Error("Clusters are a kind");
    return crdOf(kind);
  }
  const shareNothingYet = (): SharedPair => ({ pair: undefined, writes: 0 });
  const start = {
    cluster: "eu-1",
    of: "detector" as const,
    lifeMs: 30 * DAY,
    lookEveryMs: 6 * HOUR,
  };

  it("is renewed while it runs, lives as long as the first, and is never refused", async () => {
    const { world, startAgent } = await registered();
    const detector = await startAgent({ ...start, shared: shareNothingYet() });
    await world.advance(20.9 * DAY);
    expect(certificateOf(detector).publicKey).toBe("first");
    await world.advance(3.2 * DAY);
    const renewed = certificateOf(detector);
    expect(renewed).toMatchObject({ user: detectorUser("eu-1"), publicKey: "eu-1-1-1" });
    const life = renewed.notAfter - renewed.notBefore;
    expect(life / DAY).toBeCloseTo(30, 1);
    expect(detector.kept()).toEqual(detector.used());
    await world.advance(45 * DAY);
    expect(detector.refusals()).toBe(0);
    expect(certificateOf(detector).notAfter - world.clock.now()).toBeGreaterThan(0.19 * life);
    await detector.stop();
  });

  it("is renewed once for all nodes: the others use what one has kept", async () => {
    const { world, startAgent } = await registered();
    const shared = shareNothingYet();
    const nodes = [];
    for (let n = 0; n < 5; n++) nodes.push(await startAgent({ ...start, shared }));
    await world.advance(24.2 * DAY);
    const keys = new Set(nodes.map((node) => node.used().key));
    expect([...keys]).toEqual([shared.pair?.key]);
    expect(shared.pair?.key).not.toBe("first");
    expect(shared.writes).toBe(1);
    for (const node of nodes) expect(node.refusals()).toBe(0);
    for (const node of nodes) await node.stop();
    // One that starts now begins with what is kept.
    const late = await startAgent({ ...start, shared });
    expect(late.used()).toEqual(shared.pair);
    await late.stop();
  });

  it("is not used before it is kept, and is asked for again when the member is back", async () => {
    const { world, startAgent } = await registered();
    const shared = shareNothingYet();
    const detector = await startAgent({ ...start, shared });
    shared.isDown = true;
    await world.advance(24.2 * DAY);
    expect(detector.used().key).toBe("first");
    const asked = async (): Promise<string | undefined> =>
      (await world.client.get(certificateSigningRequests, { namespace: "", name: "detector-eu-1" }))
        .metadata.uid;
    const first = await asked();
    await world.advance("1h");
    // While it cannot be kept, no other one is asked for.
    expect(await asked()).toBe(first);
    expect(detector.refusals()).toBe(0);
    shared.isDown = false;
    await world.advance("2m");
    expect(detector.used().key).toBe("eu-1-1-1");
    expect(shared.pair).toEqual(detector.used());
    await detector.stop();
  });

  it("that ended is told with what to do, and what a person makes is taken without a restart", async () => {
    const { world, startAgent, authorities } = await registered();
    const shared = shareNothingYet();
    const detector = await startAgent({ ...start, lifeMs: -1, shared });
    await world.advance("10m");
    expect(detector.logged[0]).toContain("lifeboat register --detector eu-1");
    const notBefore = world.clock.now();
    const notAfter = addMs(notBefore, 30 * DAY);
    const { commonName: user, organizations: groups } = detectorIdentity("eu-1").subject;
    const signer = createPaperSigner(() => authorities.names[0] ?? "");
    const certificate = signer.sign({ user, groups, publicKey: "person", notBefore, notAfter });
    shared.pair = { certificate, key: "person", bundle: "ca1" };
    await world.advance("11m");
    expect(detector.used().key).toBe("person");
    const before = detector.refusals();
    await world.advance("1h");
    expect(detector.refusals()).toBe(before);
    await detector.stop();
  });
});

describe("two instances of one agent that are due together", () => {
  /** Both begin; `choices` decides which goes on where both are held, the first one where it holds no more. */
  async function play(answersAfterMs: number, choices: readonly number[]) {
    const { world, startAgent } = await startRenewalWorld({ answersAfterMs });
    const shared: SharedPair = { pair: undefined, writes: 0 };
    const held = new Map<number, () => void>();
    const steps: string[] = [];
    const forks: number[] = [];
    const agents: RunningAgent[] = [];
    for (const n of [0, 1])
      agents.push(
        await startAgent({
          cluster: "eu-1",
          // It is over but for a minute.
          lifeMs: 60_000,
          shared,
          before: (step) =>
            new Promise((resolve) => {
              held.set(n, () => {
                steps.push(`${n}: ${step}`);
                resolve();
              });
            }),
        }),
      );
    const isDone = (): boolean =>
      held.size === 0 && agents.every((agent) => agent.used().key !== "first");
    for (let turns = 0; turns < 200 && !isDone(); turns++) {
      await world.settle();
      const waiting = [...held.keys()].toSorted((a, b) => a - b);
      if (waiting.length === 0) await world.advance("1s");
      const choice = waiting.length < 2 ? 0 : (choices[forks.length] ?? 0);
      if (waiting.length === 2) forks.push(choice);
      const next = waiting[choice];
      if (next === undefined) continue;
      const release = held.get(next);
      held.delete(next);
      release?.();
    }
    const inTime = isDone();
    for (let n = 0; n < 4; n++) {
      await world.advance("1m");
      for (const [n, release] of held) {
        held.delete(n);
        release();
      }
      await world.settle();
    }
    const pairs = agents.map((agent) => agent.used());
    const broken = [...pairs, shared.pair].filter(
      (pair) => readPaperCertificate(pair?.certificate ?? "")?.publicKey !== pair?.key,
    );
    const refusals = agents.map((agent) => agent.refusals());
    for (const release of held.values()) release();
    for (const agent of agents) await agent.stop();
    const result = {
      inTime,
      broken,
      refusals,
      kept: shared.pair?.key !== "first",
      isOne: pairs.every(({ key }) => key === shared.pair?.key),
    };
    return { result, forks, steps, writes: shared.writes };
  }

  /** As many of the first decisions are tried in every combination. */
  const DEPTH = 9;

  it.each([0, 2500])(
    "get one certificate each at most, never one with the other's key, whatever comes first (answers after %d ms)",
    async (answersAfterMs) => {
      let choices: readonly number[] | undefined = [];
      let runs = 0;
      const once = new Set<number>();
      while (choices !== undefined) {
        const { result, forks, steps, writes } = await play(answersAfterMs, choices);
        runs += 1;
        once.add(writes);
        expect({ result, steps }).toEqual({
          result: { inTime: true, broken: [], refusals: [0, 0], kept: true, isOne: true },
          steps,
        });
        expect(writes).toBeLessThanOrEqual(2);
        choices = nextOf(forks.slice(0, DEPTH));
      }
      expect(runs).toBeGreaterThan(15);
      // Nearly always the renewal of one serves both.
      expect(once).toContain(1);
    },
    120_000,
  );

  /** The next combination of choices between two, as numbers are counted. */
  function nextOf(forks: readonly number[]): readonly number[] | undefined {
    const last = forks.lastIndexOf(0);
    return last < 0 ? undefined : [...forks.slice(0, last), 1];
  }
});

test("an agent trusts the authorities that are published, and tells it on its Lease", async () => {
  const { world, authorities, publish, startAgent } = await startRenewalWorld();
  const agent = await startAgent({ cluster: "eu-1" });
  await world.advance("1m");
  const marked = async (): Promise<string | undefined> =>
    (await world.client.get(leases, { namespace: "karmada-cluster", name: "eu-1" })).metadata
      .annotations?.["lifeboat.dev/ca-bundle"];
  expect(await marked()).toBe(bundleMark("ca1"));
  authorities.names = ["ca1", "ca2"];
  await publish();
  await world.advance("2m");
  expect(agent.used().bundle).toBe("ca1\nca2");
  expect(agent.kept()?.bundle).toBe("ca1\nca2");
  expect(await marked()).toBe(bundleMark("ca1\nca2"));
  await agent.stop();
});
