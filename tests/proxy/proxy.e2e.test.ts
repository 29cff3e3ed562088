/**
 * kubectl and `lifeboat` look into members through the control plane, as processes: directly, and through the tunnel of an agent
 * that survives the control plane's kill -9.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { silentLog } from "@lifeboat/kit";
import { fixedCredential, httpConfigOf, loadKubeconfig } from "@lifeboat/kit/adapters";
import { createTunnel, type TunnelEnd } from "@lifeboat/proxy/agent";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKubectl, type Kubectl, type KubectlResult } from "../support/kubectl.ts";
import { kubernetesBinary } from "../support/kubernetes-binaries.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { startPortForwardMember } from "../support/port-forward-member.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

const directory = temporaryDirectory("proxy");
let plane: RunningLifeboat;

const kubectls = new Map<string, Kubectl>();

function kubectl(name: string): Kubectl {
  const kubeconfig = join(directory, `${name}.kubeconfig`);
  const known = kubectls.get(name);
  const one = known ?? createKubectl({ url: "", kubeconfig, stop: () => Promise.resolve() });
  kubectls.set(name, one);
  return one;
}

function kubectlOf(name: string): (...args: string[]) => Promise<KubectlResult> {
  return (...args) => kubectl(name).run(args);
}

function serverOf(name: string): string {
  const text = readFileSync(join(directory, `${name}.kubeconfig`), "utf8");
  return /server: "?([^"\s]+)/.exec(text)?.[1] ?? "";
}

const onPlane = (...args: string[]): Promise<KubectlResult> => kubectlOf("lifeboat")(...args);
const into = (cluster: string, ...args: string[]): Promise<KubectlResult> => {
  const path = `/apis/cluster.karmada.io/v1alpha1/clusters/${cluster}/proxy`;
  return onPlane(`--server=${serverOf("lifeboat")}${path}`, ...args);
};

async function lifeboat(
  ...args: string[]
): Promise<{ readonly code: number | string; readonly output: string }> {
  const [command = "", ...rest] = args;
  const child = startProcess(lifeboatCommand, [command, "--data-dir", directory, ...rest]);
  return { code: await child.ended, output: child.output() };
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`did not come about: ${what}`);
    await wait(300);
  }
}

async function firstPod(cluster: string): Promise<string> {
  return (await into(cluster, "get", "pods", "-o", "name")).stdout.trim().split("\n")[0] ?? "";
}

/** What is sent to a command and to what a client is attached to comes back whole. */
async function expectEcho(cluster: string, pod: string): Promise<void> {
  const path = `/apis/cluster.karmada.io/v1alpha1/clusters/${cluster}/proxy`;
  const server = `--server=${serverOf("lifeboat")}${path}`;
  const text = "0123456789".repeat(50_000);
  const echo = await kubectl("lifeboat").run([server, "exec", "-i", pod, "--", "cat"], text);
  expect(echo.stdout === text).toBe(true);
  const attached = await kubectl("lifeboat").run([server, "attach", "-i", pod], "hello there");
  expect(attached.stdout).toContain("hello there");
}

beforeAll(async () => {
  plane = await startLifeboat({ dataDirectory: directory, args: ["--members", "2"] });
  await plane.process.printed(/^members ready$/m);
  for (const name of ["member1", "member2"])
    await kubectlOf(name)("create", "deployment", "web", "--image=nginx", "--replicas=2");
  await until("pods run", async () => {
    const { stdout } = await into("member1", "get", "pods");
    return stdout.split("Running").length === 3;
  });
});
afterAll(async () => {
  for (const one of kubectls.values()) one.close();
  await plane.stop();
  removeDirectory(directory);
});

async function createPullCluster(name: string): Promise<void> {
  const cluster = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Pull" },
  };
  await kubectl("lifeboat").run(["create", "-f", "-"], JSON.stringify(cluster));
}

async function configOf(name: string): Promise<TunnelEnd> {
  const ports = { clock: createRealClock(), environment: process.env };
  const paths = [join(directory, `${name}.kubeconfig`)];
  return httpConfigOf(ports, await loadKubeconfig({ paths }), "test");
}

/** The agent's side of a tunnel, until the signal aborts. */
async function openTunnel(cluster: string, signal: AbortSignal, member: TunnelEnd): Promise<void> {
  const ports = { clock: createRealClock(), random: createRandom(1), log: silentLog };
  await createTunnel(ports, { cluster, plane: await configOf("lifeboat"), member }).run(signal);
}

/** What comes back for a text that is sent to a port of this machine. */
async function echoedBy(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  let back = "";
  for await (const chunk of socket) {
    back += String(chunk);
    if (back.length >= text.length) break;
  }
  return back;
}

describe("kubectl through the proxy", () => {
  it("reads, writes, watches and reads logs", async () => {
    const pods = await into("member1", "get", "pods", "-o", "name");
    const [pod = ""] = pods.stdout.trim().split("\n");
    expect((await into("member1", "logs", pod)).stdout).toContain("no process runs in it");
    expect((await into("member1", "logs", "--tail=1", pod)).stdout).toBe("ready\n");
    expect((await into("member1", "scale", "deployment/web", "--replicas=3")).code).toBe(0);
    const waited = await into(
      "member1",
      "wait",
      "deployment/web",
      "--for=jsonpath={.status.readyReplicas}=3",
      "--timeout=60s",
    );
    expect(waited.code).toBe(0);
    expect((await into("member2", "get", "pods", "-o", "name")).stdout.split("\n").length).toBe(3);
  });

  it("runs commands and attaches: bytes both ways, exit codes, rights", async () => {
    const pod = await firstPod("member1");
    expect((await into("member1", "exec", pod, "--", "hostname")).stdout).toBe(
      `${pod.replace("pod/", "")}\n`,
    );
    const failed = await into("member1", "exec", pod, "--", "sh", "-c", "exit 7");
    expect(failed.stderr).toContain("exit code 7");
    await expectEcho("member1", pod);
    const clusterRole = ["--verb=get", "--resource=pods,pods/exec"];
    await kubectlOf("member1")("create", "clusterrole", "only-get", ...clusterRole);
    const bound = ["rolebinding", "eve", "--clusterrole=only-get", "--user=eve"];
    await kubectlOf("member1")("create", ...bound, "-n", "default");
    await onPlane(
      "create",
      "clusterrolebinding",
      "eve",
      "--clusterrole=cluster-admin",
      "--user=eve",
    );
    const refused = await into("member1", "--as=eve", "exec", pod, "--", "hostname");
    expect(refused.stderr).toMatch(/User "eve" cannot create resource "pods\/exec"/);
  });

  it("asks the member in the name of the caller: the member refuses what it does not give", async () => {
    const rules = ["--verb=get,create", "--resource=clusters.cluster.karmada.io/proxy"];
    await onPlane("create", "clusterrole", "into-member1", ...rules, "--resource-name=member1");
    const binding = ["clusterrolebinding", "into-member1", "--clusterrole=into-member1"];
    await onPlane("create", ...binding, "--user=ann");
    const refused = await into("member1", "--as=ann", "get", "pods");
    expect(refused.stderr).toMatch(/pods is forbidden: User "ann" cannot list/);
    const bob = await into("member1", "--as=bob", "get", "pods");
    expect(bob.stderr).toMatch(/User "bob" cannot get resource "clusters\/proxy"/);
    const view = ["rolebinding", "ann", "--clusterrole=view", "--user=ann", "-n", "default"];
    await kubectlOf("member1")("create", ...view);
    expect((await into("member1", "--as=ann", "get", "pods")).code).toBe(0);
    expect((await into("member1", "--as=ann", "get", "secrets")).stderr).toMatch(/forbidden/);
    expect((await into("member2", "--as=ann", "get", "pods")).stderr).toMatch(/clusters\/proxy/);
  });
});

describe("lifeboat", () => {
  it("shows objects of several members, and tells which did not answer", async () => {
    const all = await lifeboat("get", "deploy", "--all-clusters", "-A");
    expect(all.code).toBe(0);
    expect(all.output).toMatch(/^CLUSTER +NAMESPACE +NAME/);
    expect(all.output).toMatch(/member1 +default +web/);
    expect(all.output).toMatch(/member2 +default +web/);
    const named = await lifeboat(
      "get",
      "deployments.apps",
      "web",
      "-C",
      "member1,nowhere",
      "-o",
      "name",
    );
    expect(named.code).toBe(1);
    expect(named.output).toContain("member1: deployment/web");
    expect(named.output).toContain('nowhere: clusters.cluster.karmada.io "nowhere" not found');
  });

  it("runs a command in a pod of a member, and ends with its exit code", async () => {
    const pod = (await firstPod("member1")).replace("pod/", "");
    const done = await lifeboat("exec", pod, "-C", "member1", "--", "echo", "well", "-n");
    expect(done).toEqual({ code: 0, output: "well -n\n" });
    const failed = await lifeboat("exec", pod, "-C", "member1", "--", "sh", "-c", "exit 9");
    expect(failed.code).toBe(9);
    const gone = await lifeboat("exec", "nobody", "-C", "member1", "--", "true");
    expect(gone).toMatchObject({ code: 1, output: expect.stringContaining("not found") });
  });

  it("follows a log until the pod is gone", async () => {
    await into("member1", "run", "short", "--image=x");
    await until("the pod runs", async () =>
      (await into("member1", "get", "pod", "short")).stdout.includes("Running"),
    );
    const args = ["logs", "short", "-f", "-C", "member1", "--data-dir", directory];
    const child = startProcess(lifeboatCommand, args);
    await child.printed(/ready/);
    await into("member1", "delete", "pod", "short", "--now");
    expect(await child.ended).toBe(0);
  });
});

describe("a tunnel", () => {
  it("carries kubectl port-forward over SPDY, in the name of the caller", async () => {
    const member = await startPortForwardMember();
    await createPullCluster("forwarded");
    const stop = new AbortController();
    const running = openTunnel("forwarded", stop.signal, {
      server: member.server,
      credentials: fixedCredential({ headers: { authorization: "Bearer t" } }),
    });
    await until("the tunnel is open", async () =>
      (await into("forwarded", "get", "pod", "web")).stdout.includes("web"),
    );
    const path = "/apis/cluster.karmada.io/v1alpha1/clusters/forwarded/proxy";
    const forward = startProcess(kubernetesBinary("kubectl"), [
      `--kubeconfig=${join(directory, "lifeboat.kubeconfig")}`,
      `--server=${serverOf("lifeboat")}${path}`,
      "port-forward",
      "pod/web",
      ":80",
    ]);
    const [, port = ""] = await forward.printed(/Forwarding from 127\.0\.0\.1:(\d+)/);
    const text = "0123456789".repeat(20_000);
    expect((await echoedBy(Number(port), text)) === text).toBe(true);
    await forward.stop("SIGTERM");
    expect(member.upgrades.at(-1)).toBe("SPDY/3.1");
    expect([...member.callers]).toEqual(["admin"]);
    stop.abort();
    await running;
    member.close();
    await onPlane("delete", "cluster", "forwarded", "--wait=false");
  });

  it("leads to a Pull cluster, and is opened again after kill -9 of the control plane", async () => {
    await createPullCluster("pulled");
    const closed = await lifeboat("get", "pods", "-C", "pulled");
    expect(closed.output).toMatch(/its agent has no tunnel open/);
    expect((await lifeboat("status")).output).toMatch(/^Agents +0 of 1 .* from pulled/m);
    const stop = new AbortController();
    const running = openTunnel("pulled", stop.signal, await configOf("member2"));
    const answers = async (): Promise<boolean> =>
      (await into("pulled", "get", "pods")).stdout.split("Running").length === 3;
    await until("the tunnel is open", answers);
    await expectEcho("pulled", await firstPod("pulled"));
    expect((await lifeboat("status")).output).toMatch(/^Agents +1 of 1 connected$/m);
    const port = new URL(serverOf("lifeboat")).port;
    await plane.process.stop("SIGKILL");
    plane = await startLifeboat({
      dataDirectory: directory,
      port: Number(port),
      args: ["--members", "2"],
    });
    await until("the tunnel is open again", answers);
    stop.abort();
    await running;
    await until("the tunnel is gone", async () =>
      (await into("pulled", "get", "pods")).stderr.includes("ServiceUnavailable"),
    );
  });
});
