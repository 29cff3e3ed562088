/**
 * `lifeboat up --members 3 --member-mode pull` as processes: members that register by agents of their own. The control plane, an
 * agent, and the process that runs them are killed with -9; identities are kept, replaced and taken away.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusters, type Resource } from "@lifeboat/api";
import { deployment, oneOf, resources } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Operator } from "../failover/operator.ts";
import {
  allReady,
  MEMBERS,
  PULL_FLAGS,
  runLifeboat,
  type SimulatedFleet,
  startSimulatedFleet,
} from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";

const REQUESTS: Resource = {
  group: "certificates.k8s.io",
  version: "v1",
  plural: "certificatesigningrequests",
  kind: "CertificateSigningRequest",
  namespaced: false,
};
const LEASES: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

let fleet: SimulatedFleet;
let operator: Operator;

beforeAll(async () => {
  fleet = await startSimulatedFleet([
    "--cluster-failure-threshold=2s",
    "--cluster-success-threshold=2s",
    ...PULL_FLAGS,
  ]);
  operator = new Operator(fleet);
});
afterAll(() => fleet?.close());

/** The living agent of a member of this fleet; undefined when there is none. */
function agentOf(member: string): number | undefined {
  const file = join(fleet.directory, "members", member, "agent.kubeconfig");
  return readdirSync("/proc")
    .map(Number)
    .find((pid) => pid > 0 && commandOf(pid).includes(file) && isRunning(pid));
}

function commandOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const agents = (): readonly (number | undefined)[] => MEMBERS.map(agentOf);
const membersPid = (): number => {
  const text = readFileSync(join(fleet.directory, "members", "process.json"), "utf8");
  return (JSON.parse(text) as { readonly pid: number }).pid;
};

/** How many certificates were asked for in the name of a member. */
async function requests(member: string): Promise<number> {
  const { items } = await fleet.plane.list(REQUESTS);
  return items.filter(({ metadata }) => metadata.name.startsWith(`agent-${member}-`)).length;
}

async function renewed(member: string): Promise<string> {
  const lease = await fleet.plane.get(LEASES, { namespace: "karmada-cluster", name: member });
  return (lease["spec"] as { readonly renewTime: string }).renewTime;
}

/** A new Deployment gets to this member, and runs there. */
async function runsOn(member: string, name: string): Promise<void> {
  const mover = { resource: resources.deployments, template: deployment(name) };
  await operator.create(mover, { placement: oneOf(member) });
  await eventually(async () => {
    expect(await operator.health(mover, member)).toBe("Healthy");
  });
}

it("are Pull clusters, ready, with a Lease, and no way in but their agent's", async () => {
  await allReady(fleet.plane);
  const { items } = await fleet.plane.list(clusters);
  expect(items.map(({ metadata, spec }) => [metadata.name, spec.syncMode, spec.secretRef])).toEqual(
    MEMBERS.map((name) => [name, "Pull", undefined]),
  );
  for (const member of MEMBERS) {
    expect(await renewed(member)).toMatch(/^20/);
    expect(await requests(member)).toBe(1);
  }
  await runsOn("member1", "first");
});

it("an API that is down is told by the agent: not ready, and heard of all the same", async () => {
  await fleet.fail("member2", "api-down");
  await eventually(async () => {
    expect(await operator.condition("member2", "Ready")).toBe("False");
  });
  const before = await renewed("member2");
  await eventually(async () => {
    expect(await renewed("member2")).not.toBe(before);
  });
  expect(await operator.condition("member2", "Ready")).toBe("False");
  await fleet.heal("member2");
  await eventually(() => allReady(fleet.plane));
});

it("a line that is cut is silence: Unknown; the same agent is back when it is whole", async () => {
  const before = agentOf("member2");
  await fleet.fail("member2", "partition");
  await eventually(async () => {
    expect(await operator.condition("member2", "Ready")).toBe("Unknown");
    expect(await operator.taints("member2")).toContain(
      "cluster.karmada.io/unreachable=:NoSchedule",
    );
  });
  // The member itself is well, and its own people reach it.
  await operator.member("member2").list(resources.deployments);
  await fleet.heal("member2");
  await eventually(async () => {
    await allReady(fleet.plane);
    expect(await operator.taints("member2")).toEqual([]);
  });
  expect(agentOf("member2")).toBe(before);
});

it("the control plane is killed: the agents go on, and take up what is new when it returns", async () => {
  const before = agents();
  await fleet.killPlane();
  expect(agents()).toEqual(before);
  await runsOn("member1", "after-the-plane");
  await eventually(() => allReady(fleet.plane));
  expect(agents()).toEqual(before);
});

it("an agent is killed: another one goes on with the same identity", async () => {
  const before = agentOf("member1");
  process.kill(before ?? -1, "SIGKILL");
  await eventually(async () => {
    expect([undefined, before]).not.toContain(agentOf("member1"));
  });
  await runsOn("member1", "after-the-agent");
  expect(await requests("member1")).toBe(1);
});

it("the process that runs them is killed: its agents end, and new ones go on with the same identities", async () => {
  const before = agents();
  process.kill(membersPid(), "SIGKILL");
  await eventually(async () => {
    for (const [i, member] of MEMBERS.entries())
      expect([undefined, before[i]]).not.toContain(agentOf(member));
    for (const pid of before) expect(isRunning(pid ?? -1)).toBe(false);
  });
  await eventually(() => allReady(fleet.plane));
  await runsOn("member1", "after-all");
  for (const member of MEMBERS) expect(await requests(member)).toBe(1);
});

it("an identity that is lost, or revoked, is replaced by another registration", async () => {
  const registeredAgain = (times: number): Promise<void> =>
    eventually(async () => {
      expect(await requests("member2")).toBe(times);
      expect(agentOf("member2")).toBeDefined();
    });
  writeFileSync(join(fleet.directory, "members", "member2", "agent.kubeconfig"), "{");
  await registeredAgain(2);
  await runsOn("member2", "after-the-loss");
  const user = "system:karmada:agent:member2";
  await runLifeboat("certs", "revoke", user, "--yes", "--data-dir", fleet.directory);
  await registeredAgain(3);
  await runsOn("member2", "after-the-revocation");
  // A token counts as soon as it is made.
  const log = readFileSync(join(fleet.directory, "members", "members.log"), "utf8");
  expect(log).not.toContain("no live token");
});

it("one that is unregistered stays away, also after a restart", async () => {
  await runLifeboat("unregister", "member3", "--yes", "--data-dir", fleet.directory);
  await eventually(async () => {
    expect(agentOf("member3")).toBeUndefined();
  });
  const before = membersPid();
  process.kill(before, "SIGKILL");
  await eventually(async () => {
    expect(membersPid()).not.toBe(before);
    expect(agentOf("member1")).toBeDefined();
  });
  await runsOn("member1", "after-it-left");
  expect(agentOf("member3")).toBeUndefined();
  const { items } = await fleet.plane.list(clusters);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["member1", "member2"]);
});
