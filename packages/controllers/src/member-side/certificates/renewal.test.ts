import { type Resource } from "@lifeboat/api";
import { bundleMark } from "@lifeboat/core/clusters/certificates";
import { agentUser } from "@lifeboat/core/clusters/rights";
import { readPaperCertificate } from "@lifeboat/testkit";
import { describe, expect, it, test } from "vitest";
import { type RunningAgent, startRenewalWorld } from "./renewal-world.suite.ts";

const HOUR = 3_600_000;
const leases: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};
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
