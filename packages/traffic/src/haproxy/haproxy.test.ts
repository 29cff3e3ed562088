/** The configuration of HAProxy, and the commands that correct its servers. */
import type { RoutingTable } from "@lifeboat/core/traffic";
import { describe, expect, it } from "vitest";
import { poolName, renderConfig, type RenderedPools } from "./render.ts";
import {
  readServersState,
  readServerStats,
  stateCommands,
  usedPools,
  wantedStates,
} from "./states.ts";

const OPTIONS = { socket: "/run/s", stateFile: "/run/state", bind: "127.0.0.1:8080" };
const POOL = "default/web/web/80";
const name = poolName(POOL);

function table(
  changes: Partial<RoutingTable["pools"][number]["backends"][number]> = {},
): RoutingTable {
  return {
    routes: [
      { host: "web.example.com", path: "/a", pathType: "Prefix", pool: POOL, isDefault: false },
    ],
    pools: [
      {
        id: POOL,
        backends: [
          { cluster: "m1", address: "10.0.0.1", port: 80, weight: 1, state: "serving", ...changes },
          { cluster: "m2", address: "fd00::2", port: 80, weight: 3, state: "serving" },
        ],
      },
    ],
    certificates: [],
    problems: [],
    generations: {},
    draining: new Set(),
  };
}

describe("the configuration", () => {
  it("holds one word for each thing, and no name that others chose", () => {
    const { text, servers } = renderConfig(table(), OPTIONS);
    expect(text).toContain(
      `use_backend ${name} if { req.hdr(host),field(1,:),rtrim(.),lower -m str 'web.example.com' } { path -m str '/a' }`,
    );
    expect(text).toContain("{ path -m beg '/a/' }");
    expect(text).toMatch(/^ {2}server s_\w+ 10\.0\.0\.1:80 weight 1$/m);
    expect(text).toMatch(/^ {2}server s_\w+ \[fd00::2\]:80 weight 3$/m);
    expect(text).not.toContain("m1");
    expect([...servers.keys()].every((key) => /^p_\w+\/s_\w+$/.test(key))).toBe(true);
  });

  it("has the servers resolved that are names, and reads the resolvers only then", () => {
    expect(renderConfig(table(), OPTIONS).text).not.toContain("resolv");
    const { text } = renderConfig(table({ address: "lb.example.com" }), OPTIONS);
    expect(text).toMatch(/^resolvers names\n {2}parse-resolv-conf$/m);
    expect(text).toMatch(
      /^ {2}server s_\w+ lb\.example\.com:80 resolvers names resolve-prefer ipv4 weight 1$/m,
    );
    expect(text).toMatch(/^ {2}server s_\w+ \[fd00::2\]:80 weight 3$/m);
  });

  it("sends requests to all servers of a pool while no serving one is up", () => {
    const { text } = renderConfig(table(), OPTIONS);
    const uses = text.split("\n").filter((line) => line.includes("use_backend"));
    expect(uses.map((line) => line.trim().split(" ")[1])).toEqual([
      `${name}_all`,
      name,
      `${name}_all`,
      name,
    ]);
    expect(
      uses.filter((line) => line.endsWith(`{ nbsrv(${name}) eq 0 } !{ stopping }`)),
    ).toHaveLength(2);
  });

  it("cannot be left by a quote", () => {
    const evil = table();
    const routes = [{ ...evil.routes[0], path: "/a'b" }] as RoutingTable["routes"];
    const { text } = renderConfig({ ...evil, routes }, OPTIONS);
    expect(text).toContain(String.raw`'/a'\''b'`);
  });

  it("is the same whatever drains, and names another address another server", () => {
    const plain = renderConfig(table(), OPTIONS);
    expect(renderConfig(table({ state: "draining" }), OPTIONS).text).toBe(plain.text);
    const moved = renderConfig(table({ address: "10.0.0.9" }), OPTIONS);
    const [first] = plain.servers.keys();
    expect([...moved.servers.keys()]).not.toContain(first);
  });

  it("is the same whether or not its pools were rendered before", () => {
    const known: RenderedPools = new WeakMap();
    for (const given of [table(), table({ address: "10.0.0.9" }), table({ state: "draining" })])
      for (let turn = 0; turn < 2; turn++)
        expect(renderConfig(given, OPTIONS, known)).toEqual(renderConfig(given, OPTIONS));
  });

  it("keeps weights in proportion within what HAProxy takes", () => {
    const { text } = renderConfig(table({ weight: 3000 }), OPTIONS);
    expect(text).toContain("10.0.0.1:80 weight 256");
    expect(text).toContain("[fd00::2]:80 weight 1");
  });
});

describe("the servers", () => {
  const rendered = renderConfig(table({ state: "draining" }), OPTIONS);
  const [first = "", second = ""] = rendered.servers.keys();
  const reported = (admin: number, weight: number): string =>
    [
      "1",
      "# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight",
      `3 ${first.replace("/", " 1 ")} 10.0.0.1 2 ${admin} ${weight}`,
      `3 ${second.replace("/", " 2 ")} fd00::2 2 8 3`,
      "",
    ].join("\n");

  it("get the commands that are missing, and no other", () => {
    expect(stateCommands(rendered, readServersState(reported(0, 2)))).toEqual([
      `set server ${first} state drain`,
      `set server ${first} weight 1`,
      `set server ${second} state ready`,
    ]);
    expect(stateCommands(rendered, readServersState(reported(8, 1)))).toEqual([
      `set server ${second} state ready`,
    ]);
  });

  it("need nothing once they are as they shall be, and one command for one change", () => {
    const states = wantedStates(rendered);
    expect(stateCommands(rendered, states)).toEqual([]);
    expect(stateCommands(renderConfig(table(), OPTIONS), states)).toEqual([
      `set server ${first} state ready`,
    ]);
  });

  /** The first server drains. Each is given as its sessions and its status, in the section of the pool and in that of all servers. */
  const used = (...given: readonly (readonly [key: string, sessions: number, status: string])[]) =>
    usedPools(
      rendered,
      readServerStats(
        `# pxname,svname,qcur,qmax,scur,status\n${given
          .map(([key, sessions, status]) => `${key.replace("/", ",")},0,0,${sessions},${status}\n`)
          .join("")}\n`,
      ),
    );
  const all = (key: string): string => key.replace("/", "_all/");

  it("are used while they drain with sessions, or without a place in the table", () => {
    const up = [second, 1, "UP"] as const;
    expect(used([first, 0, "DRAIN"], [all(first), 0, "UP"], up)).toEqual(new Map());
    expect(used([first, 2, "DRAIN"], up)).toEqual(new Map([[name, "ends"]]));
    expect(used([all(first), 1, "UP"], up)).toEqual(new Map([[name, "ends"]]));
    expect(used([`${name}/s_gone`, 1, "UP"], up)).toEqual(new Map([[name, "ends"]]));
  });

  it("serve while they drain, are up, and no serving one is", () => {
    const drains = [first, 0, "DRAIN"] as const;
    const down = [second, 0, "DOWN 1/2"] as const;
    expect(used(drains, [all(first), 0, "UP 1/3"], down, [all(second), 0, "UP"])).toEqual(
      new Map([[name, "serves"]]),
    );
    expect(used(drains, [all(first), 0, "DOWN"], down, [all(second), 0, "DOWN"])).toEqual(
      new Map(),
    );
  });
});
