/** `lifeboat up --members 3` as processes, seen from outside with kubectl: members that work, fail, heal and survive. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKubectl, type Kubectl, type KubectlResult } from "../support/kubectl.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

const MEMBERS = ["member1", "member2", "member3"];

const directory = temporaryDirectory("members");
const kubectls: Kubectl[] = [];
let plane: RunningLifeboat;

/** kubectl against a member, or the plane; a client that gets no answer gives up after two seconds. */
function kubectl(name: string): (...args: string[]) => Promise<KubectlResult> {
  const file = join(directory, `${name}.kubeconfig`);
  const one = createKubectl({ url: "", kubeconfig: file, stop: () => Promise.resolve() });
  kubectls.push(one);
  return (...args) => one.run(["--request-timeout=2s", ...args]);
}

async function start(): Promise<void> {
  plane = await startLifeboat({ dataDirectory: directory, args: ["--members", "3"] });
  await plane.process.printed(/^members ready$/m);
}

/** The process that runs the members. */
function membersPid(): number {
  const text = readFileSync(join(directory, "members", "process.json"), "utf8");
  return (JSON.parse(text) as { readonly pid: number }).pid;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 180_000;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`did not come about: ${what}`);
    await wait(200);
  }
}

async function lifeboat(
  ...args: string[]
): Promise<{ readonly code: number | string; readonly output: string }> {
  const child = startProcess(lifeboatCommand, [...args, "--data-dir", directory]);
  return { code: await child.ended, output: child.output() };
}

beforeAll(start);

afterAll(async () => {
  await plane.process.stop();
  for (const one of kubectls) one.close();
  removeDirectory(directory);
});

describe("members that are well", () => {
  it.each(MEMBERS)("%s serves its own API with its own kubeconfig", async (name) => {
    const nodes = await kubectl(name)("get", "nodes", "--no-headers");
    expect(nodes).toMatchObject({ code: 0 });
    expect(nodes.stdout).toMatch(/^node-1 +Ready/);
  });

  it("are joined to the plane like any push member", async () => {
    const jsonpath =
      "jsonpath={range .items[*]}{.metadata.name} {.spec.syncMode} {.spec.id}{'\\n'}{end}";
    const { stdout } = await kubectl("lifeboat")("get", "clusters", "-o", jsonpath);
    const rows = stdout.trim().split("\n");
    expect(rows.map((row) => row.split(" ").slice(0, 2))).toEqual(
      MEMBERS.map((name) => [name, "Push"]),
    );
    expect(new Set(rows.map((row) => row.split(" ")[2])).size).toBe(3);
  });

  it("run a Deployment until kubectl calls it rolled out, on a node", async () => {
    const member = kubectl("member1");
    await member("create", "deployment", "web", "--image=nginx", "--replicas=3");
    const status = await member("rollout", "status", "deployment/web", "--timeout=180s");
    expect(status).toMatchObject({ code: 0 });
    const pods = await member("get", "pods", "-o", "wide", "--no-headers");
    expect(pods.stdout.match(/1\/1 +Running.* node-1 /g)).toHaveLength(3);
  });

  it("let a pod be evicted, and replace it", async () => {
    const member = kubectl("member1");
    const drained = await member("drain", "node-1", "--timeout=180s");
    expect(drained).toMatchObject({ code: 0 });
    await until("new pods wait for a node", async () =>
      (await member("get", "pods", "--no-headers")).stdout.includes("Pending"),
    );
    await member("uncordon", "node-1");
    const status = await member("rollout", "status", "deployment/web", "--timeout=180s");
    expect(status).toMatchObject({ code: 0 });
  });
});

describe("faults", () => {
  const fail = (mode: string, ...more: string[]): ReturnType<typeof lifeboat> =>
    lifeboat("member", "fail", "member2", "--mode", mode, ...more);
  const heal = (): ReturnType<typeof lifeboat> => lifeboat("member", "heal", "member2");
  const member = kubectl("member2");

  it("api-down: connections are refused; healed on the same port", async () => {
    expect(await fail("api-down")).toEqual({ code: 0, output: "member2: api-down\n" });
    const down = await member("get", "nodes");
    expect(down.code).toBe(1);
    expect(down.stderr).toContain("was refused");
    expect(await kubectl("member3")("get", "nodes")).toMatchObject({ code: 0 });
    expect(await heal()).toEqual({ code: 0, output: "member2: no faults\n" });
    expect(await member("get", "nodes")).toMatchObject({ code: 0 });
  });

  it("partition: no answer comes", async () => {
    expect(await fail("partition")).toMatchObject({ code: 0 });
    const cut = await member("get", "--raw", "/version");
    expect(cut.code).toBe(1);
    expect(cut.stderr).toMatch(/deadline exceeded|timeout/i);
    await heal();
    expect(await member("get", "--raw", "/version")).toMatchObject({ code: 0 });
  });

  it("slow: answers take as long as asked", async () => {
    expect(await fail("slow", "--delay", "1200ms")).toMatchObject({ code: 0 });
    const started = Date.now();
    expect(await member("get", "--raw", "/version")).toMatchObject({ code: 0 });
    expect(Date.now() - started).toBeGreaterThanOrEqual(1200);
    await heal();
  });

  it("errors: requests are answered with 500", async () => {
    expect(await fail("errors", "--percent", "100")).toMatchObject({ code: 0 });
    const failed = await member("get", "--raw", "/version");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("simulated fault");
    await heal();
  });

  it("pods-not-ready: pods lose their readiness and get it back", async () => {
    await member("create", "deployment", "web", "--image=nginx", "--replicas=2");
    await member("rollout", "status", "deployment/web", "--timeout=180s");
    const ready = async (): Promise<string> =>
      (await member("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}")).stdout;
    expect(await fail("pods-not-ready")).toMatchObject({ code: 0 });
    await until("no pod is ready", async () => (await ready()) === "");
    await heal();
    await until("all pods are ready", async () => (await ready()) === "2");
  });

  it("can be several at once, and are shown by the plane", async () => {
    await fail("slow", "--delay", "10ms");
    expect(await fail("pods-not-ready")).toEqual({
      code: 0,
      output: "member2: slow, pods-not-ready\n",
    });
    const faults = "jsonpath={.spec.faults[*].mode}";
    const shown = await kubectl("lifeboat")("get", "simulatedmembers", "member2", "-o", faults);
    expect(shown.stdout).toBe("slow pods-not-ready");
    await heal();
  });

  it.each([
    [["fail", "member9", "--mode", "slow"], 1, 'no simulated member "member9"; there are member1'],
    [["fail", "member2", "--mode", "fire"], 2, '"fire" is not valid: one of api-down, partition'],
    [["fail", "member2"], 2, "--mode is needed: one of api-down, partition"],
    [["fail", "member2", "--mode", "slow", "--delay", "soon"], 2, "a duration such as 2s"],
    [["fail", "member2", "--mode", "errors", "--delay", "1s"], 2, "goes with --mode slow only"],
    [["fail", "member2", "--mode", "errors", "--percent", "101"], 2, "from 0 to 100"],
    [["heal", "nobody"], 1, 'no simulated member "nobody"'],
  ] as const)("%j is refused with a sentence", async (args, code, message) => {
    const answer = await lifeboat("member", ...args);
    expect(answer).toEqual({ code, output: expect.stringContaining(message) as string });
  });
});

describe("deaths", () => {
  beforeAll(async () => {
    for (const name of MEMBERS) await kubectl(name)("create", "configmap", "kept");
  });

  it("members live on when the plane is killed, and its next start takes them over", async () => {
    const pid = membersPid();
    await plane.process.stop("SIGKILL");
    const member = kubectl("member3");
    expect(await member("create", "configmap", "meanwhile")).toMatchObject({ code: 0 });
    await start();
    expect(membersPid()).toBe(pid);
    expect(await member("get", "configmap", "meanwhile")).toMatchObject({ code: 0 });
    expect(await lifeboat("member", "fail", "member3", "--mode", "api-down")).toMatchObject({
      code: 0,
      output: "member3: api-down\n",
    });
    expect(await member("get", "nodes")).toMatchObject({ code: 1 });
    expect(await lifeboat("member", "heal", "member3")).toMatchObject({ code: 0 });
  });

  it("members that are killed are started again with their data, ports and faults", async () => {
    await lifeboat("member", "fail", "member3", "--mode", "api-down");
    const pid = membersPid();
    process.kill(pid, "SIGKILL");
    const member1 = kubectl("member1");
    await until("another process serves", async () => {
      if (membersPid() === pid) return false;
      return (await member1("get", "configmap", "kept")).code === 0;
    });
    const member3 = kubectl("member3");
    expect((await member3("get", "nodes")).stderr).toContain("was refused");
    expect(await lifeboat("member", "heal", "member3")).toMatchObject({ code: 0 });
    expect(await member3("get", "configmap", "kept")).toMatchObject({ code: 0 });
  });

  it("a second process on the same members is refused", async () => {
    const second = await lifeboat("members", "--members", "3");
    expect(second).toMatchObject({
      code: 1,
      output: expect.stringContaining(`process ${membersPid()} already runs the members`) as string,
    });
  });

  it("another number of members replaces the process; fewer leaves the rest alone", async () => {
    const pid = membersPid();
    expect(await plane.process.stop("SIGINT")).toBe(0);
    await until("the members have ended", () => !isRunning(pid));
    plane = await startLifeboat({ dataDirectory: directory, args: ["--members", "1"] });
    await plane.process.printed(/^members ready$/m);
    expect(await kubectl("member1")("get", "configmap", "kept")).toMatchObject({ code: 0 });
    expect((await kubectl("member2")("get", "nodes")).stderr).toContain("was refused");
    await plane.process.stop("SIGKILL");
    const left = membersPid();
    await start();
    expect(membersPid()).not.toBe(left);
    await until("the members of the earlier run have ended", () => !isRunning(left));
    expect(await kubectl("member2")("get", "configmap", "kept")).toMatchObject({ code: 0 });
  });

  it("`up` without members ends those of an earlier run", async () => {
    const pid = membersPid();
    await plane.process.stop("SIGKILL");
    plane = await startLifeboat({ dataDirectory: directory });
    await until("the members have ended", () => !isRunning(pid));
  });

  it("members whose plane is gone end by themselves", async () => {
    await plane.process.stop("SIGKILL");
    const args = ["members", "--data-dir", directory, "--members", "1"];
    const members = startProcess(lifeboatCommand, [...args, "--orphan-timeout", "2s"]);
    await members.printed(/1 members serve/);
    expect(await members.ended).toBe(0);
    await start();
  });
});
