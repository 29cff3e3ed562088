import type { Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { decideOwnCluster, type OwnClusterView } from "./own-cluster.ts";

const identity = { cluster: "eu-1", id: "id-1", region: "eu", zones: ["a", "b"] };
const cluster = (spec: Partial<Cluster["spec"]> = {}): Cluster =>
  ({
    metadata: { name: "eu-1", uid: "u1", resourceVersion: "7", labels: { tier: "gold" } },
    spec: { syncMode: "Pull", id: "id-1", region: "eu", zones: ["a", "b"], ...spec },
  }) as unknown as Cluster;
const decide = (changes: Partial<OwnClusterView>) =>
  decideOwnCluster({ identity, found: cluster(), former: "u1", ...changes });

describe("the Cluster of an agent", () => {
  it.each<readonly [string, Partial<OwnClusterView>, string]>([
    ["is made when there is none", { found: undefined, former: undefined }, "Created"],
    ["is not made again after it was deleted", { found: undefined }, "Unregistered"],
    ["is used as it is", {}, "UpToDate"],
    ["is used by an agent that remembers nothing", { former: undefined }, "UpToDate"],
    ["is used when it was made again", { former: "u0" }, "UpToDate"],
    ["gets its new location", { found: cluster({ region: "us" }) }, "Changed"],
    ["gets its id when it has none", { found: cluster({ id: "" }) }, "Changed"],
    ["of another member is refused", { found: cluster({ id: "id-2" }) }, "OtherMember"],
    ["in mode Push is refused", { found: cluster({ syncMode: "Push" }) }, "PushCluster"],
  ])("%s", (_name, changes, reason) => {
    expect(decide(changes).reason).toBe(reason);
  });

  it("is made with its location alone, without labels, taints or annotations", () => {
    const plan = decide({ found: undefined, former: undefined });
    expect(plan).toMatchObject({
      kind: "create",
      cluster: {
        metadata: { name: "eu-1" },
        spec: { syncMode: "Pull", id: "id-1", region: "eu", zones: ["a", "b"] },
      },
    });
    expect(plan.kind === "create" && Object.keys(plan.cluster.metadata)).toEqual(["name"]);
  });

  it("keeps what others wrote", () => {
    const taints = [{ key: "x", effect: "NoSchedule" as const }];
    const plan = decide({ found: cluster({ region: "us", provider: "p", taints }) });
    expect(plan).toMatchObject({
      kind: "update",
      cluster: {
        metadata: { resourceVersion: "7", labels: { tier: "gold" } },
        spec: { region: "eu", provider: "p", taints },
      },
    });
  });
});
