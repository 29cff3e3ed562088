/**
 * A Karmada control plane is adopted where it is: its Clusters stay behind their aggregated API, and no member sees a write, neither
 * when managers lead nor when a person has agreed to deletions. It then works on.
 */
import { setTimeout as wait } from "node:timers/promises";
import { clusters, findCondition, resourceBindings, works } from "@lifeboat/api";
import { leases } from "@lifeboat/kit";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { resources } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { freePort, startProcess } from "../support/processes.ts";
import { startEtcd } from "../support/real-api-server.ts";
import { startAll, type Started } from "../support/started.ts";
import { startCountingMember } from "./counting-members.ts";
import { addFormerWebhook, propagateFormerly, startFormerPlane } from "./former-plane.ts";
import { SHOP } from "./moved-workloads.ts";
import { managerKubeconfig, startManager, startRealPlane } from "./real-plane.ts";

const WORKLOADS = Number(process.env["LIFEBOAT_MOVED_WORKLOADS"] ?? 50);
/** Longer than anything waits before it writes to a member that it finds wrong. */
const QUIET_MS = 3000;
const LEASE = { namespace: "karmada-system", name: "karmada-controller-manager" };
const started: Started[] = [];

afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

async function lifeboat(...args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const child = startProcess(lifeboatCommand, args);
  return { code: await child.ended, output: child.output() };
}

it(`adopts ${WORKLOADS} workloads of a Karmada control plane without a write in members`, async () => {
  await startAll(async (all) => {
    started.push(all);
    const members = [await startCountingMember(all, "m1"), await startCountingMember(all, "m2")];
    const etcd = all.keep(await startEtcd());
    const server = await startRealPlane(all, etcd);
    const plane = await connectByKubeconfig({ paths: [server.kubeconfig] });
    all.keep({ stop: () => Promise.resolve(plane.close()) });
    await startFormerPlane(all, server, plane, members);
    await propagateFormerly(plane, members, WORKLOADS);
    await addFormerWebhook(plane);
    const lease = await plane.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: LEASE,
      spec: {
        holderIdentity: "karmada",
        leaseDurationSeconds: 15,
        renewTime: new Date().toISOString().replace("Z", "000Z"),
      },
    });
    const port = await freePort();
    const args = ["--kubeconfig", server.kubeconfig, "--webhook-url", `https://127.0.0.1:${port}`];
    expect(await lifeboat("adopt", ...args, "--yes")).toMatchObject({
      code: 1,
      output: expect.stringContaining("karmada-controller-manager still lead"),
    });
    const spec = { ...lease.spec, renewTime: "2026-01-01T00:00:00.000000Z" };
    await plane.update(leases, { ...lease, spec });

    const dry = await lifeboat("adopt", ...args, "--dry-run");
    expect(dry.output).toContain("What would be written in members: nothing");
    expect(dry.output).toContain(`${WORKLOADS} ResourceBinding`);
    const adopted = await lifeboat("adopt", ...args, "--yes");
    expect(adopted, adopted.output).toMatchObject({ code: 0 });
    expect((await lifeboat("adopt", ...args, "--yes")).output).toContain("nothing to do");
    const crds = await plane.list(resources.crds);
    const names = crds.items.map(({ metadata }) => metadata.name);
    expect(names).toContain("evacuations.lifeboat.dev");
    expect(names).not.toContain("clusters.cluster.karmada.io");

    const manager = await startManager(await managerKubeconfig(server), port, []);
    all.keep({ stop: () => manager.stop("SIGKILL") });
    await manager.printed(/^leading$/m);
    // Our controllers have looked at everything: what they report carries generations, which Karmada's does not.
    await eventually(async () => {
      for (const { name } of members) {
        const { status } = await plane.get(clusters, { namespace: "", name });
        expect(findCondition(status?.conditions, "Ready")).toMatchObject({ status: "True" });
      }
      for (const { metadata, status } of (await plane.list(works)).items)
        for (const type of ["Applied", "StatusObserved"])
          expect(findCondition(status?.conditions, type), metadata.name).toMatchObject({
            status: "True",
            observedGeneration: metadata.generation,
          });
    }, 600_000);
    await wait(QUIET_MS);
    expect(members.map((member) => member.writes())).toEqual([[], []]);
    await lifeboat("brake", "release", "--yes", "--kubeconfig", server.kubeconfig);
    await wait(QUIET_MS);
    expect(members.map((member) => member.writes())).toEqual([[], []]);
    expect((await plane.list(resourceBindings)).items).toHaveLength(WORKLOADS);

    // It lives.
    const key = { namespace: SHOP, name: "web-0" };
    const body = { metadata: { labels: { changed: "yes" } } };
    await plane.patch(resources.deployments, key, { type: "merge", body });
    await plane.delete(resources.deployments, { namespace: SHOP, name: "web-1" });
    await eventually(async () => {
      for (const { client } of members) {
        const copy = await client.get(resources.deployments, key);
        expect(copy.metadata.labels).toMatchObject({ changed: "yes" });
        const { items } = await client.list(resources.deployments, { namespace: SHOP });
        expect(items).toHaveLength(WORKLOADS - 1);
      }
    });
  });
}, 900_000);
