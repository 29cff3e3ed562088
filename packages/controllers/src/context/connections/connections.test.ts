/** Connections follow Clusters and Secrets, without an interval and without harm to others. */
import { type Cluster, clusters, isRefused } from "@lifeboat/api";
import { createFleet, type Fleet, newClusterSecret, resources } from "@lifeboat/testkit";
import { describe, expect, it } from "vitest";
import { ExcessiveResponse } from "@lifeboat/kit";
import type { MemberConnection } from "../member-connections.ts";

const SECRET = { namespace: "karmada-cluster", name: "m1" };
const M1 = { namespace: "", name: "m1" };

async function patchSecret(fleet: Fleet, data: Readonly<Record<string, string | null>>) {
  await fleet.plane.patch(resources.secrets, SECRET, { type: "merge", body: { data } });
  await fleet.settle();
}

async function patchCluster(fleet: Fleet, body: Partial<Cluster["spec"]>): Promise<void> {
  await fleet.plane.patch(clusters, M1, { type: "merge", body: { spec: body as never } });
  await fleet.settle();
}

function connected(connection: MemberConnection) {
  if (connection.kind !== "connected") throw new Error(JSON.stringify(connection));
  return connection;
}

function recorded(fleet: Fleet): string[] {
  const names: string[] = [];
  fleet.context.connections.onChange((name) => names.push(name));
  return names;
}

describe("a connection", () => {
  it("stays the same object while only other things of the Cluster and Secret change", async () => {
    const fleet = await createFleet({ members: ["m1"], memberModel: false });
    const before = fleet.context.connections.of("m1");
    const changes = recorded(fleet);
    await fleet.plane.patch(clusters, M1, {
      type: "merge",
      body: { metadata: { labels: { a: "b" } } },
    });
    await patchSecret(fleet, { unrelated: btoa("x") });
    await fleet.settle();
    expect(fleet.context.connections.of("m1")).toBe(before);
    expect(changes).toEqual([]);
    await fleet.close();
  });

  it.each<[string, (fleet: Fleet) => Promise<void>]>([
    ["token", (fleet) => patchSecret(fleet, { token: btoa("next") })],
    ["authority", (fleet) => patchSecret(fleet, { caBundle: btoa("pem") })],
    [
      "check of certificates",
      (fleet) => patchCluster(fleet, { insecureSkipTLSVerification: true }),
    ],
  ])("is replaced once when the %s changes, for this cluster only", async (_what, change) => {
    const fleet = await createFleet({ members: ["m1", "m2"], memberModel: false });
    const { connections } = fleet.context;
    const [before, other] = [connections.of("m1"), connections.of("m2")];
    const changes = recorded(fleet);
    await change(fleet);
    expect(changes).toEqual(["m1"]);
    expect(connected(connections.of("m1")).access).not.toEqual(connected(before).access);
    expect(connections.of("m2")).toBe(other);
    await fleet.close();
  });

  it("works with the new token at once, and lets calls of the old one finish", async () => {
    const fleet = await createFleet({ members: ["m1"], memberModel: false });
    const { connections } = fleet.context;
    const member = fleet.member("m1");
    const old = connected(connections.of("m1"));
    member.link.setFault({ kind: "slow", delayMs: 5000 });
    const underWay = old.client.read("/readyz");
    await patchSecret(fleet, { token: btoa("next") });
    await fleet.advance("5s");
    expect(await underWay).toBe("ok");
    member.link.setFault(undefined);
    member.setToken("next");
    expect(await connected(connections.of("m1")).client.read("/readyz")).toBe("ok");
    // The old one is closed in the end.
    await fleet.advance("1m");
    member.setToken("m1-token");
    await expect(old.client.read("/readyz")).rejects.toThrow("connection refused");
    await fleet.close();
  });

  it.each<[string, RegExp, (fleet: Fleet) => Promise<unknown>]>([
    [
      "has no Secret",
      /Secret karmada-cluster\/m1 does not exist/,
      (fleet) => fleet.plane.delete(resources.secrets, SECRET),
    ],
    ["has no token", /has no token/, (fleet) => patchSecret(fleet, { token: null })],
    ["has an empty token", /has no token/, (fleet) => patchSecret(fleet, { token: btoa("\n") })],
    ["has no endpoint", /no apiEndpoint/, (fleet) => patchCluster(fleet, { apiEndpoint: "" })],
  ])(
    "that %s is unusable with the reason, and comes back when it is mended",
    async (_what, message, harm) => {
      const fleet = await createFleet({ members: ["m1", "m2"], memberModel: false });
      const { connections } = fleet.context;
      await harm(fleet);
      await fleet.settle();
      expect(connections.of("m1")).toMatchObject({
        kind: "unusable",
        message: expect.stringMatching(message) as string,
      });
      expect(connections.of("m2").kind).toBe("connected");
      await fleet.plane
        .create(resources.secrets, newClusterSecret("m1", "m1-token"))
        .catch((error: unknown) => {
          if (!isRefused(error, "AlreadyExists")) throw error;
        });
      await patchSecret(fleet, { token: btoa("m1-token") });
      await patchCluster(fleet, { apiEndpoint: "https://m1.test:6443" });
      expect(await connected(connections.of("m1")).client.read("/readyz")).toBe("ok");
      await fleet.close();
    },
  );

  it("is none for a Pull cluster, for one that is gone, and for one that never was", async () => {
    const fleet = await createFleet({ members: ["m1", "m2"], memberModel: false });
    const { connections } = fleet.context;
    const old = connected(connections.of("m1"));
    await patchCluster(fleet, { syncMode: "Pull" });
    await fleet.plane.delete(clusters, { namespace: "", name: "m2" });
    await fleet.settle();
    for (const name of ["m1", "m2", "m3"]) expect(connections.of(name).kind).toBe("none");
    await expect(old.client.read("/readyz")).rejects.toThrow("connection refused");
    await fleet.close();
  });

  it("leads to another endpoint only when its Secret is for that, too", async () => {
    const fleet = await createFleet({ members: ["m1", "m2"], memberModel: false });
    const { connections } = fleet.context;
    const old = connected(connections.of("m1"));
    await patchCluster(fleet, { apiEndpoint: "https://m2.test:6443" });
    expect(connections.of("m1")).toMatchObject({
      kind: "unusable",
      message: expect.stringMatching(
        /was not given for the endpoint https:\/\/m2.test:6443/,
      ) as string,
    });
    await expect(old.client.read("/readyz")).rejects.toThrow("connection refused");
    const annotations = { "lifeboat.dev/api-endpoint": "https://m2.test:6443/" };
    const body = { metadata: { annotations } };
    await fleet.plane.patch(resources.secrets, SECRET, { type: "merge", body });
    await fleet.settle();
    expect(connected(connections.of("m1")).access.endpoint).toBe("https://m2.test:6443");
    await fleet.close();
  });

  it("binds a Secret that is for no endpoint to that of its first use, before that", async () => {
    const fleet = await createFleet({ members: ["m1"], memberModel: false });
    const { connections } = fleet.context;
    const unbind = { metadata: { annotations: null } };
    await fleet.plane.patch(resources.secrets, SECRET, { type: "merge", body: unbind });
    await fleet.settle();
    const secret = await fleet.plane.get(resources.secrets, SECRET);
    expect(secret.metadata.annotations).toEqual({
      "lifeboat.dev/api-endpoint": "https://m1.test:6443",
    });
    expect(await connected(connections.of("m1")).client.read("/readyz")).toBe("ok");
    // A Secret that was bound so is as little for another endpoint as any other.
    await patchCluster(fleet, { apiEndpoint: "https://m2.test:6443" });
    expect(connections.of("m1").kind).toBe("unusable");
    await fleet.close();
  });

  it("reports once what exceeds the limits of its member", async () => {
    const fleet = await createFleet({ members: ["m1"], memberModel: false });
    const { connections } = fleet.context;
    const told: string[] = [];
    connections.onExcess((name) => told.push(name));
    const { limits } = connected(connections.of("m1"));
    limits.tell(new ExcessiveResponse("TooManyItems", "a"));
    limits.tell(new ExcessiveResponse("ResponseTooDeep", "b"));
    expect(told).toEqual(["m1"]);
    expect(connections.excessOf("m1")).toMatchObject({ reason: "TooManyItems", message: "a" });
    await fleet.close();
  });

  it("follows a Secret that is newly named, and forgets the one before", async () => {
    const fleet = await createFleet({ members: ["m1"], memberModel: false });
    const { connections } = fleet.context;
    const other = newClusterSecret("other", "m1-token", "m1");
    await fleet.plane.create(resources.secrets, other);
    await patchCluster(fleet, { secretRef: { namespace: "karmada-cluster", name: "other" } });
    const same = connections.of("m1");
    expect(await connected(same).client.read("/readyz")).toBe("ok");
    await patchSecret(fleet, { token: btoa("of no interest") });
    expect(connections.of("m1")).toBe(same);
    await fleet.close();
  });

  it("is there as soon as connections are synced", async () => {
    const fleet = await createFleet({ members: ["m1"], memberModel: false });
    await fleet.restart();
    const { connections } = fleet.context;
    expect(await connections.whenSynced(new AbortController().signal)).toBe(true);
    expect(connections.of("m1").kind).toBe("connected");
    expect(await connections.whenSynced(AbortSignal.abort())).toBe(true);
    await fleet.close();
  });
});
