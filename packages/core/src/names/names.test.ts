import * as fc from "fast-check";
import { equalJson } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { addressBytes, hostNameOf, isNetwork, reverseName } from "./addresses.ts";
import { decideZoneChange, type ZoneContent } from "./change.ts";
import { explainName } from "./explain.ts";
import type { GlobalSet } from "./global-set.ts";
import { balanced, EXAMPLE_PODS, EXAMPLE_ZONE, type Example, exampleView } from "./names.suite.ts";
import { clusterOf, namesIn, readGlobalSets } from "./read-sets.ts";
import { lostNames, type NameRecord, zoneNames } from "./records.ts";
import { coreDnsStanza } from "./stanza.ts";

const APEX = "myfederation.svc.example.com";

const only = (): GlobalSet => {
  const [set] = sets();
  if (set === undefined) throw new Error("the example has a set");
  return set;
};
const sets = (changes: Partial<Example> = {}) => readGlobalSets(exampleView(changes));
const content = (changes: Partial<Example> = {}): ZoneContent => ({
  sets: sets(changes),
  names: zoneNames(sets(changes), EXAMPLE_ZONE),
});
const recordsOf = (name: string, changes: Partial<Example> = {}): readonly NameRecord[] =>
  content(changes).names.owners.find((owner) => owner.name === `${name}.${APEX}`)?.records ?? [];
const targets = (name: string, changes: Partial<Example> = {}): readonly string[] =>
  recordsOf(name, changes).flatMap((record) => (record.type === "SRV" ? [record.target] : []));
const reasons = (changes: Partial<Example>): ReadonlyMap<string, string> =>
  new Map(
    sets(changes)[0]?.members.flatMap(({ pod, reason }) =>
      reason === undefined ? [] : [[pod, reason] as const],
    ) ?? [],
  );

describe("D28: the names of the example", () => {
  const expected = EXAMPLE_PODS.map((pod) => `${pod}.etcd.mynamespace.${APEX}`);

  it.each(["store.mynamespace", "etcd.mynamespace", "_store._tcp.etcd.mynamespace"])(
    "%s has one service record per member, with the targets of the governing Service",
    (name) => {
      expect(targets(name)).toEqual(expected);
      for (const record of recordsOf(name).filter(({ type }) => type === "SRV"))
        expect(record).toMatchObject({ priority: 0, weight: 1, port: 80 });
    },
  );

  it("has all addresses under both governing names, and one under both forms of a pod", () => {
    const addresses = recordsOf("store.mynamespace").filter(({ type }) => type === "A");
    expect(addresses).toHaveLength(11);
    expect(recordsOf("etcd.mynamespace").filter(({ type }) => type === "A")).toEqual(addresses);
    const own = [{ type: "A", address: "192.0.2.6" }];
    expect(recordsOf("store-c2-1.etcd.mynamespace")).toEqual(own);
    expect(recordsOf("store-c2-1.mynamespace")).toEqual(own);
  });

  it("has an alias where the load balancer has only a host name, and both families of addresses", () => {
    const services = {
      "store-c1-0": balanced({ hostname: "LB-1.Cloud.Example." }),
      "store-c1-1": balanced({ ip: "192.0.2.77" }, { ip: "2001:db8::1" }, { ip: "nonsense" }),
    };
    expect(recordsOf("store-c1-0.mynamespace", { services })).toEqual([
      { type: "CNAME", target: "lb-1.cloud.example" },
    ]);
    expect(recordsOf("store-c1-1.mynamespace", { services })).toEqual([
      { type: "A", address: "192.0.2.77" },
      { type: "AAAA", address: "2001:db8::1" },
    ]);
    expect(targets("store.mynamespace", { services })).toHaveLength(11);
  });

  it("without a load balancer takes the addresses that the member gave, never the plane's own", () => {
    const spec = { type: "ClusterIP", clusterIP: "10.0.0.9", clusterIPs: ["10.0.0.9"] };
    const services = { "store-c1-0": { spec } };
    const report = (clusterName: string, ...clusterIPs: unknown[]) => ({
      clusterName,
      status: { clusterIPs },
    });
    const reports = {
      "store-c1-0": [report("c2", "10.2.0.4"), report("c1", "10.1.0.4", "fd00::4", "None", 7)],
    };
    expect(recordsOf("store-c1-0.mynamespace", { services, reports })).toEqual([
      { type: "A", address: "10.1.0.4" },
      { type: "AAAA", address: "fd00::4" },
    ]);
    expect(reasons({ services }).get("store-c1-0")).toBe("NoAddress");
    const others = { "store-c1-0": [report("c2", "10.2.0.4")] };
    expect(reasons({ services, reports: others }).get("store-c1-0")).toBe("NoAddress");
  });
});

describe("the addresses of members", () => {
  const back = (address: string, changes: Partial<Example> = {}) =>
    content(changes).names.reverse.find(({ name }) => name === reverseName(address))?.records;

  it("lead back to the pod, of both families, and to each of several that share one", () => {
    const to = (pod: string) => ({ type: "PTR", target: `${pod}.etcd.mynamespace.${APEX}` });
    expect(back("192.0.2.6")).toEqual([to("store-c2-1")]);
    const shared = balanced({ ip: "192.0.2.99" }, { ip: "2001:db8::1" });
    const services = { "store-c1-0": shared, "store-c3-2": shared };
    for (const address of ["192.0.2.99", "2001:db8:0::1"])
      expect(back(address, { services })).toEqual([to("store-c1-0"), to("store-c3-2")]);
    expect(content().names.reverse).toHaveLength(11);
  });

  it("are explained by the address or by its name, also when it leads nowhere now", () => {
    const at = (asked: string, changes: Partial<Example> = {}) => {
      const { kind, sets: found } = explainName(asked, sets(changes), EXAMPLE_ZONE);
      return [kind, ...found.flatMap(({ members }) => members.map(({ pod }) => pod))];
    };
    for (const asked of ["192.0.2.6", "6.2.0.192.in-addr.arpa."])
      expect(at(asked)).toEqual(["found", "store-c2-1"]);
    const clusters = { c1: "NotReady", c2: "Ready", c3: "Ready" } as const;
    expect(at("192.0.2.1", { clusters })).toEqual(["absent", "store-c1-0"]);
    expect(at("192.0.2.99")).toEqual(["outside"]);
  });

  it("of members that are not listed lead nowhere", () => {
    const clusters = { c1: "NotReady", c2: "Ready", c3: "Ready" } as const;
    expect(back("192.0.2.1", { clusters })).toBeUndefined();
    expect(content({ clusters }).names.reverse).toHaveLength(7);
  });

  it("are no names of the zone: a change that removes most names is counted without them", () => {
    expect(content().names.owners.some(({ name }) => name.endsWith(".arpa"))).toBe(false);
  });
});

describe("D28: members that are not listed", () => {
  it.each([
    ["a dead cluster", { c1: "NotReady", c2: "Ready", c3: "Ready" }, "ClusterNotReady"],
    ["a blocked cluster", { c1: "Blocked", c2: "Ready", c3: "Ready" }, "TrafficBlocked"],
    ["a cluster that left", { c2: "Ready", c3: "Ready" }, "ClusterLeft"],
  ] as const)(
    "%s takes its members out of the answers, and their names stay",
    (_what, clusters, reason) => {
      expect(targets("store.mynamespace", { clusters })).toHaveLength(7);
      expect(reasons({ clusters }).get("store-c1-0")).toBe(reason);
      const [text] = recordsOf("store-c1-0.mynamespace", { clusters });
      expect(text).toMatchObject({ type: "TXT", text: expect.stringContaining(reason) });
    },
  );

  it("D16: if all were blocked, all are listed, but for those without an address", () => {
    const clusters = { c1: "NotReady", c2: "Blocked" } as const;
    const services = { "store-c3-2": balanced() };
    expect(targets("store.mynamespace", { clusters, services })).toHaveLength(10);
    expect(reasons({ clusters, services }).get("store-c1-0")).toBe("AllMembersBlocked");
    expect(reasons({ clusters, services }).get("store-c3-2")).toBe("NoAddress");
  });

  it("lists no member without a Service, an address or a share", () => {
    const services = { "store-c1-0": undefined, "store-c1-1": balanced() };
    const shares = JSON.stringify({ c1: 4, c2: 4 });
    const found = reasons({ services, shares });
    expect(found.get("store-c1-0")).toBe("NoService");
    expect(found.get("store-c1-1")).toBe("NoAddress");
    expect(found.get("store-c3-0")).toBe("NotAssigned");
    expect(targets("store.mynamespace", { services, shares })).toHaveLength(6);
  });

  it("has no names at all without the annotation, and knows what is missing with it", () => {
    expect(sets({ named: undefined })).toEqual([]);
    expect(sets({ named: "false" })).toEqual([]);
    expect(sets({ governing: "absent" })).toMatchObject([{ missing: "Service", members: [] }]);
    expect(sets({ listed: undefined })).toMatchObject([{ missing: "ReplicaList", members: [] }]);
  });

  it("reads the cluster from the pod's name", () => {
    expect(clusterOf("a-b", "a-b-c-d-0")).toBe("c-d");
    expect(clusterOf("store", "store-c1-x")).toBe("");
    expect(clusterOf("store", "other-c1-0")).toBe("");
  });

  it("whatever the objects hold, nothing throws", () => {
    const view = fc.record({
      statefulSets: fc.array(fc.anything()),
      service: fc.func(fc.anything()),
    });
    fc.assert(
      fc.property(view, fc.anything(), (some, found) => {
        const read = readGlobalSets({
          statefulSets: [...some.statefulSets, ...exampleView().statefulSets],
          service: () => found,
          binding: () => found,
          cluster: () => undefined,
        });
        expect(zoneNames(read, EXAMPLE_ZONE).owners).toBeInstanceOf(Array);
      }),
    );
  });
});

describe("D28: clashes", () => {
  const swapped = (set: string, service: string) => ({ ...only(), set, service, members: [] });

  it("the Service wins over a set of that name, and it is reported", () => {
    const names = zoneNames([...sets(), swapped("etcd", "other")], EXAMPLE_ZONE);
    const etcd = names.owners.find(({ name }) => name === `etcd.mynamespace.${APEX}`);
    expect(etcd?.records.filter(({ type }) => type === "SRV")).toHaveLength(11);
    expect(names.clashes).toContainEqual({
      name: `etcd.mynamespace.${APEX}`,
      winner: "Service mynamespace/etcd",
      loser: "StatefulSet mynamespace/etcd",
    });
  });

  it("each set knows the names that it lost", () => {
    const all = [...sets(), swapped("etcd", "other")];
    const [lost] = lostNames(all, { namespace: "mynamespace", set: "etcd" });
    expect(lost).toEqual({
      name: "etcd.mynamespace",
      winner: "Service mynamespace/etcd",
      loser: "StatefulSet mynamespace/etcd",
    });
    expect(lostNames(all, { namespace: "mynamespace", set: "store" })).toEqual([]);
    const pod = swapped("store-c1-0", "more");
    const [taken] = lostNames([...sets(), pod], { namespace: "mynamespace", set: "store" });
    expect(taken).toMatchObject({ name: "store-c1-0.mynamespace" });
    const elsewhere = { ...swapped("etcd", "other"), namespace: "else" };
    expect(lostNames([...sets(), elsewhere], { namespace: "else", set: "etcd" })).toEqual([]);
  });

  it("two sets of one Service share its name, and a name that is too long is left out", () => {
    const second = { ...only(), set: "more" };
    const shared = zoneNames([only(), second], EXAMPLE_ZONE);
    expect(shared.clashes).toEqual([]);
    const zone = `${"a".repeat(60)}.`.repeat(4).slice(0, -1);
    const long = zoneNames(sets(), { zone, federation: "myfederation" });
    expect(long.owners).toEqual([]);
    expect(long.tooLong.length).toBeGreaterThan(0);
  });
});

describe("D28: a change that removes most names", () => {
  const served = content();
  const decide = (changes: Partial<Example>, hasClusters = true) =>
    decideZoneChange({ served, next: content(changes), hasClusters }).kind;
  const noAddresses = Object.fromEntries(EXAMPLE_PODS.map((pod) => [pod, balanced()]));

  it.each([
    [
      "one cluster of three dies",
      { clusters: { c1: "NotReady", c2: "Ready", c3: "Ready" } },
      "publish",
    ],
    ["two of three die", { clusters: { c1: "NotReady", c2: "NotReady", c3: "Ready" } }, "hold"],
    ["all load balancers lose their addresses", { services: noAddresses }, "hold"],
    ["the headless Service is gone", { governing: "absent" }, "hold"],
    ["the replica list is gone", { listed: undefined }, "hold"],
    ["a person turned global names off", { named: "false" }, "publish"],
    ["a person scaled down to one", { listed: ["store-c1-0"] }, "publish"],
    ["a person scaled down to none", { listed: [] }, "publish"],
  ] as const)("%s: %o", (_what, changes, kind) => {
    expect(decide(changes as Partial<Example>)).toBe(kind);
  });

  it("D20: without any cluster the absence of sets means nothing", () => {
    expect(decide({ named: "false" }, false)).toBe("hold");
    expect(
      decideZoneChange({ served: undefined, next: content({ listed: [] }), hasClusters: false })
        .kind,
    ).toBe("publish");
  });
});

describe("explaining", () => {
  const explain = (name: string, changes: Partial<Example> = {}) =>
    explainName(name, sets(changes), EXAMPLE_ZONE);

  it.each([
    ["www.example.com", "outside"],
    [`nosuch.mynamespace.${APEX}`, "absent"],
    [`mynamespace.${APEX}`, "parent"],
    [APEX, "parent"],
    [`Etcd.MyNamespace.${APEX}.`, "found"],
  ])("%s: %s", (name, kind) => {
    expect(explain(name).kind).toBe(kind);
  });

  it("names the members that a name concerns", () => {
    const members = (name: string) => explain(name).sets.flatMap((entry) => entry.members);
    expect(members(`store.mynamespace.${APEX}`)).toHaveLength(11);
    expect(members(`_store._tcp.etcd.mynamespace.${APEX}`)).toHaveLength(11);
    expect(members(`store-c3-1.mynamespace.${APEX}`)).toMatchObject([{ pod: "store-c3-1" }]);
    expect(members(`store-c3-1.etcd.mynamespace.${APEX}`)).toMatchObject([{ pod: "store-c3-1" }]);
    expect(explain(`etcd.mynamespace.${APEX}`, { governing: "absent" }).notes).toEqual([
      "StatefulSet mynamespace/store has no headless Service mynamespace/etcd",
    ]);
  });
});

describe("addresses", () => {
  it.each([
    ["192.0.2.1", [192, 0, 2, 1]],
    ["::1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    ["::ffff:192.0.2.1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1]],
    ["1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
  ])("%s", (text, bytes) => {
    expect([...(addressBytes(text) ?? [])]).toEqual(bytes);
  });

  it.each([
    "",
    "1.2.3",
    "256.0.0.1",
    "01.2.3.4",
    ":::",
    "1::2::3",
    "1:2:3",
    "12345::",
    "::1.2.3.4.5",
    "None",
  ])("%o is none", (text) => {
    expect(addressBytes(text)).toBeUndefined();
  });

  it.each([
    ["192.0.2.6", "6.2.0.192.in-addr.arpa"],
    ["2001:db8::a", `a.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`],
    ["lb.example", undefined],
  ])("%s is looked up under %s", (address, name) => {
    expect(reverseName(address)).toBe(name);
  });

  it.each([
    ["192.0.2.0/24", true],
    ["2001:db8::/128", true],
    ["0.0.0.0/0", true],
    ["192.0.2.0/33", false],
    ["192.0.2.0", false],
    ["192.0.2.0/24/1", false],
    ["192.0.2.0/024", false],
    ["x {\n}/8", false],
  ])("%o is a network: %s", (text, expected) => {
    expect(isNetwork(text)).toBe(expected);
  });

  it("host names are lower case and whole", () => {
    expect(hostNameOf("A.B.")).toBe("a.b");
    expect(hostNameOf("a..b")).toBeUndefined();
    expect(hostNameOf(`${"a".repeat(64)}.b`)).toBeUndefined();
  });
});

describe("the stanza of a member", () => {
  const view = {
    ...EXAMPLE_ZONE,
    servers: ["192.0.2.53"],
    reverse: [],
    clusterDomain: "example.com",
    local: [],
  };

  it("forwards the federation's names alone", () => {
    const text = coreDnsStanza(view);
    expect(text).toContain(`${APEX}:53 {`);
    expect(text).toContain(`forward ${APEX} 192.0.2.53`);
    expect(text).not.toContain("rewrite");
  });

  it("looks addresses up only in the networks that it is given", () => {
    expect(coreDnsStanza(view)).not.toContain("forward .");
    const text = coreDnsStanza({ ...view, reverse: ["192.0.2.0/24", "2001:db8::/64"] });
    expect(text.match(/forward \. 192\.0\.2\.53/g)).toHaveLength(2);
    expect(text).toContain("192.0.2.0/24:53 {");
  });

  it("answers names of sets without global names from the member", () => {
    const text = coreDnsStanza({ ...view, local: [{ namespace: "mynamespace", service: "web" }] });
    expect(text).toContain("{1}web.mynamespace.svc.example.com");
    expect(text).toContain("forward example.com 127.0.0.1:53");
  });
});

describe("what names are made of", () => {
  const ready = (status: string, more: object = {}) => ({
    status: { conditions: [{ type: "Ready", status, ...more }] },
  });
  const set = (annotations: object, more: object = {}) => ({
    metadata: { annotations },
    spec: { serviceName: "etcd" },
    ...more,
  });
  const [FEDERATED, LB] = ["federated", "statefulset-lb-needed"].map(
    (name) => `federation.kubernetes.io/${name}`,
  ) as [string, string];
  const bound = (kind: string, annotations: object, ...aggregatedStatus: object[]) => ({
    metadata: { annotations },
    spec: { resource: { kind } },
    status: { aggregatedStatus },
  });
  const SHARES = "lifeboat.dev/federated-shares";

  it.each([
    ["the heartbeat of a cluster", "Cluster", ready("True"), ready("True", { reason: "x" }), true],
    ["a cluster that dies", "Cluster", ready("True"), ready("False"), false],
    ["a cluster that is blocked", "Cluster", {}, { status: { remedyActions: ["x"] } }, false],
    ["a cluster that joins", "Cluster", undefined, {}, false],
    ["a set that is not federated", "StatefulSet", undefined, set({}), true],
    ["a set that is", "StatefulSet", undefined, set({ [FEDERATED]: "true" }), false],
    [
      "the status of a set",
      "StatefulSet",
      set({ [FEDERATED]: "true" }),
      set({ [FEDERATED]: "true" }, { status: { replicas: 1 } }),
      true,
    ],
    [
      "a set that asks for names",
      "StatefulSet",
      set({ [FEDERATED]: "true" }),
      set({ [FEDERATED]: "true", [LB]: "true" }),
      false,
    ],
    [
      "what clusters report of a Deployment",
      "Binding",
      bound("Deployment", {}),
      bound("Deployment", {}, {}),
      true,
    ],
    [
      "what clusters report of a set",
      "Binding",
      bound("StatefulSet", {}),
      bound("StatefulSet", {}, {}),
      true,
    ],
    [
      "the shares of a set",
      "Binding",
      bound("StatefulSet", {}),
      bound("StatefulSet", { [SHARES]: "{}" }),
      false,
    ],
    [
      "the addresses of a Service",
      "Binding",
      bound("Service", {}),
      bound("Service", {}, {}),
      false,
    ],
    ["a load balancer", "Service", balanced(), balanced({ ip: "192.0.2.1" }), false],
    [
      "labels of a Service",
      "Service",
      balanced(),
      { ...(balanced() as object), metadata: { labels: {} } },
      true,
    ],
  ] as const)("%s", (_what, kind, old, now, isSame) => {
    expect(equalJson(namesIn(kind, old), namesIn(kind, now))).toBe(isSame);
  });
});
