/** The detector on a server that fails: whatever is lost or refused, and wherever, the end is the same. */
import { propagationPolicies } from "@lifeboat/api";
import { deployment, resources } from "@lifeboat/testkit";
import { describe, expect, it } from "vitest";
import {
  bindingNamed,
  claimerName,
  createClusterPolicy,
  createPolicy,
  DEPLOYMENTS,
  disturbed,
  disturbedFleet,
  eventsAbout,
  type Fault,
  getDeployment,
  key,
  on,
} from "./detector.suite.ts";

const WEB = { resourceSelectors: [{ ...DEPLOYMENTS, name: "web" }] };

describe("a server that fails", () => {
  it("and refuses is told to the template, and tried again", async () => {
    const disturbance = disturbed();
    const fleet = await disturbedFleet(disturbance);
    disturbance.disturb((count) => (count < 3 ? "refuse" : "pass"));
    await createPolicy(fleet, "p");
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("1m");
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBe("p");
    expect(await eventsAbout(fleet, "web")).toContain(
      "ApplyPolicyFailed: Apply policy(default/p) failed: not today",
    );
    await fleet.close();
  });

  /** A story in which templates are claimed, handed over and released; its end is the same whatever went wrong. */
  async function story(
    disturbance: ReturnType<typeof disturbed>,
    crashes: boolean,
  ): Promise<unknown> {
    const fleet = await disturbedFleet(disturbance);
    const pause = async (): Promise<void> => {
      if (crashes) await fleet.restart();
      await fleet.advance("1m");
    };
    await createClusterPolicy(fleet, "wide", { ...WEB, ...on("m1") });
    await createPolicy(fleet, "short", {
      ...on("m2"),
      resourceSelectors: [{ ...DEPLOYMENTS, name: "api" }],
    });
    for (const name of ["web", "api"])
      await fleet.plane.create(resources.deployments, deployment(name));
    await pause();
    await fleet.plane.delete(propagationPolicies, key("short"));
    await pause();
    await createPolicy(fleet, "taker", { ...WEB, ...on("m3"), preemption: "Always" });
    await fleet.advance("10m");
    const describeEnd = async (name: string) => {
      const binding = await bindingNamed(fleet, `${name}-deployment`);
      const template = await getDeployment(fleet, name);
      const { placement, replicas } = binding?.spec ?? {};
      return [name, claimerName(template), claimerName(binding), placement, replicas];
    };
    const end = [await describeEnd("web"), await describeEnd("api")];
    const { items } = await fleet.plane.list(propagationPolicies);
    await fleet.close();
    return [...end, items.map(({ metadata }) => metadata.name)];
  }

  it.each<[Fault, number]>(
    (["lose answer", "refuse"] as const).flatMap((fault) =>
      [0, 1, 2, 3, 4, 5, 6, 7].map((at): [Fault, number] => [fault, at]),
    ),
  )("by %s at write %i comes to the same end", async (fault, at) => {
    const disturbance = disturbed();
    disturbance.disturb((count) => (count === at ? fault : "pass"));
    expect(await story(disturbance, at % 3 === 0)).toEqual([
      ["web", "taker", "taker", expect.objectContaining(on("m3").placement), 1],
      ["api", undefined, undefined, expect.objectContaining(on("m2").placement), 1],
      ["taker"],
    ]);
    expect(disturbance.writes.length).toBeGreaterThan(at);
  });
});
