/** The audit log of a running control plane: what a file of lines holds, and what a disk without room stops. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AnyObject, type New } from "@lifeboat/api";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { newObject, resources } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import {
  lifeboatCommand,
  ONLY_API,
  type RunningLifeboat,
  startLifeboat,
} from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

const directories: string[] = [];
const running: RunningLifeboat[] = [];

function ownDirectory(): string {
  const directory = temporaryDirectory("audit-test");
  directories.push(directory);
  return directory;
}

afterEach(async () => {
  for (const one of running.splice(0)) await one.process.stop("SIGKILL");
  for (const directory of directories.splice(0)) removeDirectory(directory);
});

async function start(...args: string[]): Promise<RunningLifeboat> {
  const lifeboat = await startLifeboat({
    dataDirectory: ownDirectory(),
    args: [...ONLY_API, ...args],
  });
  running.push(lifeboat);
  return lifeboat;
}

/** Creates so many ConfigMaps; answers what the last one was refused with. */
async function create(lifeboat: RunningLifeboat, count: number): Promise<unknown> {
  const plane = await connectByKubeconfig({ paths: [lifeboat.kubeconfig] });
  try {
    for (let i = 0; i < count; i++)
      await plane.create(
        resources.configMaps,
        newObject(resources.configMaps, { name: `c${i}` }, {}) as New<AnyObject>,
      );
    return undefined;
  } catch (error) {
    return error;
  } finally {
    plane.close();
  }
}

it("records requests by the policy", async () => {
  const folder = ownDirectory();
  const policy = join(folder, "policy.yaml");
  writeFileSync(
    policy,
    `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  nonResourceURLs: ["*"]
- level: Request
  verbs: [create]
  resources: [{group: "", resources: [configmaps]}]
`,
  );
  const log = join(folder, "log", "audit.log");
  const args = ["--audit-log-path", log, "--audit-policy-file", policy, "--audit-log-maxsize", "1"];
  const lifeboat = await start(...args, "--audit-log-maxbackup", "1");
  expect(await create(lifeboat, 5)).toBeUndefined();
  const lines = readFileSync(log, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toHaveLength(10);
  expect(lines[1]).toMatchObject({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Request",
    stage: "ResponseComplete",
    verb: "create",
    user: { username: "admin" },
    sourceIPs: ["127.0.0.1"],
    objectRef: { resource: "configmaps", namespace: "default" },
    requestObject: { metadata: { name: "c0" } },
    responseStatus: { code: 201 },
  });
  expect(readdirSync(join(folder, "log"))).toEqual(["audit.log"]);
  expect(statSync(log).mode & 0o777).toBe(0o600);
});

it("goes on where the disk of the log is full, unless it must not", async () => {
  const lenient = await start("--audit-log-path", "/dev/full");
  expect(await create(lenient, 2)).toBeUndefined();
  expect(lenient.process.output()).toContain("lines of the audit log /dev/full are lost: ENOSPC");
  const strict = await start(
    "--audit-log-path",
    "/dev/full",
    "--audit-log-mode",
    "blocking-strict",
  );
  expect(String(await create(strict, 1))).toContain("cannot be recorded in the audit log");
});

it("refuses a policy and a mode that it does not understand", async () => {
  const policy = join(ownDirectory(), "policy.yaml");
  writeFileSync(policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Loud}]\n");
  for (const args of [
    ["--audit-policy-file", policy],
    ["--audit-log-mode", "sometimes"],
  ]) {
    const child = startProcess(lifeboatCommand, ["up", "--data-dir", ownDirectory(), ...args]);
    expect(await child.ended).toBe(2);
    expect(child.output()).toContain(args[0]);
  }
});
