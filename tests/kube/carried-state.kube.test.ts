/**
 * What a member does with the label that a moved Flink job carries, on a real kube-apiserver with its default flags and the files of
 * examples/stateful/member as they are.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { eventually } from "../support/eventually.ts";
import { kubernetesBinary } from "../support/kubernetes-binaries.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { type RealApiServer, startRealApiServer } from "../support/real-api-server.ts";

const examples = fileURLToPath(new URL("../../examples/stateful/", import.meta.url));
const run = promisify(execFile);
const JOBS = "/apis/flink.apache.org/v1beta1/namespaces/default/flinkdeployments";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const shared = temporaryDirectory("checkpoints");
let member: RealApiServer;

/** Runs a program as the operator of the member does. */
async function inMember(program: string, ...args: readonly string[]): Promise<string> {
  const PATH = `${dirname(kubernetesBinary("kubectl"))}:${process.env["PATH"]}`;
  const env = { ...process.env, PATH, KUBECONFIG: member.kubeconfig };
  return (await run(program, args, { env, cwd: examples })).stdout;
}

beforeAll(async () => {
  member = await startRealApiServer();
  await inMember("kubectl", "apply", "-f", "member/flink-goes-on.yaml");
  // What the control plane propagates: the definition of the kind.
  const [definition] = parseAllDocuments(readFileSync(`${examples}flink.yaml`, "utf8"));
  const { code } = await member.call("POST", DEFINITIONS, definition?.toJS());
  expect(code).toBe(201);
});
afterAll(async () => {
  await member?.stop();
  removeDirectory(shared);
});

const START = { jarURI: "local:///opt/orders.jar", parallelism: 2 };

/** As it arrives in the member: with the label when it has moved. */
function job(name: string, id?: string, resourceVersion?: string): object {
  return {
    apiVersion: "flink.apache.org/v1beta1",
    kind: "FlinkDeployment",
    metadata: {
      name,
      namespace: "default",
      ...(id !== undefined && { labels: { "example.com/flink-job-id": id } }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    spec: { image: "flink:1.20", job: START },
  };
}

function checkpoint(id: string, name: string, isComplete: boolean): void {
  const directory = join(shared, "default", id, "checkpoints", name);
  mkdirSync(directory, { recursive: true });
  if (isComplete) writeFileSync(join(directory, "_metadata"), "");
}

it("a job without the label starts as it was written", async () => {
  await eventually(async () => {
    const { code, body } = await member.call("POST", JOBS, job("first"));
    expect(code, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({ spec: { job: START } });
    expect(JSON.stringify(body)).not.toContain("initialSavepointPath");
  }, 60_000);
});

it("a job with the label waits for its checkpoint, and goes on from the last complete one", async () => {
  const moved = job("orders", "a1b2c3");
  // The policy is in force a moment after it was written; a dry run leaves nothing behind until then.
  await eventually(async () => {
    const { code, body } = await member.call("POST", `${JOBS}?dryRun=All`, moved);
    expect(code).toBe(403);
    expect(body).toMatchObject({ message: expect.stringContaining("flink-goes-on") });
  }, 60_000);

  checkpoint("a1b2c3", "chk-9", true);
  checkpoint("a1b2c3", "chk-10", true);
  checkpoint("a1b2c3", "chk-11", false);
  await inMember("member/last-checkpoint.sh", shared, "default", "a1b2c3");
  const restored = {
    ...START,
    initialSavepointPath: "s3://checkpoints/default/a1b2c3/checkpoints/chk-10",
    upgradeMode: "savepoint",
    state: "running",
  };
  const created = await eventually(async () => {
    const { code, body } = await member.call("POST", JOBS, moved);
    expect(code, JSON.stringify(body)).toBe(201);
    return body as { readonly metadata: { readonly resourceVersion: string } };
  }, 60_000);
  expect(created).toMatchObject({ spec: { job: restored } });

  // The control plane writes it again as its template has it.
  const again = job("orders", "a1b2c3", created.metadata.resourceVersion);
  const { body } = await member.call("PUT", `${JOBS}/orders`, again);
  expect(body).toMatchObject({ spec: { job: restored } });
});

it("a job whose checkpoint is not known is refused, not started from nothing", async () => {
  const { code, body } = await member.call("POST", JOBS, job("other", "d4e5f6"));
  expect(code, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
  await expect(inMember("member/last-checkpoint.sh", shared, "default", "d4e5f6")).rejects.toThrow(
    "no complete checkpoint",
  );
});
