/** A quorum over three clusters, with the production controllers: how it forms, grows and shrinks (D15). */
import {
  type AnyObject,
  clusters,
  configMaps,
  orNothing,
  resourceBindings,
  services,
  statefulSets,
} from "@lifeboat/api";
import { decideRecovery } from "@lifeboat/core/operating";
import { afterEach, describe, expect, it } from "vitest";
import { type Federation, NS, openFederation } from "./federated.suite.ts";

let federation: Federation;
afterEach(() => federation.fleet.close());

const QUORUM = {
  "federation.kubernetes.io/statefulset-lb-needed": "true",
  "federation.kubernetes.io/quorum": "true",
};
const C3 = ["c1", "c2", "c3"];
const STATE = "lifeboat.dev/federated-state";
const at = (name: string) => ({ namespace: NS, name });

async function states(): Promise<Record<string, string | undefined>> {
  const found: Record<string, string | undefined> = {};
  for (const member of C3)
    for (const [name, { metadata }] of await federation.pods(member))
      found[name] = metadata.labels?.[STATE];
  return found;
}

async function peers(): Promise<{ readonly leaving?: string; readonly states: readonly string[] }> {
  const found = await federation.fleet.plane.get(configMaps, at("store-peers"));
  const data = (found as AnyObject & { data: Record<string, string> }).data;
  const list = JSON.parse(data["peers.json"] ?? "[]") as { name: string; state: string }[];
  return {
    ...(data["leaving"] !== undefined && { leaving: data["leaving"] }),
    states: list.map(({ name, state }) => `${name} ${state}`),
  };
}

describe("a quorum", () => {
  it("forms in one cluster, the others join one by one; no scale-down takes its majority", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(6, QUORUM);
    const seen: string[] = [];
    for (let step = 0; step < 400; step += 1) {
      await federation.fleet.advance("50ms");
      const names = (await federation.podNames(...C3)).join(" ");
      if (names !== seen.at(-1)) seen.push(names);
    }
    expect(seen.slice(-5)).toEqual([
      "store-c1-0 store-c1-1",
      "store-c1-0 store-c1-1 store-c2-0",
      "store-c1-0 store-c1-1 store-c2-0 store-c2-1",
      "store-c1-0 store-c1-1 store-c2-0 store-c2-1 store-c3-0",
      "store-c1-0 store-c1-1 store-c2-0 store-c2-1 store-c3-0 store-c3-1",
    ]);
    expect(await states()).toEqual({
      "store-c1-0": "new",
      "store-c1-1": "new",
      "store-c2-0": "existing",
      "store-c2-1": "existing",
      "store-c3-0": "existing",
      "store-c3-1": "existing",
    });
    // Once it is formed, a pod that is made again joins: it never forms a second quorum.
    expect((await peers()).states[0]).toBe("store-c1-0 existing");
    const copy = await federation.fleet.member("c1").client.get(statefulSets, at("store-c1"));
    expect(copy.metadata.annotations?.["lifeboat.dev/federated-founders"]).toBe("0");
    await federation.scale(2);
    await federation.fleet.advance("1m");
    expect(await federation.podNames(...C3)).toHaveLength(6);
    expect(await federation.condition("IdentitiesAssigned")).toBe("False MajorityKept");
  });

  it("a removed replica stays until the application lets it go, one after the other", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(5, QUORUM);
    await federation.fleet.advance("2m");
    const kept = [...(await federation.uids("c1")), ...(await federation.uids("c3"))];
    await federation.scale(3);
    await federation.fleet.advance("10m");
    expect(await federation.podNames(...C3)).toHaveLength(5);
    expect(await federation.condition("IdentitiesAssigned")).toBe("False AwaitingLetGo");
    expect((await peers()).leaving).toBe("store-c2-1/1");
    expect((await peers()).states).toContain("store-c2-1 leaving");
    // A confirmation of another replica, or of another departure, means nothing.
    await federation.edit({ metadata: { annotations: { "lifeboat.dev/let-go": "store-c2-1/7" } } });
    await federation.fleet.advance("1m");
    expect(await federation.podNames(...C3)).toHaveLength(5);
    await federation.letGo("store-c2-1");
    await federation.fleet.advance("1m");
    expect(await federation.podNames("c2")).toEqual(["store-c2-0"]);
    expect(await orNothing(federation.fleet.plane.get(services, at("store-c2-1")))).toBeUndefined();
    expect((await peers()).leaving).toBe("store-c1-1/2");
    expect(await federation.podNames("c1")).toHaveLength(2);
    await federation.letGo("store-c1-1");
    await federation.fleet.advance("1m");
    expect(await federation.podNames(...C3)).toEqual(["store-c1-0", "store-c2-0", "store-c3-0"]);
    expect(await federation.condition("IdentitiesAssigned")).toBe("True Complete");
    expect((await peers()).leaving).toBeUndefined();
    // Members never see the confirmations, and what stays was not made again.
    for (const member of C3) {
      const { client } = federation.fleet.member(member);
      const { metadata } = await client.get(statefulSets, at(`store-${member}`));
      expect(metadata.annotations).not.toHaveProperty(["lifeboat.dev/let-go"]);
    }
    for (const member of ["c1", "c3"])
      for (const uid of await federation.uids(member)) expect(kept).toContain(uid);
    // The same names come back as additions, and are asked again before they leave.
    await federation.scale(5);
    await federation.fleet.advance("2m");
    expect((await states())["store-c1-1"]).toBe("existing");
    await federation.scale(4);
    await federation.fleet.advance("2m");
    expect(await federation.podNames(...C3)).toHaveLength(5);
    expect((await peers()).leaving).toBe("store-c2-1/3");
  });

  it("with a time limit it goes without a confirmation", async () => {
    federation = await openFederation(C3, { statefulSetLetGoTimeoutMs: 120_000 });
    await federation.service();
    await federation.set(5, QUORUM);
    await federation.fleet.advance("2m");
    await federation.scale(4);
    await federation.fleet.advance("100s");
    expect(await federation.podNames(...C3)).toHaveLength(5);
    await federation.fleet.advance("40s");
    expect(await federation.podNames(...C3)).toHaveLength(4);
  });

  it("recovers from a lost majority, when the lost clusters are off", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(3, QUORUM);
    await federation.fleet.advance("2m");
    const { plane } = federation.fleet;
    for (const name of ["c2", "c3"]) federation.fleet.member(name).link.setFault({ kind: "down" });
    await federation.fleet.advance("3m");
    const decide = async () => {
      const { items } = await plane.list(clusters);
      const byName = new Map(items.map((one) => [one.metadata.name, one]));
      return decideRecovery(await federation.binding(), (name) => byName.get(name));
    };
    expect(await decide()).toMatchObject({ outcome: "refused" });
    for (const name of ["c2", "c3"]) {
      const body = { metadata: { annotations: { "lifeboat.dev/fenced": "{}" } } };
      await plane.patch(clusters, { namespace: "", name }, { type: "merge", body });
    }
    const plan = await decide();
    if (plan.outcome === "refused") throw new Error(plan.message);
    await plane.update(resourceBindings, plan.binding);
    await federation.fleet.advance("1m");
    expect(await federation.shares()).toEqual({ c1: 1 });
    await federation.scale(4);
    await federation.fleet.advance("2m");
    expect(await federation.podNames("c1")).toHaveLength(4);
    expect((await states())["store-c1-1"]).toBe("existing");
    // The lost clusters come back: what was given up goes.
    for (const name of ["c2", "c3"]) federation.fleet.member(name).link.setFault(undefined);
    await federation.fleet.advance("5m");
    expect(await federation.podNames("c2", "c3")).toEqual([]);
  });
});
