/**
 * A control plane moves from `lifeboat up` to a kube-apiserver with etcd, and no member sees a write: not while it is moved, not when
 * managers lead, not when a person has agreed to deletions. It then works on.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  clusters,
  findCondition,
  propagationPolicies,
  resourceBindings,
  works,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { newNamespace, resources } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand, startLifeboat } from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { startEtcd } from "../support/real-api-server.ts";
import { startAll, type Started } from "../support/started.ts";
import { type CountingMember, startCountingMember } from "./counting-members.ts";
import {
  createSurroundings,
  inBatches,
  runCopies,
  SHOP,
  untilApplied,
  workload,
} from "./moved-workloads.ts";
import { install, managerKubeconfig, startManager, startRealPlane } from "./real-plane.ts";

const WORKLOADS = Number(process.env["LIFEBOAT_MOVED_WORKLOADS"] ?? 50);
const GENERATION = "resourcetemplate.karmada.io/generation";
const STATUS = ["--cluster-status-update-frequency", "2s"];
/** Longer than anything waits before it writes to a member that it finds wrong. */
const QUIET_MS = 3000;
const started: Started[] = [];

afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

async function lifeboat(...args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const child = startProcess(lifeboatCommand, args);
  return { code: await child.ended, output: child.output() };
}

async function connect(all: Started, kubeconfig: string): Promise<HttpClient> {
  const client = await connectByKubeconfig({ paths: [kubeconfig] });
  all.keep({ stop: () => Promise.resolve(client.close()) });
  return client;
}

async function join2(plane: Client, members: readonly CountingMember[]): Promise<void> {
  await plane.create(resources.namespaces, newNamespace("karmada-cluster"));
  for (const { objects } of members) {
    await plane.create(resources.secrets, objects.secret);
    await plane.create(clusters, objects.cluster);
  }
  await untilReady(plane, members);
}

function untilReady(plane: Client, members: readonly CountingMember[]): Promise<void> {
  return eventually(async () => {
    for (const { name } of members) {
      const { status } = await plane.get(clusters, { namespace: "", name });
      expect(findCondition(status?.conditions, "Ready")).toMatchObject({ status: "True" });
    }
  });
}

const writesOf = (members: readonly CountingMember[]): readonly (readonly string[])[] =>
  members.map((member) => member.writes());

it(`moves ${WORKLOADS} workloads from \`lifeboat up\` to a kube-apiserver without a write in members`, async () => {
  await startAll(async (all) => {
    started.push(all);
    const members = [await startCountingMember(all, "m1"), await startCountingMember(all, "m2")];
    const directory = temporaryDirectory("moved");
    all.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
    const up = await startLifeboat({ dataDirectory: directory, args: STATUS });
    all.keep({ stop: () => up.process.stop("SIGKILL") });
    const before = await connect(all, up.kubeconfig);
    await join2(before, members);
    await createSurroundings(before);
    await inBatches(WORKLOADS, (i) => before.create(resources.deployments, workload(i)));
    // Two Services, Jobs and the ConfigMap are bound beside them.
    await untilApplied(before, WORKLOADS + 3);
    // Generations beyond the first, and another share.
    await inBatches(5, (i) =>
      before.patch(
        resources.deployments,
        { namespace: SHOP, name: `web-${i}` },
        { type: "merge", body: { spec: { replicas: 4 + i } } },
      ),
    );
    await untilApplied(before, WORKLOADS + 3);
    for (const member of members) await runCopies(member);
    await eventually(async () => {
      for (const { status, metadata } of (await before.list(resourceBindings)).items)
        for (const { health } of status?.aggregatedStatus ?? [])
          expect(health, metadata.name).toBe("Healthy");
    });

    const etcd = all.keep(await startEtcd());
    const server = await startRealPlane(all, etcd);
    const to = ["--from", directory, "--to", server.kubeconfig];
    expect(await lifeboat("migrate", ...to, "--yes")).toMatchObject({
      code: 1,
      output: expect.stringContaining("in use by process"),
    });
    await up.process.stop();
    const port = await freePort();
    await install(server, port);
    const counted = writesOf(members);

    const dry = await lifeboat("migrate", ...to, "--dry-run");
    expect(dry).toMatchObject({
      code: 0,
      output: expect.stringContaining(`${WORKLOADS} Deployment`),
    });
    const after = await connect(all, server.kubeconfig);
    expect((await after.list(works)).items).toEqual([]);
    // Killed on the way, and again: what is there is found, and the rest follows.
    for (const killAfterMs of [900, 1500]) {
      const child = startProcess(lifeboatCommand, ["migrate", ...to, "--yes"]);
      await wait(killAfterMs);
      await child.stop("SIGKILL");
    }
    const began = performance.now();
    const moved = await eventually(async () => {
      const outcome = await lifeboat("migrate", ...to, "--yes");
      expect(outcome).toMatchObject({ code: 0 });
      return outcome;
    });
    expect(moved.output).toMatch(/lifeboat brake release/);
    process.stdout.write(`moved in ${Math.round(performance.now() - began)} ms\n`);
    expect((await lifeboat("migrate", ...to, "--yes")).output).toContain("nothing to do");
    const refused = await lifeboat("up", "--data-dir", directory, "--listen", "127.0.0.1:0");
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("was moved") });

    const kubeconfig = await managerKubeconfig(server);
    const manager = await startManager(kubeconfig, port, []);
    all.keep({ stop: () => manager.stop("SIGKILL") });
    await manager.printed(/^leading$/m);
    await untilReady(after, members);
    await untilApplied(after, WORKLOADS + 3);
    await wait(QUIET_MS);
    expect(writesOf(members)).toEqual(counted);
    expect(
      await lifeboat("brake", "release", "--yes", "--kubeconfig", server.kubeconfig),
    ).toMatchObject({
      code: 0,
    });
    await wait(QUIET_MS);
    expect(writesOf(members)).toEqual(counted);
    await expectSame(after, directory);

    // It lives: a change reaches members once, in the next generation, and a deletion takes the copies away.
    const key = { namespace: SHOP, name: "web-0" };
    const body = { metadata: { labels: { changed: "yes" } }, spec: { paused: true } };
    const old = await members[0]?.client.get(resources.deployments, key);
    const generation = Number(old?.metadata.annotations?.[GENERATION]);
    expect(generation).toBeGreaterThan(1);
    await after.patch(resources.deployments, key, { type: "merge", body });
    await after.delete(resources.deployments, { namespace: SHOP, name: "web-1" });
    await eventually(async () => {
      for (const { client } of members) {
        const copy = await client.get(resources.deployments, key);
        expect(copy.metadata.labels).toMatchObject({ changed: "yes" });
        expect(copy.metadata.annotations?.[GENERATION]).toBe(String(generation + 1));
        const { items } = await client.list(resources.deployments, { namespace: SHOP });
        expect(items).toHaveLength(WORKLOADS - 1);
      }
    });
    return undefined;
  });
}, 900_000);

/** Every binding belongs to the template of its new uid, and the directory remembers where its control plane went. */
async function expectSame(after: Client, directory: string): Promise<void> {
  expect(JSON.parse(readFileSync(join(directory, "moved"), "utf8"))).toHaveProperty("to");
  expect((await after.list(propagationPolicies)).items).toHaveLength(1);
  for (const { spec, metadata } of (await after.list(resourceBindings)).items)
    expect(spec.resource.uid, metadata.name).toBe(metadata.ownerReferences?.[0]?.uid);
}
