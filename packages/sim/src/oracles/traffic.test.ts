/** Oracles of Remedies and ingresses, on histories made up for them. */
import { wellKnown } from "@lifeboat/core";
import { EMPTY_TABLE } from "@lifeboat/core/traffic";
import { workName } from "@lifeboat/core/propagation/rendering";
import { DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { describe, expect, it } from "vitest";
import { PLAIN } from "./circumstances.ts";
import { judged } from "./judged.suite.ts";
import { convergedOracles } from "./oracles.ts";

const MEMBERS = ["m1", "m2", "m3", "m4"];
const DNS = "ServiceDomainNameResolutionReady";
type Fields = Readonly<Record<string, unknown>>;

/** A fleet of four, and what people and the control plane wrote. */
class Fleet {
  readonly #judged = judged({
    ...PLAIN,
    steps: [{ at: 0, do: "actions-by-hand", member: "m4", actions: ["Foreign"] }],
  });

  constructor() {
    this.#judged.truth.witness.begins(DEFAULT_CONTROLLERS);
    for (const name of MEMBERS) this.cluster(name);
    this.pass(10);
  }

  pass(seconds: number): void {
    this.#judged.pass(seconds * 1000);
  }

  cluster(name: string, given: Fields = {}): void {
    const { actions = [], dns, blocked, ready = "True" } = given;
    const source = { action: "TrafficControl", cause: "Conditions", held: blocked === "held" };
    this.#put("plane", `cluster.karmada.io/clusters//${name}`, {
      kind: "Cluster",
      metadata: {
        name,
        ...(blocked !== undefined && {
          annotations: { [wellKnown.REMEDY_SOURCES]: JSON.stringify([source]) },
        }),
      },
      spec: {},
      status: {
        remedyActions: actions,
        conditions: [
          { type: "Ready", status: ready, lastTransitionTime: "2026-01-01T00:00:10Z" },
          ...(dns === undefined ? [] : [{ type: DNS, status: dns }]),
        ],
      },
    });
  }

  remedy(name: string, spec: Fields): void {
    this.#put("plane", `remedy.karmada.io/remedies//${name}`, {
      kind: "Remedy",
      metadata: { name },
      spec: { actions: ["TrafficControl"], ...spec },
    });
  }

  agree(at: string): void {
    this.#put("plane", "lifeboat.dev/evacuationbudgets//fleet", {
      kind: "EvacuationBudget",
      metadata: { name: "fleet" },
      spec: { trafficBlocksAgreedAt: at },
    });
  }

  service(member: string): void {
    const name = workName({ kind: "Service", namespace: "default", name: "web" });
    this.#put("plane", `work.karmada.io/works/karmada-es-${member}/${name}`, {
      kind: "Work",
      metadata: { name, namespace: `karmada-es-${member}` },
      spec: {},
    });
    this.#put(member, "/services/default/web", {
      kind: "Service",
      metadata: { name: "web", namespace: "default", labels: { [wellKnown.MANAGED]: "true" } },
      status: { loadBalancer: { ingress: [{ ip: `10.0.0.${member.slice(1)}` }] } },
    });
  }

  /** `empty`: those of the clusters where nothing is ready; absent: that is not published. */
  ingress(
    clusters: readonly string[],
    trafficBlockClusters: readonly string[],
    all = "False",
    empty?: readonly string[],
  ) {
    const published = clusters.map((name) => {
      const cause = empty?.includes(name) === true ? { state: "draining", cause: "gone" } : {};
      return [name, { addresses: ["10.0.0.1"], ...cause }] as const;
    });
    const backends = empty === undefined ? {} : { clusters: Object.fromEntries(published) };
    const services = { web: { bindings: ["web"], ...backends } };
    const path = { backend: { service: { name: "web" } } };
    this.#put("plane", "networking.karmada.io/multiclusteringresses/default/shop", {
      kind: "MultiClusterIngress",
      metadata: {
        name: "shop",
        namespace: "default",
        annotations: { [wellKnown.BACKENDS]: JSON.stringify({ services }) },
      },
      spec: { rules: [{ http: { paths: [path] } }] },
      status: {
        serviceLocations: [{ name: "web", clusters }],
        trafficBlockClusters,
        conditions: [{ type: "AllBackendsBlocked", status: all }],
      },
    });
  }

  /** A load balancer that sends requests to these addresses, by cluster. */
  serves(addresses: Fields, state: "serving" | "draining" = "serving", busyMs = 0): void {
    const { witness, ledger } = this.#judged.truth;
    const id = "default/shop/web/81";
    const backends = Object.entries(addresses).map(([cluster, address]) => ({
      cluster,
      address: String(address),
      port: 81,
      weight: 1,
      state,
    }));
    const busy = backends.map((one) => [`${id} ${one.address}`, ledger.now + busyMs] as const);
    const table = { ...EMPTY_TABLE, pools: [{ id, backends }] };
    witness.serves("lb1", { table, busy: new Map(busy) });
    this.#put("plane", "coordination.k8s.io/leases/lifeboat-system/lb1", {
      kind: "Lease",
      metadata: { name: "lb1", namespace: "lifeboat-system" },
    });
  }

  /** A Deployment that leaves m1 gracefully, or has left it. */
  leaving(isOver: boolean): void {
    const task = { fromCluster: "m1", purgeMode: "Gracefully" };
    this.#put("plane", "work.karmada.io/resourcebindings/default/web", {
      kind: "ResourceBinding",
      metadata: { name: "web", namespace: "default", uid: "web" },
      spec: {
        resource: { kind: "Deployment", namespace: "default", name: "web" },
        clusters: [{ name: "m2" }],
        gracefulEvictionTasks: isOver ? [] : [task],
      },
    });
  }

  hasSpoken(oracle: string): boolean {
    const { said, truth } = this.#judged;
    const atLast = convergedOracles.find(({ name }) => name === oracle)?.judge(truth, MEMBERS);
    return said.some((text) => text.startsWith(`${oracle}:`)) || (atLast ?? []).length > 0;
  }

  #put(server: string, key: string, object: object): void {
    const { ledger, write } = this.#judged;
    write(server, key, object, ledger.versions(server).has(key) ? "MODIFIED" : "ADDED");
  }
}

const match = (operator: string): Fields => ({
  decisionMatches: [
    { clusterConditionMatch: { conditionType: "Odd", operator, conditionStatus: "True" } },
    { clusterConditionMatch: { conditionType: DNS, operator, conditionStatus: "False" } },
  ],
});
const only = (...clusterNames: readonly string[]): Fields => ({
  clusterAffinity: { clusterNames },
});
const acting = { actions: ["TrafficControl"] };

type Case = readonly [oracle: string, isBroken: boolean, when: string, act: (f: Fleet) => void];

const cases: readonly Case[] = [
  [
    "actions-are-what-remedies-want",
    false,
    "an order has its action",
    (fleet) => {
      fleet.remedy("a", only("m1"));
      fleet.cluster("m1", acting);
    },
  ],
  ["actions-are-what-remedies-want", true, "an order has none", (fleet) => fleet.remedy("a", {})],
  [
    "actions-are-what-remedies-want",
    true,
    "an action is left",
    (fleet) => fleet.cluster("m1", acting),
  ],
  [
    "actions-are-what-remedies-want",
    true,
    "one of two matches, and nothing was done",
    (fleet) => {
      fleet.remedy("a", match("Equal"));
      fleet.cluster("m1", { dns: "False" });
    },
  ],
  [
    "actions-are-what-remedies-want",
    false,
    "a condition is absent",
    (fleet) => fleet.remedy("a", match("NotEqual")),
  ],
  [
    "no-action-without-a-remedy",
    true,
    "nothing wants it",
    (fleet) => {
      fleet.remedy("a", only("m2"));
      fleet.cluster("m1", acting);
    },
  ],
  [
    "no-action-without-a-remedy",
    false,
    "a Remedy has just been edited",
    (fleet) => {
      fleet.remedy("a", only("m1"));
      fleet.remedy("a", only("m2"));
      fleet.pass(1);
      fleet.cluster("m1", acting);
    },
  ],
  [
    "no-action-without-a-remedy",
    true,
    "a Remedy was edited long ago",
    (fleet) => {
      fleet.remedy("a", only("m1"));
      fleet.remedy("a", only("m2"));
      fleet.pass(10);
      fleet.cluster("m1", acting);
    },
  ],
  [
    "no-action-without-a-remedy",
    false,
    "a person wrote it",
    (fleet) => fleet.cluster("m4", { actions: ["Foreign"] }),
  ],
  ["some-backend-keeps-its-traffic", true, "all are blocked", (f) => f.ingress(["m1"], ["m1"])],
  ["some-backend-keeps-its-traffic", false, "one is not", (f) => f.ingress(["m1", "m2"], ["m1"])],
  ["some-backend-keeps-its-traffic", false, "there is no backend", (f) => f.ingress([], [])],
  [
    "some-backend-keeps-its-traffic",
    true,
    "the one that is not has not been Ready for minutes",
    (fleet) => {
      fleet.cluster("m2", { ready: "Unknown" });
      fleet.pass(120);
      fleet.ingress(["m1", "m2"], ["m1"]);
    },
  ],
  [
    "some-backend-keeps-its-traffic",
    false,
    "the one that is not has not been Ready for a moment",
    (fleet) => {
      fleet.cluster("m2", { ready: "Unknown" });
      fleet.pass(50);
      fleet.ingress(["m1", "m2"], ["m1"]);
    },
  ],
  [
    "blocks-follow-the-actions",
    true,
    "the only other one has not been Ready for minutes",
    (fleet) => {
      fleet.cluster("m1", acting);
      fleet.cluster("m2", { ready: "False" });
      fleet.ingress(["m1", "m2"], ["m1"]);
      fleet.pass(120);
    },
  ],
  [
    "blocks-follow-the-actions",
    true,
    "the action changes nothing",
    (fleet) => {
      fleet.cluster("m1", acting);
      fleet.ingress(["m1", "m2"], []);
    },
  ],
  [
    "blocks-follow-the-actions",
    true,
    "there is no action",
    (fleet) => fleet.ingress(["m1", "m2"], ["m1"]),
  ],
  [
    "blocks-follow-the-actions",
    false,
    "no backend is there",
    (fleet) => {
      fleet.cluster("m3", acting);
      fleet.ingress(["m1", "m2"], []);
    },
  ],
  [
    "all-blocked-is-shown",
    true,
    "all would be blocked",
    (fleet) => {
      fleet.cluster("m1", acting);
      fleet.ingress(["m1"], []);
    },
  ],
  [
    "some-backend-keeps-its-traffic",
    true,
    "the one that is not has no ready replica",
    (fleet) => fleet.ingress(["m1", "m2"], ["m1"], "False", ["m2"]),
  ],
  [
    "some-backend-keeps-its-traffic",
    false,
    "the one that is not has just lost its last ready replica",
    (fleet) => {
      fleet.ingress(["m1", "m2"], ["m1"], "False", []);
      fleet.ingress(["m1", "m2"], ["m1"], "False", ["m2"]);
    },
  ],
  [
    "blocks-follow-the-actions",
    true,
    "the only other one has no ready replica",
    (fleet) => {
      fleet.cluster("m1", acting);
      fleet.ingress(["m1", "m2"], ["m1"], "False", ["m2"]);
    },
  ],
  [
    "all-blocked-is-shown",
    true,
    "the only other one has no ready replica",
    (fleet) => {
      fleet.cluster("m1", acting);
      fleet.ingress(["m1", "m2"], [], "False", ["m2"]);
    },
  ],
  ["all-blocked-is-shown", true, "none would be", (fleet) => fleet.ingress(["m1"], [], "True")],
  ["all-blocked-is-shown", false, "nothing is", (fleet) => fleet.ingress(["m1"], [])],
  [
    "backends-are-where-the-service-is",
    true,
    "it is nowhere",
    (fleet) => fleet.ingress(["m1"], []),
  ],
  [
    "backends-are-where-the-service-is",
    true,
    "it is in one more",
    (fleet) => {
      fleet.service("m1");
      fleet.service("m2");
      fleet.ingress(["m1"], []);
    },
  ],
  [
    "backends-are-where-the-service-is",
    false,
    "it is there",
    (fleet) => {
      fleet.service("m1");
      fleet.ingress(["m1"], []);
    },
  ],
];

it.each(cases)("%s speaks (%s) when %s", (oracle, isBroken, _when, act) => {
  const fleet = new Fleet();
  act(fleet);
  expect(fleet.hasSpoken(oracle)).toBe(isBroken);
});

describe("conditions-block-half-at-most", () => {
  it.each([
    ["three within a minute", ["m1", "m2", "m3"], 10, false, true],
    ["two within a minute", ["m1", "m2"], 10, false, false],
    ["three over minutes", ["m1", "m2", "m3"], 62, false, false],
    ["one again and again", ["m1", "m1", "m1"], 5, false, false],
    ["three after a person's word", ["m1", "m2", "m3"], 10, true, false],
  ])("%s", (_when, names, apart, isAgreed, isBroken) => {
    const fleet = new Fleet();
    if (isAgreed) fleet.agree("2026-01-01T00:00:00Z");
    for (const name of names) {
      fleet.cluster(name, { blocked: "held" });
      fleet.cluster(name, { blocked: "let through" });
      fleet.pass(apart);
      if (names.at(-1) === "m1") fleet.cluster(name);
    }
    expect(fleet.hasSpoken("conditions-block-half-at-most")).toBe(isBroken);
  });
});

describe("requests-go-where-backends-are", () => {
  it.each([
    ["where it is", { m1: "10.0.0.1", m2: "10.0.0.2" }, [], false],
    ["where it is not", { m1: "10.0.0.1", m3: "10.0.0.3" }, [], true],
    ["to no member", { m1: "10.0.0.1", m9: "10.0.0.9" }, [], true],
    ["to another address", { m1: "10.0.0.7" }, [], true],
    ["to a blocked cluster beside another", { m1: "10.0.0.1", m2: "10.0.0.2" }, ["m1"], true],
    ["to a blocked cluster, the only one", { m1: "10.0.0.1" }, ["m1"], false],
  ])("%s", (_when, addresses, blocked, isBroken) => {
    const fleet = new Fleet();
    fleet.service("m1");
    fleet.service("m2");
    fleet.ingress(["m1", "m2"], blocked);
    fleet.serves(addresses);
    expect(fleet.hasSpoken("requests-go-where-backends-are")).toBe(isBroken);
  });
});

describe("traffic-leaves-before-the-copy", () => {
  it.each([
    ["it is served", "serving", 0, 5, true],
    ["it is served since a moment", "serving", 0, 1, false],
    ["requests are under way", "draining", 9000, 5, true],
    ["requests have ended", "draining", 2000, 5, false],
    ["nothing was heard for long", "serving", 0, 20, false],
  ] as const)("a copy goes when %s", (_when, state, busyMs, seconds, isBroken) => {
    const fleet = new Fleet();
    fleet.ingress(["m1", "m2"], []);
    fleet.leaving(false);
    fleet.serves({ m1: "10.0.0.1" }, state, busyMs);
    fleet.pass(seconds);
    fleet.leaving(true);
    expect(fleet.hasSpoken("traffic-leaves-before-the-copy")).toBe(isBroken);
  });
});
