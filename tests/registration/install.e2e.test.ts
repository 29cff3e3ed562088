/** A cluster registers, its agent is installed in it, and it leaves again from its own side: what an operator types. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKubectl, type Kubectl } from "../support/kubectl.ts";
import {
  lifeboatCommand,
  ONLY_API,
  type RunningLifeboat,
  startLifeboat,
} from "../support/lifeboat.ts";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";

const directory = temporaryDirectory("install");
let plane: RunningLifeboat;
let member: RunningLifeboat;
let onPlane: Kubectl;
let inMember: Kubectl;
let agent: RunningProcess | undefined;

beforeAll(async () => {
  [plane, member] = await Promise.all([startLifeboat({}), startLifeboat({ args: ONLY_API })]);
  onPlane = createKubectl(plane);
  inMember = createKubectl(member);
});

afterAll(async () => {
  await agent?.stop("SIGKILL");
  onPlane?.close();
  inMember?.close();
  await plane?.stop();
  await member?.stop();
  removeDirectory(directory);
});

function start(...args: readonly string[]): RunningProcess {
  return startProcess(lifeboatCommand, args, {
    KUBECONFIG: "",
    XDG_DATA_HOME: "/nonexistent",
    LIFEBOAT_DATA_DIR: plane.dataDirectory,
  });
}

/** The agent by the kubeconfig that was installed: what its pods would run. */
async function startInstalledAgent(): Promise<RunningProcess> {
  const secret = ["get", "secret", "lifeboat-agent-kubeconfig", "-n", "karmada-system"];
  const { stdout } = await inMember.run([...secret, "-o", "jsonpath={.data.kubeconfig}"]);
  const file = join(directory, "installed.kubeconfig");
  writeFileSync(file, Buffer.from(stdout, "base64"), { mode: 0o600 });
  return start(
    "agent",
    "--karmada-kubeconfig",
    file,
    "--cluster-kubeconfig",
    member.kubeconfig,
    "--cluster-name",
    "eu-1",
    "--cluster-lease-duration",
    "2s",
    "--cluster-status-update-frequency",
    "500ms",
  );
}

it("register --install, then unregister --from-member: both sides are as before", async () => {
  const created = start("token", "create", "--print-register-command");
  expect(await created.ended).toBe(0);
  const [, endpoint = "", token = "", pin = ""] =
    /^lifeboat register (\S+) --token (\S+) --discovery-token-ca-cert-hash (\S+) /m.exec(
      created.output(),
    ) ?? [];
  const register = start(
    "register",
    endpoint,
    "--token",
    token,
    "--discovery-token-ca-cert-hash",
    pin,
    "--cluster-name",
    "eu-1",
    "--cluster-kubeconfig",
    member.kubeconfig,
    "--install",
    "--agent-kubeconfig",
    join(directory, "eu-1.kubeconfig"),
    "--wait",
    "90s",
  );
  await register.printed(/the agent is installed in namespace karmada-system/);
  agent = await startInstalledAgent();
  expect(await register.ended).toBe(0);
  expect(register.output()).toContain("cluster(eu-1) is registered successfully");
  const supported = '{.status.conditions[?(@.type=="AgentSupported")].status}';
  const waited = ["wait", "cluster/eu-1", `--for=jsonpath=${supported}=True`, "--timeout=60s"];
  expect((await onPlane.run(waited)).code).toBe(0);
  expect((await inMember.run(["get", "deploy", "-n", "karmada-system"])).stdout).toContain(
    "lifeboat-agent",
  );

  const leave = start(
    "unregister",
    "eu-1",
    "--from-member",
    "--cluster-kubeconfig",
    member.kubeconfig,
    "--yes",
  );
  expect({ code: await leave.ended, output: leave.output() }).toMatchObject({ code: 0 });
  expect(leave.output()).toContain("cluster(eu-1) is unregistered successfully");
  expect((await onPlane.run(["get", "cluster", "eu-1"])).stderr).toContain("not found");
  const left = ["get", "deploy,secret,serviceaccount", "-n", "karmada-system", "-o", "name"];
  expect((await inMember.run(left)).stdout).not.toContain("lifeboat-agent");
  expect(await agent.ended).toBe(1);
  expect(agent.output()).toContain("the Cluster eu-1 was deleted");
});
