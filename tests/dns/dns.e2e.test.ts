/** The federation's names asked with `dig`: the example name for name, a dead cluster, a control plane that is gone. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { HttpClient } from "@lifeboat/kit/adapters";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { podsOf, putGlobalExample, reportReady } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import {
  lifeboatCommand,
  ONLY_API,
  type RunningLifeboat,
  startLifeboat,
} from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";

const run = promisify(execFile);
const APEX = "myfederation.svc.example.com";
const NAMES = ["--dns-zone", "example.com", "--federation-name", "myfederation"];
const SHARES = { c1: 4, c2: 4, c3: 3 };

let lifeboat: RunningLifeboat;
let plane: HttpClient;
let port = 0;
const started: RunningProcess[] = [];
const directories: string[] = [];

beforeAll(async () => {
  port = await freePort();
  const args = [...ONLY_API, "--dns-listen", `127.0.0.1:${port}`, ...NAMES];
  lifeboat = await startLifeboat({ args });
  plane = await connectByKubeconfig({ paths: [lifeboat.kubeconfig] });
  await putGlobalExample(plane, { shares: SHARES });
  await eventually(async () => expect(await listed(port)).toHaveLength(11));
});

afterAll(async () => {
  plane.close();
  for (const process of started) await process.stop("SIGKILL");
  await lifeboat.stop();
  for (const directory of directories) removeDirectory(directory);
});

async function dig(at: number, ...args: string[]): Promise<string> {
  const { stdout } = await run("dig", [
    "@127.0.0.1",
    "-p",
    String(at),
    "+tries=1",
    "+time=2",
    ...args,
  ]);
  return stdout;
}

async function listed(at: number, ...args: string[]): Promise<readonly string[]> {
  const out = await dig(at, "+short", ...args, "SRV", `store.mynamespace.${APEX}`);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

async function lifeboatSays(...args: string[]): Promise<string> {
  const { stdout } = await run(lifeboatCommand, [...args, "--kubeconfig", lifeboat.kubeconfig]);
  return stdout;
}

describe("the example of eleven replicas over three clusters", () => {
  const expected = podsOf({ shares: SHARES })
    .map((pod) => `0 1 80 ${pod}.etcd.mynamespace.${APEX}.`)
    .sort();

  it.each([
    ["by the set, by UDP", "store.mynamespace", "+notcp"],
    ["by the Service, by UDP", "etcd.mynamespace", "+notcp"],
    ["by the port, by UDP", "_store._tcp.store.mynamespace", "+notcp"],
    ["by the set, by TCP", "store.mynamespace", "+tcp"],
    ["by the Service, by TCP", "etcd.mynamespace", "+tcp"],
  ])(
    "%s: name for name, with every address, in at most 1,232 bytes",
    async (_how, name, transport) => {
      const out = await dig(port, transport, "+bufsize=1232", "+ignore", "SRV", `${name}.${APEX}`);
      const answers = [...out.matchAll(/IN[ \t]+SRV[ \t]+(\d.*)/g)].map(([, data]) => data).sort();
      expect(answers).toEqual(expected);
      expect([...out.matchAll(/etcd\.\S+\s+\d+\s+IN\s+A\s+192/g)]).toHaveLength(11);
      expect(out).toMatch(/flags: qr aa/);
      expect(out).not.toMatch(/flags:[^;]* tc/);
      expect(Number(/MSG SIZE\s+rcvd: (\d+)/.exec(out)?.[1])).toBeLessThanOrEqual(1232);
    },
  );

  it("both forms of a pod's name have its address, and names of the cluster are refused", async () => {
    for (const name of ["store-c2-1.etcd.mynamespace", "store-c2-1.mynamespace"])
      expect(await dig(port, "+short", "A", `${name}.${APEX}`)).toBe("192.0.0.6\n");
    expect(await dig(port, "etcd.mynamespace.svc.example.com")).toContain("status: REFUSED");
    expect(await dig(port, `nosuch.mynamespace.${APEX}`)).toContain("status: NXDOMAIN");
    expect(await dig(port, "AXFR", APEX)).toContain("Transfer failed");
  });

  it("the address of a pod leads back to it, any other address is refused", async () => {
    expect(await dig(port, "+short", "-x", "192.0.0.6")).toBe(
      `store-c2-1.etcd.mynamespace.${APEX}.\n`,
    );
    expect(await dig(port, "-x", "192.0.0.99")).toContain("status: REFUSED");
  });

  it("is explained, listed and part of the status", async () => {
    expect(await lifeboatSays("dns", "explain", `store-c3-2.mynamespace.${APEX}`)).toContain(
      "store-c3-2 in c3, 192.0.0.11: listed",
    );
    expect(await lifeboatSays("dns", "records")).toContain(`store-c1-0.mynamespace.${APEX}`);
    expect(await lifeboatSays("dns", "stanza", "c1", "--servers", "192.0.2.53")).toContain(
      `forward ${APEX} 192.0.2.53`,
    );
    expect(await lifeboatSays("status")).toMatch(/Names\s+\d+ of myfederation\.svc\.example\.com/);
    const ready = await plane.read("/readyz?verbose");
    expect(ready).toContain("[+]dns ok");
  });
});

describe("a cluster that dies", () => {
  it("leaves the answers, its names stay with the reason, and it returns with the same names", async () => {
    const before = await listed(port);
    await reportReady(plane, "c1", "False");
    await eventually(async () => expect(await listed(port)).toHaveLength(7), 10_000);
    expect(await dig(port, "+short", "TXT", `store-c1-0.mynamespace.${APEX}`)).toContain(
      "ClusterNotReady",
    );
    expect(await dig(port, `store-c1-0.mynamespace.${APEX}`)).toContain("status: NOERROR");
    await reportReady(plane, "c1", "True");
    await eventually(async () => expect(await listed(port)).toEqual(before), 10_000);
  });
});

describe("`lifeboat dns serve`", () => {
  async function serve(at: number, stateDirectory: string): Promise<RunningProcess> {
    const args = [
      "dns",
      "serve",
      "--kubeconfig",
      lifeboat.kubeconfig,
      "--dns-listen",
      `127.0.0.1:${at}`,
    ];
    const server = startProcess(lifeboatCommand, [
      ...args,
      ...NAMES,
      "--state-dir",
      stateDirectory,
    ]);
    started.push(server);
    await server.printed(/^ready$/m);
    return server;
  }

  it("goes on when the control plane is gone, also after a restart", async () => {
    const at = await freePort();
    const directory = temporaryDirectory("dns");
    directories.push(directory);
    const kept = join(directory, "state");
    const first = await serve(at, kept);
    const before = await listed(at);
    expect(before).toHaveLength(11);
    await lifeboat.process.stop("SIGKILL");
    expect(await listed(at, "+tcp")).toEqual(before);
    expect(await first.stop()).toBe(0);
    const second = await serve(at, kept);
    expect(await listed(at)).toEqual(before);
    expect(await second.stop()).toBe(0);
  });
});
