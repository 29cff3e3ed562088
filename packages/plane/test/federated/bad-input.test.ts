/** Bad input of federated StatefulSets is refused where it can be, and reported by a condition where it cannot (D15). */
import { clusters, resourceBindings, statefulSets } from "@lifeboat/api";
import { newCluster } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Federation, NS, openFederation, STORE } from "./federated.suite.ts";

let federation: Federation;
beforeEach(async () => {
  federation = await openFederation(["c1", "b-c"]);
});
afterEach(() => federation.fleet.close());

async function refusal(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const OPT_IN = "federation.kubernetes.io/federated";
function set(name: string, annotations: Record<string, string>, replicas = 1): Promise<unknown> {
  const labels = { app: name };
  return federation.fleet.plane.create(statefulSets, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { namespace: NS, name, annotations },
    spec: {
      serviceName: "s",
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "c", image: "x:1" }] },
      },
    },
  });
}
const join = (name: string) => federation.fleet.plane.create(clusters, newCluster(name, {}));

describe("a new set is refused", () => {
  it.each([
    [
      "an opt-in that is neither true nor false",
      "a",
      { [OPT_IN]: "yes" },
      1,
      "must be true or false",
    ],
    [
      "a wish for Services that is neither",
      "a",
      { [OPT_IN]: "true", "federation.kubernetes.io/statefulset-lb-needed": "1" },
      1,
      "must be true or false",
    ],
    [
      "an unknown type of Service",
      "a",
      { [OPT_IN]: "true", "federation.kubernetes.io/service-type": "NodePort" },
      1,
      "must be LoadBalancer or ClusterIP",
    ],
    [
      "a name that is too long",
      "s".repeat(50),
      { [OPT_IN]: "true" },
      1,
      "of which a StatefulSet may have 52",
    ],
    ["a name that is no DNS label", "a.b", { [OPT_IN]: "true" }, 1, "no DNS label"],
    ["too many replicas", "a", { [OPT_IN]: "true" }, 10_001, "at most 10000"],
  ])("%s", async (_what, name, annotations, replicas, why) => {
    expect(await refusal(set(name, annotations, replicas))).toContain(why);
  });

  it("whose pods would have the names of another set's", async () => {
    await join("c");
    await set("a", { [OPT_IN]: "true" });
    expect(await refusal(set("a-b", { [OPT_IN]: "true" }))).toContain("would have the same names");
    // As an ordinary StatefulSet it is nobody's business.
    expect(await refusal(set("a-b", {}))).toBe("");
  });
});

describe("clusters without load balancers", () => {
  it("run the pods; a condition reports which have no address, and no name answers with one", async () => {
    await federation.fleet.close();
    federation = await openFederation(["c1", "c2"], {}, { addressPrefix: "" });
    await federation.service();
    await federation.set(2, { "federation.kubernetes.io/statefulset-lb-needed": "true" });
    await federation.fleet.advance("1m");
    expect(await federation.podNames("c1", "c2")).toEqual(["store-c1-0", "store-c2-0"]);
    expect(await federation.condition("PodServicesAddressed")).toBe("False AddressesMissing");
    expect([...federation.globalAddresses().values()]).toEqual([[], []]);
    // The way out that needs no load balancer.
    await federation.edit({
      metadata: { annotations: { "federation.kubernetes.io/service-type": "ClusterIP" } },
    });
    await federation.fleet.advance("1m");
    expect(await federation.condition("PodServicesAddressed")).toBe("True ClusterIP");
    for (const addresses of federation.globalAddresses().values())
      expect(addresses).toHaveLength(1);
  });
});

describe("a cluster cannot join", () => {
  it("under a name that makes the names of a set too long, or collide", async () => {
    await set("a", { [OPT_IN]: "true" });
    await set("a-b", { [OPT_IN]: "true" });
    await set("store", { [OPT_IN]: "true" });
    expect(await refusal(join("c"))).toContain("would have the same names");
    expect(await refusal(join("c".repeat(48)))).toContain("of which a StatefulSet may have 52");
    expect(await refusal(join("d"))).toBe("");
  });
});

describe("a placed set", () => {
  it("cannot stop being federated, and one that is not federated cannot begin", async () => {
    await federation.set(2);
    await federation.fleet.advance("30s");
    for (const value of ["false", null])
      expect(
        await refusal(federation.edit({ metadata: { annotations: { [OPT_IN]: value } } })),
      ).toContain("whether it is federated is decided before that");
    expect(await refusal(federation.scale(3))).toBe("");
    const key = { namespace: NS, name: "store-statefulset" };
    const annotations = { "lifeboat.dev/federated-shares": null };
    expect(
      await refusal(
        federation.fleet.plane.patch(resourceBindings, key, {
          type: "merge",
          body: { metadata: { annotations } },
        }),
      ),
    ).toContain("would be lost");
    await federation.fleet.advance("30s");
    expect(await federation.podNames("c1", "b-c")).toEqual([
      "store-b-c-0",
      "store-b-c-1",
      "store-c1-0",
    ]);
    expect(await federation.fleet.plane.get(statefulSets, STORE)).toBeDefined();
  });

  it("that is a quorum keeps its Services and names until a person acknowledges that in the same write", async () => {
    const LB = "federation.kubernetes.io/statefulset-lb-needed";
    const ACKNOWLEDGED = "lifeboat.dev/gives-up-names";
    await federation.set(2, { [LB]: "true", "federation.kubernetes.io/quorum": "true" });
    const write = (annotations: Record<string, string | null>) =>
      refusal(federation.edit({ metadata: { annotations } }));
    for (const value of ["false", null])
      expect(await write({ [LB]: value })).toContain("lifeboat statefulset give-up-names");
    expect(await write({ [LB]: null, "federation.kubernetes.io/quorum": "false" })).toContain(
      "lifeboat statefulset give-up-names",
    );
    expect(await write({ [LB]: "false", [ACKNOWLEDGED]: "1" })).toBe("");
    // An acknowledgement that was left behind does not count again.
    expect(await write({ [LB]: "true" })).toBe("");
    expect(await write({ [LB]: "false", [ACKNOWLEDGED]: "1" })).toContain("find each other");
    expect(await write({ [LB]: "false", [ACKNOWLEDGED]: "2" })).toBe("");
  });

  it("whose shares cannot be read keeps everything as it is", async () => {
    await federation.set(2);
    await federation.fleet.advance("30s");
    const key = { namespace: NS, name: "store-statefulset" };
    const annotations = { "lifeboat.dev/federated-shares": "lost" };
    await federation.fleet.plane.patch(resourceBindings, key, {
      type: "merge",
      body: { metadata: { annotations } },
    });
    await federation.scale(5);
    await federation.fleet.advance("1m");
    expect(await federation.podNames("c1", "b-c")).toEqual(["store-b-c-0", "store-c1-0"]);
    expect(await federation.condition("IdentitiesAssigned")).toBe("False RecordUnreadable");
  });
});
