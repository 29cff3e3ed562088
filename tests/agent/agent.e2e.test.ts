/** `lifeboat agent` as a process between two others: a control plane and a member that it alone connects to. */
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import {
  clusters,
  findCondition,
  orNothing,
  propagationPolicies,
  type Resource,
} from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  lifeboatCommand,
  ONLY_API,
  type RunningLifeboat,
  startLifeboat,
} from "../support/lifeboat.ts";
import { type RunningProcess, startProcess } from "../support/processes.ts";

const CONFIG_MAPS: Resource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
const KEY = { namespace: "default", name: "settings" };

let plane: RunningLifeboat;
let member: RunningLifeboat;
let agent: RunningProcess;
let inPlane: HttpClient;
let inMember: HttpClient;
let health = "";

beforeAll(async () => {
  const monitor = ["--cluster-monitor-period", "500ms", "--cluster-monitor-grace-period", "4s"];
  [plane, member] = await Promise.all([
    startLifeboat({ args: monitor }),
    startLifeboat({ args: ONLY_API }),
  ]);
  inPlane = await connectByKubeconfig({ paths: [plane.kubeconfig] });
  inMember = await connectByKubeconfig({ paths: [member.kubeconfig] });
  agent = startAgent();
  await agent.printed(/^ready$/m);
});

afterAll(async () => {
  await agent?.stop("SIGKILL");
  inPlane?.close();
  inMember?.close();
  await plane?.stop();
  await member?.stop();
});

function startAgent(): RunningProcess {
  const port = 20_000 + (process.pid % 20_000);
  health = `http://127.0.0.1:${port}`;
  return startProcess(lifeboatCommand, [
    "agent",
    "--karmada-kubeconfig",
    plane.kubeconfig,
    "--cluster-kubeconfig",
    member.kubeconfig,
    "--cluster-name",
    "pulled",
    "--cluster-lease-duration",
    "2s",
    "--cluster-status-update-frequency",
    "500ms",
    "--cluster-success-threshold",
    "1s",
    "--health-listen",
    `127.0.0.1:${port}`,
  ]);
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`did not come about: ${what}\n${agent.output()}`);
    await wait(200);
  }
}

async function ready(): Promise<string> {
  const cluster = await orNothing(inPlane.get(clusters, { namespace: "", name: "pulled" }));
  return findCondition(cluster?.status?.conditions, "Ready")?.status ?? "none";
}

async function isCopied(): Promise<boolean> {
  return (await orNothing(inMember.get(CONFIG_MAPS, KEY))) !== undefined;
}

it("registers the member, brings a resource to it, and takes it away again", async () => {
  await until("Ready", async () => (await ready()) === "True");
  await inPlane.create(CONFIG_MAPS, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: KEY,
    data: { a: "1" },
  });
  await inPlane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: KEY,
    spec: {
      resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap", name: "settings" }],
      placement: { clusterAffinity: { clusterNames: ["pulled"] } },
    },
  });
  await until("the copy is there", isCopied);
  await inPlane.delete(CONFIG_MAPS, KEY);
  await until("the copy is gone", async () => !(await isCopied()));
});

it("tells its health and its metrics", async () => {
  expect(await (await fetch(`${health}/healthz`)).text()).toBe("ok\n");
  expect(await (await fetch(`${health}/readyz`)).text()).toBe("ok\n");
  expect(await (await fetch(`${health}/metrics`)).text()).toContain("informer");
  expect((await fetch(`${health}/secrets`)).status).toBe(404);
});

it("is Unknown while its agent stands still, and Ready again after that", async () => {
  process.kill(agent.pid, "SIGSTOP");
  await until("Unknown", async () => (await ready()) === "Unknown");
  process.kill(agent.pid, "SIGCONT");
  await until("Ready again", async () => (await ready()) === "True");
});

it("takes little memory, and ends in order", async () => {
  const [, kilobytes = ""] =
    /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${agent.pid}/status`, "utf8")) ?? [];
  process.stdout.write(
    `an agent with nothing to do takes ${Math.round(Number(kilobytes) / 1024)} MB\n`,
  );
  expect(Number(kilobytes)).toBeLessThan(160 * 1024);
  expect(await agent.stop()).toBe(0);
});

it("stops with a sentence, and does not register again, when its Cluster is deleted", async () => {
  agent = startAgent();
  await agent.printed(/^ready$/m);
  await inPlane.delete(clusters, { namespace: "", name: "pulled" });
  expect(await agent.ended).toBe(1);
  expect(agent.output()).toContain("the Cluster pulled was deleted");
  agent = startAgent();
  expect(await agent.ended).toBe(1);
  expect(await ready()).toBe("none");
});
