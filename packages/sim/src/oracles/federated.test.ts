/** Oracles of federated StatefulSets and of names, on histories made up for them. */
import { wellKnown } from "@lifeboat/core";
import { DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { describe, expect, it } from "vitest";
import { PLAIN } from "./circumstances.ts";
import { judged } from "./judged.suite.ts";
import { convergedOracles } from "./oracles.ts";
import type { ServedNames } from "./witness.ts";

const MEMBERS = ["m1", "m2", "m3"];
const ALL = "store.default.fed.svc.example.com";
type Fields = Readonly<Record<string, unknown>>;
type Counts = Readonly<Record<string, number>>;

/** Three clusters and one set, as the control plane and members wrote them. */
class Fleet {
  readonly #judged = judged(PLAIN);

  constructor() {
    this.#judged.truth.witness.begins(DEFAULT_CONTROLLERS);
    for (const name of MEMBERS) this.cluster(name);
    this.pass(10);
  }

  pass(seconds: number): void {
    this.#judged.pass(seconds * 1000);
  }

  cluster(name: string, ready = "True"): void {
    this.put("plane", `cluster.karmada.io/clusters//${name}`, {
      kind: "Cluster",
      metadata: { name },
      spec: {},
      status: { conditions: [{ type: "Ready", status: ready }] },
    });
  }

  set(name = "store", annotations: Fields = {}): void {
    this.put("plane", `apps/statefulsets/default/${name}`, {
      kind: "StatefulSet",
      metadata: {
        name,
        namespace: "default",
        annotations: { [wellKnown.FEDERATED]: "true", ...annotations },
      },
      spec: {},
    });
  }

  /** `asked`: what the set asks for; `of`: when the shares were complete. */
  binding(shares: Counts, given: Fields = {}): void {
    const { asked = 6, of = asked, quorum = false, started, forgotten = [], tasks = [] } = given;
    const { numbers = Object.fromEntries(MEMBERS.map((name, i) => [name, i + 1])), ready = {} } =
      given as { readonly numbers?: Counts; readonly ready?: Counts };
    const { letGo, leaving } = given;
    const record = { replicas: of, clusters: MEMBERS, numbers, forgotten, started, leaving };
    this.put("plane", "work.karmada.io/resourcebindings/default/store-statefulset", {
      kind: "ResourceBinding",
      metadata: {
        name: "store-statefulset",
        namespace: "default",
        annotations: {
          [wellKnown.FEDERATED_SHARES]: JSON.stringify(shares),
          [wellKnown.FEDERATED_RECORD]: JSON.stringify(record),
          ...(quorum === true && { [wellKnown.FEDERATED_QUORUM]: "true" }),
          ...(letGo !== undefined && { [wellKnown.FEDERATED_LET_GO]: letGo }),
        },
      },
      spec: {
        resource: { kind: "StatefulSet", namespace: "default", name: "store" },
        replicas: asked,
        clusters: Object.entries(shares).map(([name, replicas]) => ({ name, replicas })),
        gracefulEvictionTasks: tasks,
      },
      status: {
        aggregatedStatus: Object.entries(ready).map(([clusterName, readyReplicas]) => ({
          clusterName,
          status: { readyReplicas },
        })),
      },
    });
  }

  /** The pods of a set in a member. */
  pod(member: string, name: string): void {
    this.put(member, `/pods/default/${name}`, {
      kind: "Pod",
      metadata: {
        name,
        namespace: "default",
        labels: { [wellKnown.FEDERATED_SET]: "store", [wellKnown.FEDERATED_CLUSTER]: member },
      },
    });
  }

  copy(member: string, name: string, cluster = member): void {
    const labels = { [wellKnown.FEDERATED_SET]: "store", [wellKnown.FEDERATED_CLUSTER]: cluster };
    this.put(member, `apps/statefulsets/default/${name}`, {
      kind: "StatefulSet",
      metadata: { name, namespace: "default" },
      spec: { template: { metadata: { labels } } },
    });
  }

  service(server: string, name: string, given: Fields = {}): void {
    const { cluster, ip, selector = { [wellKnown.FEDERATED_POD]: name }, annotations } = given;
    this.put(server, `/services/default/${name}`, {
      kind: "Service",
      metadata: {
        name,
        namespace: "default",
        annotations,
        ...(cluster !== undefined && {
          labels: { [wellKnown.FEDERATED_SET]: "store", [wellKnown.FEDERATED_CLUSTER]: cluster },
        }),
      },
      spec: { selector },
      ...(ip !== undefined && { status: { loadBalancer: { ingress: [{ ip }] } } }),
    });
  }

  names(targets: readonly string[], addresses: readonly string[], more: Partial<ServedNames> = {}) {
    const srv = targets.map((pod) => ({
      type: "SRV" as const,
      priority: 0,
      weight: 1,
      port: 1,
      target: `${pod}.${ALL}`,
    }));
    const a = addresses.map((address) => ({ type: "A" as const, address }));
    const owners = [{ name: ALL, records: [...srv, ...a] }];
    const names = { apex: "fed.svc.example.com", owners, reverse: [], clashes: [], tooLong: [] };
    const ask = (): undefined => undefined;
    const failures = (): number => 0;
    this.#judged.truth.witness.namesServed({ names, isHeld: false, ask, failures, ...more });
  }

  put(server: string, key: string, object: object): void {
    const { ledger, write } = this.#judged;
    const isThere = ledger.versions(server).has(key);
    write(server, key, object, isThere ? "MODIFIED" : "ADDED");
  }

  hasSpoken(oracle: string): boolean {
    const { said, truth } = this.#judged;
    const atEnd = convergedOracles.find(({ name }) => name === oracle);
    return (
      said.some((text) => text.startsWith(`${oracle}:`)) ||
      (atEnd?.judge(truth, MEMBERS) ?? []).length > 0
    );
  }
}

type Tell = (fleet: Fleet) => void;

/** An oracle speaks of the one history and not of the other. */
function speaks(oracle: string, broken: Tell, kept: Tell): void {
  it(`${oracle} speaks of what is broken, and not of what is kept`, () => {
    const said = [broken, kept].map((tell) => {
      const fleet = new Fleet();
      tell(fleet);
      return fleet.hasSpoken(oracle);
    });
    expect(said).toEqual([true, false]);
  });
}

const scaled =
  (before: Counts, after: Counts, given: Fields = {}, first: Fields = {}): Tell =>
  (fleet) => {
    fleet.binding(before, first);
    fleet.pass(10);
    fleet.binding(after, given);
  };
const THREE = { m1: 2, m2: 2, m3: 2 };

describe("oracles of shares", () => {
  speaks(
    "replicas-are-shared-evenly",
    scaled({}, { m1: 4, m2: 2 }, {}, { of: 0, numbers: {} }),
    scaled({}, THREE, {}, { of: 0, numbers: {} }),
  );
  speaks(
    "replicas-are-shared-evenly",
    scaled(THREE, { m1: 2, m2: 2 }, { asked: 4 }),
    scaled(THREE, { m1: 2, m2: 1, m3: 1 }, { asked: 4 }),
  );
  speaks(
    "shares-follow-scaling",
    scaled({ m1: 2, m2: 2 }, THREE, {}, { of: 6 }),
    scaled({ m1: 2, m2: 2 }, THREE, {}, { asked: 4 }),
  );
  speaks(
    "shares-follow-scaling",
    scaled(THREE, { m1: 2, m2: 2 }),
    scaled(THREE, { m1: 2, m2: 2 }, { forgotten: ["m3"] }),
  );
  const whileDead =
    (after: Counts, given: Fields): Tell =>
    (fleet) => {
      fleet.binding(THREE);
      fleet.cluster("m3", "False");
      fleet.pass(10);
      fleet.binding(after, given);
    };
  speaks(
    "the-dead-keep-their-shares",
    whileDead({ m1: 2, m2: 2, m3: 1 }, { asked: 5 }),
    whileDead({ m1: 2, m2: 1, m3: 2 }, { asked: 5 }),
  );
  speaks(
    "the-dead-keep-their-shares",
    scaled(THREE, THREE, { tasks: [{ fromCluster: "m1" }] }),
    scaled(THREE, THREE, { asked: 7 }),
  );
  speaks(
    "numbers-are-for-ever",
    scaled(THREE, THREE, { numbers: { m1: 1, m2: 2, m3: 2 } }),
    scaled(THREE, THREE, { numbers: { m1: 1, m2: 2, m3: 3, m4: 4 } }),
  );
  speaks(
    "a-quorum-keeps-its-majority",
    scaled(THREE, { m1: 1, m2: 1 }, { asked: 2, quorum: true }, { quorum: true }),
    scaled(THREE, { m1: 1, m2: 1, m3: 1 }, { asked: 3, quorum: true }, { quorum: true }),
  );
  const begun = { quorum: true, started: { m1: 2 } };
  speaks(
    "a-quorum-starts-one-by-one",
    scaled(THREE, THREE, { quorum: true, started: { m1: 2, m2: 1 } }, begun),
    scaled(
      THREE,
      THREE,
      { quorum: true, started: { m1: 2, m2: 1 } },
      { ...begun, ready: { m1: 2 } },
    ),
  );
});

describe("the oracle of departures", () => {
  const leaving = { cluster: "m3", ordinal: 1, number: 1 };
  const begun = { quorum: true, started: THREE, leaving };
  const gone = { quorum: true, asked: 5, started: { m1: 2, m2: 2, m3: 1 } };
  const after = { m1: 2, m2: 2, m3: 1 };
  speaks(
    "a-quorum-lets-go-one-by-one",
    scaled(THREE, after, gone, { ...begun, letGo: "store-m3-1/2" }),
    scaled(THREE, after, gone, { ...begun, letGo: "store-m3-1/1" }),
  );
});

describe("oracles of identities", () => {
  speaks(
    "copies-bear-their-cluster",
    (fleet) => fleet.copy("m1", "store"),
    (fleet) => fleet.copy("m1", "store-m1"),
  );
  speaks(
    "an-identity-lives-in-one-cluster",
    (fleet) => ["m1", "m2"].forEach((member) => fleet.pod(member, "store-0")),
    (fleet) => ["m1", "m2"].forEach((member) => fleet.pod(member, `store-${member}-0`)),
  );
  speaks(
    "members-run-their-shares",
    (fleet) => {
      fleet.set();
      fleet.binding({ m1: 1 }, { asked: 1 });
    },
    (fleet) => {
      fleet.set();
      fleet.binding({ m1: 1 }, { asked: 1 });
      fleet.pod("m1", "store-m1-0");
    },
  );
  speaks(
    "federated-names-fit",
    (fleet) => fleet.set("s".repeat(51)),
    (fleet) => fleet.set("s".repeat(49)),
  );
  speaks(
    "federated-names-fit",
    (fleet) => {
      fleet.cluster("x-m1");
      fleet.pass(10);
      fleet.set("store");
      fleet.pass(10);
      fleet.set("store-x");
    },
    (fleet) => ["store", "store-x"].forEach((name) => fleet.set(name)),
  );
});

const GLOBAL = { [wellKnown.FEDERATED_SERVICES]: "true" };

/** One pod in each of two clusters, each with a Service and an address. */
function found(fleet: Fleet, list = "store-m1-0, store-m2-0"): void {
  fleet.set("store", GLOBAL);
  fleet.binding({ m1: 1, m2: 1 }, { asked: 2 });
  fleet.service("plane", "store", { annotations: { [wellKnown.FEDERATED_REPLICAS]: list } });
  for (const [i, member] of ["m1", "m2"].entries())
    for (const server of ["plane", member])
      fleet.service(server, `store-${member}-0`, { cluster: member, ip: `192.0.2.${i}` });
}

describe("oracles of what a set is found by", () => {
  speaks(
    "pod-services-stay-with-their-pod",
    (fleet) => fleet.service("m2", "store-m1-0", { cluster: "m1" }),
    (fleet) => fleet.service("m1", "store-m1-0", { cluster: "m1" }),
  );
  speaks(
    "pod-services-stay-with-their-pod",
    (fleet) => fleet.service("m1", "store-m1-0", { cluster: "m1", selector: { app: "store" } }),
    (fleet) => fleet.service("m1", "web", { selector: { app: "store" } }),
  );
  speaks(
    "each-pod-has-its-service",
    (fleet) => {
      found(fleet);
      fleet.set();
    },
    (fleet) => found(fleet),
  );
  const answers =
    (pods: readonly string[], addresses: readonly string[], list?: string): Tell =>
    (fleet) => {
      found(fleet, list);
      fleet.names(pods, addresses);
    };
  const both = ["store-m1-0", "store-m2-0"];
  const addresses = ["192.0.2.0", "192.0.2.1"];
  speaks("names-are-the-members", answers(["store-m1-0"], addresses), answers(both, addresses));
  speaks("names-are-the-members", answers(both, ["192.0.2.9"]), answers(both, addresses));
  speaks("names-are-the-members", answers(both, addresses, "store-m1-0"), answers(both, addresses));
  const afterADeath =
    (pods: readonly string[]): Tell =>
    (fleet) => {
      answers(both, addresses)(fleet);
      fleet.cluster("m2", "False");
      fleet.names(pods, ["192.0.2.0"]);
      fleet.pass(10);
      fleet.cluster("m3");
    };
  speaks("the-dead-leave-the-names", afterADeath(both), afterADeath(["store-m1-0"]));
  const ECHO = Uint8Array.from([1, 2, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  speaks(
    "every-packet-is-answered-or-dropped",
    (fleet) => fleet.names([], [], { ask: () => new Uint8Array(2000) }),
    (fleet) => fleet.names([], [], { ask: () => ECHO }),
  );
});
