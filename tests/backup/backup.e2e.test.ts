/** Backup and restore with real processes: what a restored control plane does to members, and what the commands refuse. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  type AnyObject,
  evacuationBudgets,
  findCondition,
  FLEET_BUDGET,
  type New,
  propagationPolicies,
  type PropagationPolicy,
} from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { deployment, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import {
  lifeboatCommand,
  ONLY_API,
  type RunningLifeboat,
  startLifeboat,
} from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

const directories: string[] = [];
const running: RunningLifeboat[] = [];
const clients: HttpClient[] = [];

function ownDirectory(): string {
  const directory = temporaryDirectory("backup-test");
  directories.push(directory);
  return directory;
}

async function start(
  dataDirectory: string,
  args: readonly string[],
  port?: number,
): Promise<RunningLifeboat> {
  const lifeboat = await startLifeboat({
    dataDirectory,
    args,
    ...(port !== undefined && { port }),
  });
  running.push(lifeboat);
  return lifeboat;
}

async function connect(kubeconfig: string): Promise<HttpClient> {
  const client = await connectByKubeconfig({ paths: [kubeconfig] });
  clients.push(client);
  return client;
}

async function lifeboat(...args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const child = startProcess(lifeboatCommand, args);
  return { code: await child.ended, output: child.output() };
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const one of running.splice(0)) await one.process.stop("SIGKILL");
  for (const directory of directories.splice(0)) removeDirectory(directory);
});

const MEMBERS = ["member1", "member2", "member3"];

function policy(name: string, ...clusters: readonly string[]): New<PropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name }],
      placement: { clusterAffinity: { clusterNames: clusters } },
    },
  };
}

async function propagate(plane: HttpClient, name: string, ...clusters: string[]): Promise<void> {
  await plane.create(propagationPolicies, policy(name, ...clusters));
  await plane.create(resources.deployments, deployment(name) as New<AnyObject>);
}

/** `member/name` of every Deployment in the members to its uid. */
async function copiesOf(members: readonly HttpClient[]): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    members.map(async (client, i) => {
      const { items } = await client.list(resources.deployments, { namespace: "default" });
      return items.map(
        ({ metadata }) => [`${MEMBERS[i]}/${metadata.name}`, metadata.uid ?? ""] as const,
      );
    }),
  );
  return new Map(found.flat());
}

describe("a fleet whose control plane is restored", () => {
  it("loses no workload, gets what it had, tells what it does not know, and goes on when a person agrees", async () => {
    const directory = ownDirectory();
    const file = join(ownDirectory(), "plane.backup");
    const args = ["--members", "3", "--cluster-status-update-frequency", "2s"];
    const first = await start(directory, args);
    await first.process.printed(/^members ready$/m);
    const plane = await connect(first.kubeconfig);
    const members = await Promise.all(
      MEMBERS.map((name) => connect(join(directory, `${name}.kubeconfig`))),
    );
    const names = async (): Promise<readonly string[]> =>
      [...(await copiesOf(members)).keys()].sort();
    const until = (expected: readonly string[]): Promise<void> =>
      eventually(async () => expect(await names()).toEqual(expected));
    await propagate(plane, "steady", "member1", "member2");
    await propagate(plane, "mover", "member1");
    await propagate(plane, "gone", "member2");
    await until(["member1/mover", "member1/steady", "member2/gone", "member2/steady"]);

    const backup = await lifeboat("backup", file, "--data-dir", directory);
    expect(backup).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);

    // After the backup: one is new, one has moved, one was deleted.
    await propagate(plane, "late", "member3");
    const key = { namespace: "default", name: "mover" };
    const edited = await plane.get(propagationPolicies, key);
    await plane.update(propagationPolicies, { ...edited, spec: policy("mover", "member2").spec });
    await plane.delete(resources.deployments, { namespace: "default", name: "gone" });
    await until(["member1/steady", "member2/mover", "member2/steady", "member3/late"]);
    const before = await copiesOf(members);

    const refused = await lifeboat("restore", file, "--data-dir", directory, "--force");
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toContain("in use by process");
    await first.process.stop("SIGKILL");
    const restored = await lifeboat("restore", file, "--data-dir", directory, "--force");
    expect(restored).toMatchObject({ code: 0 });
    const second = await start(directory, args, first.port);
    await second.process.printed(/^members ready$/m);
    expect(existsSync(join(directory, "restored"))).toBe(false);

    const all = [
      "member1/mover",
      "member1/steady",
      "member2/gone",
      "member2/mover",
      "member2/steady",
      "member3/late",
    ];
    await until(all);
    const unknown = await eventually(async () => {
      const { status } = await plane.get(evacuationBudgets, { namespace: "", name: FLEET_BUDGET });
      const found = findCondition(status?.conditions, "UnknownCopies");
      expect(found).toMatchObject({ status: "True" });
      return found?.message ?? "";
    });
    expect(unknown).toContain("Deployment default/late in member3");
    expect(unknown).toContain("Deployment default/mover in member2");
    // By default longer than a stray copy is left alone on an ordinary day; every change waits less.
    await wait(Number(process.env["LIFEBOAT_HELD_SECONDS"] ?? 100) * 1000);
    const after = await copiesOf(members);
    expect([...after.keys()].sort()).toEqual(all);
    for (const [name, uid] of before) expect(after.get(name), name).toBe(uid);

    const shown = await lifeboat("brake", "--kubeconfig", second.kubeconfig);
    expect(shown.output).toMatch(/restored\s+from\s+a\s+backup/);
    const released = await lifeboat("brake", "release", "--yes", "--kubeconfig", second.kubeconfig);
    expect(released).toMatchObject({ code: 0 });
    await until(all.filter((name) => name !== "member2/mover"));
    const { output } = await lifeboat("brake", "--kubeconfig", second.kubeconfig);
    expect(output).toContain("the deletion guard is armed");
  }, 400_000);
});

describe("the commands", () => {
  it("back up while the control plane is down, and restore into a new directory with its certificates", async () => {
    const directory = ownDirectory();
    const file = join(ownDirectory(), "plane.backup");
    const first = await start(directory, ONLY_API);
    const plane = await connect(first.kubeconfig);
    await plane.create(resources.configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "default", name: "kept" },
    });
    await first.process.stop("SIGKILL");
    expect(await lifeboat("backup", file, "--data-dir", directory)).toMatchObject({ code: 0 });
    expect((await lifeboat("backup", file, "--data-dir", directory)).output).toContain("exists");
    expect(await lifeboat("backup", file, "--data-dir", directory, "--force")).toMatchObject({
      code: 0,
    });

    const other = join(ownDirectory(), "new");
    expect(await lifeboat("restore", file, "--data-dir", other)).toMatchObject({ code: 0 });
    expect((await lifeboat("restore", file, "--data-dir", other)).output).toContain("--force");
    // The former kubeconfig and its certificate are good for the restored one.
    const second = await start(other, ONLY_API, first.port);
    const again = await connect(first.kubeconfig);
    const key = { namespace: "default", name: "kept" };
    await expect(again.get(resources.configMaps, key)).resolves.toBeDefined();
    await expect(
      again.list(resources.configMaps, { resourceVersion: "1", resourceVersionMatch: "Exact" }),
    ).rejects.toThrow();
    await second.process.stop();
  });

  it("leave keys out when told to", async () => {
    const directory = ownDirectory();
    const file = join(ownDirectory(), "plane.backup");
    const first = await start(directory, ONLY_API);
    await lifeboat("backup", file, "--data-dir", directory, "--without-keys");
    const key = readFileSync(join(directory, "pki", "ca.key"), "utf8").split("\n")[1] ?? "";
    expect(key.length).toBeGreaterThan(20);
    expect(readFileSync(file).includes(key)).toBe(false);
    const other = join(ownDirectory(), "new");
    expect(await lifeboat("restore", file, "--data-dir", other)).toMatchObject({ code: 0 });
    expect(readdirSync(other).sort()).toEqual(["restored", "store"]);
    await first.process.stop();
  });

  it.each(["zeroed in its second half", "cut in half"])(
    "say of a store that is %s that it is damaged, and put a backup in its place",
    async (how) => {
      const directory = ownDirectory();
      const file = join(ownDirectory(), "plane.backup");
      const first = await start(directory, ONLY_API);
      await lifeboat("backup", file, "--data-dir", directory);
      await first.process.stop("SIGKILL");
      const data = join(directory, "store", "data.mdb");
      const bytes = readFileSync(data);
      const half = Math.floor(bytes.length / 2);
      writeFileSync(data, how === "cut in half" ? bytes.subarray(0, half) : bytes.fill(0, half));
      const refused = await lifeboat("backup", `${file}.2`, "--data-dir", directory);
      expect(refused).toMatchObject({ code: 1 });
      expect(refused.output).toMatch(/^lifeboat: .*data\.mdb is (damaged|cut short)/m);
      expect(existsSync(`${file}.2`)).toBe(false);
      expect(await lifeboat("restore", file, "--data-dir", directory, "--force")).toMatchObject({
        code: 0,
      });
      const second = await start(directory, ONLY_API);
      expect(await second.process.stop()).toBe(0);
    },
  );

  it("refuse a damaged backup before anything is written, and start nothing on a half restored directory", async () => {
    const directory = ownDirectory();
    const file = join(ownDirectory(), "plane.backup");
    const first = await start(directory, ONLY_API);
    await lifeboat("backup", file, "--data-dir", directory);
    await first.process.stop();
    const bytes = readFileSync(file);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const other = join(ownDirectory(), "new");
    const refused = await lifeboat("restore", file, "--data-dir", other);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toContain("is damaged");
    expect(existsSync(other)).toBe(false);
    const { mkdirSync } = await import("node:fs");
    mkdirSync(join(directory, "restoring"));
    const up = await lifeboat("up", "--data-dir", directory, "--listen", "127.0.0.1:0");
    expect(up).toMatchObject({ code: 1 });
    expect(up.output).toContain("did not finish");
  });
});
