/** From ingresses to a routing table, and from a request to its pool. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexRoutes } from "./match.ts";
import { assembleTable, type Backend, compileIngress, type RoutingTable } from "./table.ts";
import { ingressOf, pathTo, servedBy } from "./traffic.suite.ts";

const all = { a: {}, b: {}, c: {} };
const table = (...ingresses: Parameters<typeof compileIngress>[0][]): RoutingTable =>
  assembleTable(ingresses.map((one) => compileIngress(one)));
const states = ({ pools }: RoutingTable): string =>
  (pools[0]?.backends ?? []).map(({ cluster, state }: Backend) => `${cluster} ${state}`).join(", ");

describe("a cluster of an ingress", () => {
  it.each<[string, readonly string[], Parameters<typeof servedBy>[0], string, boolean]>([
    ["nothing is blocked", [], all, "a serving, b serving, c serving", true],
    ["one is blocked", ["b"], all, "a serving, b draining, c serving", true],
    [
      "one drains",
      [],
      { ...all, c: { state: "draining" } },
      "a serving, b serving, c draining",
      true,
    ],
    ["all are blocked (D16)", ["a", "b", "c"], all, "a serving, b serving, c serving", false],
    [
      "the last one that is not blocked drains",
      ["a"],
      { a: {}, b: { state: "draining" } },
      "a serving, b serving",
      false,
    ],
    [
      "the only other one has no address",
      ["a"],
      { a: {}, b: { addresses: [] } },
      "a serving",
      false,
    ],
    ["a blocked cluster has no backend", ["z"], { a: {} }, "a serving", true],
    [
      "the others have no ready replica: the blocked one serves (D16)",
      ["a"],
      { a: {}, b: { state: "draining", cause: "gone" }, c: { state: "draining", cause: "idle" } },
      "a serving, b draining, c draining",
      false,
    ],
    [
      "the only other one with a ready replica leaves",
      ["a"],
      { a: {}, b: { state: "draining", cause: "leaves" }, c: { state: "draining", cause: "gone" } },
      "a serving, b serving, c draining",
      false,
    ],
    [
      "none has a ready replica and one is blocked",
      ["a"],
      { a: { state: "draining", cause: "idle" }, b: { state: "draining", cause: "gone" } },
      "a draining, b serving",
      false,
    ],
    [
      "an older or newer control plane gave another cause",
      ["a"],
      { a: {}, b: { state: "draining", cause: "asleep" as never } },
      "a serving, b serving",
      false,
    ],
  ])("when %s", (_name, blocked, clusters, expected, isConfirmed) => {
    const found = table(ingressOf([pathTo("web")], { blocked, published: servedBy(clusters, 7) }));
    expect(states(found)).toBe(expected);
    expect(found.generations).toEqual(isConfirmed ? { "default/web": 7 } : {});
  });
});

describe("addresses of one cluster that are not ready", () => {
  const of = (
    clusters: Parameters<typeof servedBy>[0],
    blocked: readonly string[] = [],
  ): { readonly states: string; readonly isConfirmed: boolean } => {
    const published = servedBy(clusters, 7);
    const found = table(ingressOf([pathTo("web")], { blocked, published }));
    const states = (found.pools[0]?.backends ?? []).map(
      ({ address, port, state }) => `${address}:${port} ${state}`,
    );
    return { states: states.join(", "), isConfirmed: found.generations["default/web"] === 7 };
  };
  const pods = (places: object) => ({ endpoints: [{ ports: { "80": 8080 }, ...places }] as never });

  it("get no new requests", () => {
    const a = pods({ addresses: ["10.1.0.1"], draining: ["10.1.0.2"], unready: ["10.1.0.3"] });
    expect(of({ a })).toEqual({
      states: "10.1.0.1:8080 serving, 10.1.0.2:8080 draining, 10.1.0.3:8080 draining",
      isConfirmed: true,
    });
    const nodePorts = { "80": 30_080 };
    expect(of({ a: { addresses: ["192.0.2.1"], draining: ["192.0.2.2"], nodePorts } }).states).toBe(
      "192.0.2.1:30080 serving, 192.0.2.2:30080 draining",
    );
  });

  it.each<[string, Parameters<typeof of>, string, boolean]>([
    [
      "terminate: they serve before those that are not ready",
      [{ a: pods({ addresses: [], draining: ["10.1.0.2"], unready: ["10.1.0.3"] }) }],
      "10.1.0.2:8080 serving, 10.1.0.3:8080 draining",
      true,
    ],
    [
      "are all there is: they are tried",
      [{ a: pods({ addresses: [], unready: ["10.1.0.3"] }) }],
      "10.1.0.3:8080 serving",
      true,
    ],
    [
      "are the only others: a blocked cluster serves (D16)",
      [
        {
          a: pods({ addresses: ["10.1.0.1"] }),
          b: pods({ addresses: [], draining: ["10.2.0.1"] }),
        },
        ["a"],
      ],
      "10.1.0.1:8080 serving, 10.2.0.1:8080 draining",
      false,
    ],
    [
      "are ready pods of a workload that reports none yet: they are as good as blocked ones",
      [
        {
          a: pods({ addresses: ["10.1.0.1"] }),
          b: { ...pods({ addresses: ["10.2.0.1"] }), state: "draining", cause: "idle" },
        },
        ["a"],
      ],
      "10.1.0.1:8080 serving, 10.2.0.1:8080 serving",
      false,
    ],
    [
      "are all there is, in a blocked cluster and in another: the other's serve",
      [
        {
          a: pods({ addresses: [], draining: ["10.1.0.1"] }),
          b: pods({ addresses: [], unready: ["10.2.0.1"] }),
        },
        ["a"],
      ],
      "10.1.0.1:8080 draining, 10.2.0.1:8080 serving",
      true,
    ],
  ])("%s", (_what, given, states, isConfirmed) => {
    expect(of(...given)).toEqual({ states, isConfirmed });
  });

  it("stand where they stood, whatever their states", () => {
    const [low, high] = ["10.1.0.1", "10.1.0.2"];
    const order = (a: object): readonly string[] => {
      const published = servedBy({ a });
      const found = table(ingressOf([pathTo("web")], { published }));
      return (found.pools[0]?.backends ?? []).map(({ address }) => address);
    };
    for (const places of [
      { addresses: [low], draining: [high] },
      { addresses: [high], draining: [low] },
      { addresses: [high, low] },
      { addresses: [], draining: [high], unready: [low] },
    ]) {
      expect(order(pods(places))).toEqual([low, high]);
      expect(order({ ...places, nodePorts: { "80": 30_080 } })).toEqual([low, high]);
    }
  });

  it("are one place where a member reports them twice, and the best state counts", () => {
    const twice = pods({
      addresses: ["10.1.0.1"],
      draining: ["10.1.0.1", "10.1.0.2"],
      unready: ["10.1.0.2"],
    });
    const groups = [
      ...(twice.endpoints as readonly object[]),
      ...(pods({ draining: ["10.1.0.1"] }).endpoints as readonly object[]),
    ];
    for (const endpoints of [groups, groups.toReversed()])
      expect(of({ a: { endpoints: endpoints as never } }).states).toBe(
        "10.1.0.1:8080 serving, 10.1.0.2:8080 draining",
      );
  });

  it("have no part in the weight of their cluster", () => {
    const a = { weight: 4, ...pods({ addresses: ["10.1.0.1"], draining: ["10.1.0.2"] }) };
    const b = { weight: 4, ...pods({ addresses: ["10.2.0.1", "10.2.0.2"] }) };
    const found = table(ingressOf([pathTo("web")], { published: servedBy({ a, b }) }));
    expect(found.pools[0]?.backends.map(({ weight }) => weight)).toEqual([8, 8, 4, 4]);
  });

  it("are not dialled where nothing of the federation is, and are no names", () => {
    const a = pods({ addresses: ["169.254.169.254", "pod.example.com", "10.1.0.1"] });
    const published = servedBy({ a });
    const judge = (address: string): string | undefined =>
      address.startsWith("169.254.") ? "is link-local" : undefined;
    const { pools, problems } = compileIngress(ingressOf([pathTo("web")], { published }), judge);
    expect(pools[0]?.backends.map(({ address }) => address)).toEqual(["10.1.0.1"]);
    expect(problems).toMatchObject([{ message: "the address 169.254.169.254 is link-local" }]);
  });
});

it("reaches node ports, and the addresses of a cluster share its weight", () => {
  const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
  const published = servedBy({
    a: { weight: 2 },
    b: { addresses, nodePorts: { "80": 30_080 }, weight: 2 },
    c: { addresses, nodePorts: { "443": 30_443 } },
  });
  const found = table(ingressOf([pathTo("web")], { published }));
  const places = (found.pools[0]?.backends ?? []).map(
    ({ cluster, address, port, weight }) => `${cluster} ${address}:${port} ${weight}`,
  );
  expect(places).toEqual([
    "a 10.0.0.1:80 6",
    "b 192.0.2.1:30080 2",
    "b 192.0.2.2:30080 2",
    "b 192.0.2.3:30080 2",
  ]);
});

it("leaves out and reports what is not dialled, whatever a member reports", () => {
  const published = servedBy({
    a: {},
    b: {
      addresses: [
        "169.254.169.254",
        "lb.example.com",
        "0xa9fea9fe",
        "169.0xfe.169.0xfe",
        "a.2852039166",
      ],
    },
  });
  const judge = (address: string) =>
    address.startsWith("169.254.") ? "is not dialled" : undefined;
  const { pools, problems } = compileIngress(ingressOf([pathTo("web")], { published }), judge);
  expect(pools[0]?.backends.map(({ address }) => address)).toEqual(["10.0.0.1", "lb.example.com"]);
  expect(problems).toEqual([
    {
      ingress: "default/web",
      field: "Service web in b",
      message: "the address 169.254.169.254 is not dialled",
    },
  ]);
});

it("is confirmed by Service when one of an ingress is served as a last resort", () => {
  const well = servedBy({ a: {}, b: { state: "draining" } }, 7);
  const sick = servedBy({ a: { state: "draining" } }, 7);
  const services = { web: well.services.web, api: sick.services.web } as typeof well.services;
  const published = { ...well, services };
  const found = table(ingressOf([pathTo("web"), pathTo("api", "/api")], { published }));
  expect(found.generations).toEqual({ "default/web/web": 7 });
});

it("names what a leaving copy may wait for, also a Service to which no route leads", () => {
  const drains = servedBy({ a: {}, b: { state: "draining" } }, 7);
  const backend = { service: { name: "web", port: { number: 99 } } };
  const unrouted = ingressOf([pathTo("web", "/", { backend })], { published: drains });
  expect(table(unrouted).pools).toEqual([]);
  expect([...table(unrouted).draining]).toEqual(["default/web", "default/web/web"]);
  // A block alone is waited for by nothing.
  const blocked = ingressOf([pathTo("web")], { blocked: ["b"], published: servedBy(all) });
  expect([...table(blocked).draining]).toEqual([]);
});

describe("a request", () => {
  const routes = table(
    ingressOf(
      [
        pathTo("web", "/"),
        pathTo("api", "/api"),
        pathTo("v2", "/api/v2/"),
        pathTo("exact", "/api/v2", { pathType: "Exact" }),
        pathTo("any", "/impl", { pathType: "ImplementationSpecific" }),
      ],
      { spec: { defaultBackend: { service: { name: "rest", port: { number: 80 } } } } },
    ),
    ingressOf([pathTo("wild")], { name: "wild", host: "*.example.com" }),
    ingressOf([pathTo("anyhost", "/deep")], { name: "any", host: "" }),
  );
  it.each([
    ["web.example.com", "/", "web"],
    ["WEB.example.com", "/x", "web"],
    ["web.example.com", "/api", "api"],
    ["web.example.com", "/api/", "api"],
    ["web.example.com", "/apix", "web"],
    ["web.example.com", "/api/v2", "exact"],
    ["web.example.com", "/api/v2/x", "v2"],
    ["web.example.com", "/impl/x", "any"],
    ["other.example.com", "/api", "wild"],
    ["a.b.example.com", "/", "rest"],
    ["example.com", "/", "rest"],
    ["else.org", "/deep/x", "anyhost"],
    ["", "/deep", "anyhost"],
    ["else.org", "/deeper", "rest"],
  ])("for %s%s goes to %s", (host, path, service) => {
    expect(indexRoutes(routes).find(host, path)?.pool.split("/")[2]).toBe(service);
  });
});

describe("what is not plain is left out and reported", () => {
  const EVIL = "x\n  server evil 6.6.6.6:80";
  it.each<[string, Parameters<typeof ingressOf>]>([
    ["spec.rules[0].host", [[pathTo("web")], { host: `a.com${EVIL}` }]],
    ["spec.rules[0].host", [[pathTo("web")], { host: "a.com;b" }]],
    ["spec.rules[0].host", [[pathTo("web")], { host: "*.*.com" }]],
    ["spec.rules[0].host", [[pathTo("web")], { host: "-a.com" }]],
    ["spec.rules[0].http.paths[0].path", [[pathTo("web", `/${EVIL}`)]]],
    ["spec.rules[0].http.paths[0].path", [[pathTo("web", "/a b")]]],
    ["spec.rules[0].http.paths[0].path", [[pathTo("web", "no-slash")]]],
    ["spec.rules[0].http.paths[0].path", [[pathTo("web", "/a/../b")]]],
    ["spec.rules[0].http.paths[0].path", [[pathTo("web", "/a/%2E%2e/b")]]],
    ["spec.rules[0].http.paths[0].path", [[pathTo("web", "/\u0000")]]],
    ["spec.rules[0].http.paths[0].pathType", [[pathTo("web", "/", { pathType: "Regex" })]]],
    ["spec.rules[0].http.paths[0].backend.service.name", [[pathTo(EVIL)]]],
    ["spec.rules[0].http.paths[0].backend", [[pathTo("web", "/", { backend: {} })]]],
    [
      "spec.rules[0].http.paths[0].backend.service.port",
      [[pathTo("web", "/", { backend: { service: { name: "web", port: { number: 99 } } } })]],
    ],
    [
      "spec.rules[0].http.paths[0].backend.service.port",
      [[pathTo("web", "/", { backend: { service: { name: "web", port: { name: "no" } } } })]],
    ],
    ["spec.tls[0]", [[pathTo("web")], { spec: { tls: [{ hosts: ["a b"], secretName: "s" }] } }]],
    ["spec.tls[0]", [[pathTo("web")], { spec: { tls: [{ hosts: [], secretName: "../s" }] } }]],
    ["spec.tls[0]", [[pathTo("web")], { host: "", spec: { tls: [{ secretName: "s" }] } }]],
  ])("%s", (field, [paths, changes]) => {
    const good = pathTo("web", "/good");
    const rules = ingressOf([...paths, good], { ...changes, published: servedBy(all) });
    const { problems } = compileIngress(rules);
    expect(problems.map((one) => one.field)).toContain(field);
    expect(JSON.stringify(table(rules).routes)).not.toContain("evil");
    // The rest of the ingress works.
    const other = ingressOf([good], {
      ...changes,
      host: "ok.example.com",
      published: servedBy(all),
    });
    expect(table(rules, other).routes.length).toBeGreaterThan(0);
  });

  it.each([[undefined], [[]]])(
    "a certificate without hosts of its own (%j) is for those of the rules",
    (hosts) => {
      const tls = [{ secretName: "s", ...(hosts !== undefined && { hosts }) }];
      const rules = ingressOf([pathTo("web")], { host: "Web.example.com", spec: { tls } });
      const { certificates, problems } = compileIngress(rules);
      expect(problems).toEqual([]);
      expect(certificates.map((one) => one.hosts)).toEqual([["web.example.com"]]);
    },
  );

  it("of two ingresses with the same place the older one has it", () => {
    const old = ingressOf([pathTo("web")], { name: "z", created: "2026-01-01T00:00:00Z" });
    const young = ingressOf([pathTo("web")], { name: "a", created: "2026-02-01T00:00:00Z" });
    for (const found of [table(old, young), table(young, old)]) {
      expect(found.routes.map(({ pool }) => pool)).toEqual(["default/z/web/80"]);
      expect(found.problems.map(({ ingress }) => ingress)).toEqual(["default/a"]);
    }
  });
});

it("whatever an ingress holds, a table of plain names follows", () => {
  const text = fc.oneof(fc.string(), fc.constantFrom("web", "/", "a.com", "*.a.com", "/x", "http"));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, text, text, fc.integer({ min: -1, max: 70_000 })), { maxLength: 4 }),
      fc.dictionary(text, fc.array(text, { maxLength: 2 }), { maxKeys: 3 }),
      fc.array(text, { maxLength: 3 }),
      (rules, clusters, blocked) => {
        const found = table(
          ...rules.map(([host, path, service, number], i) =>
            ingressOf(
              [
                pathTo(service, path, {
                  backend: { service: { name: service, port: { number } } },
                }),
              ],
              {
                name: `i${i}`,
                host,
                blocked,
                published: servedBy(
                  Object.fromEntries(
                    Object.entries(clusters).map(([name, addresses]) => [name, { addresses }]),
                  ),
                ),
              },
            ),
          ),
        );
        for (const { host, path, pool } of found.routes) {
          expect(host).toMatch(/^(?:\*\.)?[-a-z0-9.]*$/);
          expect(path).toMatch(/^\/[!-~]*$/);
          expect(pool).toMatch(/^[-a-z0-9/]+$/);
        }
        for (const { backends } of found.pools) {
          for (const { cluster, address } of backends) {
            expect(cluster).toMatch(/^[-a-z0-9]+$/);
            expect(address).toMatch(/^[-a-zA-Z0-9.:]+$/);
          }
          const serving = backends.filter(({ state }) => state === "serving");
          if (backends.length > 0) expect(serving.length).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 300 },
  );
});

it("whatever a member reports, each place is in a pool once, where the order of its report does not matter", () => {
  const address = fc.constantFrom("10.0.0.1", "10.0.0.2", "lb.example.com", "x y");
  const some = fc.array(address, { maxLength: 3 });
  const places = fc.record({ addresses: some, draining: some, unready: some });
  const groups = fc.array(
    fc
      .tuple(places, fc.constantFrom(80, 8080))
      .map(([one, port]) => ({ ...one, ports: { "80": port } })),
    { maxLength: 3 },
  );
  const reported = fc.oneof(places, fc.record({ addresses: some, endpoints: groups }));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("a", "b"), reported), (clusters) => {
      const backendsOf = (given: Parameters<typeof servedBy>[0]): readonly Backend[] =>
        table(ingressOf([pathTo("web")], { published: servedBy(given) })).pools[0]?.backends ?? [];
      const found = backendsOf(clusters);
      const ids = found.map(({ cluster, address: at, port }) => `${cluster} ${at} ${port}`);
      expect(new Set(ids).size).toBe(ids.length);
      const reversed = Object.entries(clusters).map(([name, one]) => [
        name,
        "endpoints" in one ? { ...one, endpoints: one.endpoints.toReversed() } : one,
      ]);
      expect(backendsOf(Object.fromEntries(reversed) as typeof clusters)).toEqual(found);
    }),
    { numRuns: 200 },
  );
});
