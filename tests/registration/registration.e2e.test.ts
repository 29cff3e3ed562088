/** `lifeboat join`, `get clusters` and `unjoin` as processes, with a real cluster and with one of our own. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKubectl, type Kubectl } from "../support/kubectl.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { type RealApiServer, startRealApiServer } from "../support/real-api-server.ts";
import { startControllerManager } from "../support/controller-manager.ts";

let plane: RunningLifeboat;
let real: RealApiServer;
let manager: RunningProcess;
let inPlane: Kubectl;
let inMember: Kubectl;

beforeAll(async () => {
  [plane, real] = await Promise.all([startLifeboat(), startRealApiServer()]);
  manager = await startControllerManager(real);
  inPlane = createKubectl(plane);
  inMember = createKubectl(real);
  await until(() => inMember.run(["get", "namespace", "kube-system"]));
});

afterAll(async () => {
  await manager?.stop("SIGKILL");
  await real?.stop();
  await plane?.stop();
  inPlane?.close();
  inMember?.close();
});

interface Result {
  readonly code: number | string;
  readonly output: string;
}

/** Runs the command against the plane of this test. */
function lifeboat(...args: readonly string[]): Promise<Result> {
  return lifeboatWith({}, ...args);
}

async function lifeboatWith(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Result> {
  const running = startProcess(lifeboatCommand, args, {
    KUBECONFIG: "",
    XDG_DATA_HOME: "/nonexistent",
    LIFEBOAT_DATA_DIR: plane.dataDirectory,
    ...environment,
  });
  const code = await running.ended;
  return { code, output: running.output() };
}

async function until(run: () => Promise<{ readonly code: number }>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await run()).code === 0) return;
    await wait(100);
  }
  throw new Error("it did not come to be");
}

const TRACES = "namespaces,clusterroles,clusterrolebindings,serviceaccounts,secrets";

/** What is left of registration, by name. */
async function traces(kubectl: Kubectl, kinds = TRACES): Promise<readonly string[]> {
  const format =
    "jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{'\\n'}{end}";
  const { stdout, stderr, code } = await kubectl.run(["get", kinds, "-A", "-o", format]);
  if (code !== 0) throw new Error(stderr);
  return stdout
    .split("\n")
    .filter((line) => /karmada|\/m1/.test(line))
    .toSorted();
}

describe("a real cluster", () => {
  it("joins, is shown, and leaves nothing behind", async () => {
    const before = await traces(inMember);
    const dry = await lifeboat("join", "m1", "--cluster-kubeconfig", real.kubeconfig, "--dry-run");
    expect(dry).toMatchObject({ code: 0 });
    expect(await traces(inMember)).toEqual(before);

    const joined = await lifeboat(
      "join",
      "m1",
      "--cluster-kubeconfig",
      real.kubeconfig,
      "--cluster-region",
      "north",
      "--cluster-zones",
      "z1,z2",
    );
    expect(joined).toEqual({ code: 0, output: "cluster(m1) is joined successfully\n" });

    // What the control plane holds does open the member's door.
    const jsonPath = (path: string): readonly string[] => [
      "get",
      "secret",
      "m1",
      "-n",
      "karmada-cluster",
      "-o",
      `jsonpath=${path}`,
    ];
    const decode = async (path: string): Promise<string> =>
      Buffer.from((await inPlane.run(jsonPath(path))).stdout, "base64").toString();
    const token = await decode("{.data.token}");
    const directory = temporaryDirectory("registration");
    const authority = join(directory, "ca.crt");
    writeFileSync(authority, await decode("{.data.caBundle}"));
    const empty = join(directory, "kubeconfig");
    writeFileSync(empty, "{}");
    const access = ["--server", real.url, "--certificate-authority", authority, "--token", token];
    const byToken = createKubectl({ ...real, kubeconfig: empty });
    const allowed = await byToken.run([...access, "auth", "can-i", "*", "*"]);
    expect(allowed.stdout).toBe("yes\n");
    byToken.close();
    removeDirectory(directory);

    const table = await lifeboat("get", "clusters");
    expect(table.output).toMatch(/^NAME +VERSION +MODE +READY +AGE\nm1 +.*Push +/);
    for (const line of table.output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect((await lifeboat("get", "clusters", "-o", "wide")).output).toContain("z1,z2");
    expect((await lifeboat("get", "clusters", "-o", "name")).output).toBe(
      "cluster.cluster.karmada.io/m1\n",
    );
    const json = await lifeboat("get", "clusters", "m1", "-o", "json");
    expect(JSON.parse(json.output)).toMatchObject({ kind: "Cluster", spec: { region: "north" } });

    const again = await lifeboat("join", "m2", "--cluster-kubeconfig", real.kubeconfig);
    expect(again).toMatchObject({
      code: 1,
      output: expect.stringContaining("joined already, as m1"),
    });

    const left = await lifeboat("unjoin", "m1", "--cluster-kubeconfig", real.kubeconfig, "--yes");
    expect(left.output).toContain("cluster(m1) is unjoined successfully\n");
    expect(left.code).toBe(0);
    await until(async () => ({ code: (await traces(inMember)).length === before.length ? 0 : 1 }));
    expect(await traces(inMember)).toEqual(before);
    await until(async () => ({ code: (await traces(inPlane)).length === 1 ? 0 : 1 }));
    expect(await traces(inPlane)).toEqual(["Namespace /karmada-cluster"]);
    expect((await inPlane.run(["get", "clusters", "-o", "name"])).stdout).toBe("");
  });
});

describe("a cluster of our own", () => {
  it("joins by the bearer token of its kubeconfig, and without one is told what is missing", async () => {
    const directory = temporaryDirectory("registration");
    const tokens = join(directory, "tokens.csv");
    writeFileSync(tokens, 'a-token,joiner,1,"system:masters"\n');
    const member = await startLifeboat({ args: ["--token-auth-file", tokens] });
    const tried = ["join", "own", "--cluster-kubeconfig", member.kubeconfig, "--dry-run"];
    expect((await lifeboat(...tried)).output).toContain("no bearer token");
    const byCertificate = await lifeboat("join", "own", "--cluster-kubeconfig", member.kubeconfig);
    expect(byCertificate.code).toBe(1);
    expect(byCertificate.output).toContain("no bearer token");
    const kubectl = createKubectl(member);
    const view = await kubectl.run(["config", "view", "--raw", "-o", "json"]);
    const config = JSON.parse(view.stdout) as { users: unknown[] };
    const users = (config.users as { name: string }[]).map(({ name }) => ({
      name,
      user: { token: "a-token" },
    }));
    const byToken = join(directory, "token.kubeconfig");
    writeFileSync(byToken, JSON.stringify({ ...config, users }));
    const joined = await lifeboat("join", "own", "--cluster-kubeconfig", byToken);
    expect(joined.output).toContain("cluster(own) is joined successfully\n");
    expect(joined.output).toContain("the token of its kubeconfig is used");
    const left = await lifeboat("unjoin", "own", "--cluster-kubeconfig", byToken, "--yes");
    expect(left).toMatchObject({ code: 0 });
    await until(async () => ({ code: (await traces(kubectl)).length === 0 ? 0 : 1 }));
    kubectl.close();
    await member.stop();
    removeDirectory(directory);
  });
});

describe("a call that is wrong", () => {
  it.each<[string, readonly string[], number, RegExp]>([
    ["join without a kubeconfig", ["join", "m1"], 2, /--cluster-kubeconfig is needed/],
    ["join with a bad name", ["join", "M_1", "--cluster-kubeconfig", "x"], 2, /"M_1" is not valid/],
    [
      "join with a missing file",
      ["join", "m1", "--cluster-kubeconfig", "/none"],
      1,
      /no kubeconfig at \/none/,
    ],
    ["join without a name", ["join"], 2, /missing required argument/],
    ["unjoin of nobody", ["unjoin", "nobody"], 1, /there is no cluster nobody/],
    [
      "get with a bad format",
      ["get", "clusters", "-o", "xml"],
      2,
      /one of table, wide, name, json/,
    ],
    ["get of nobody", ["get", "clusters", "nobody"], 1, /there is no cluster "nobody"/],
    [
      "get without a plane",
      ["get", "clusters", "--data-dir", "/none"],
      1,
      /no kubeconfig at \/none\/lifeboat.kubeconfig; start a control plane/,
    ],
  ])("%s says what to do", async (_name, args, code, message) => {
    const result = await lifeboat(...args);
    expect(result.output).toMatch(message);
    expect(result.output).not.toContain("this is a bug");
    expect(result.code).toBe(code);
  });

  it("leads to another cluster, to itself, or has broken certificates: each is told in a sentence (17.16)", async () => {
    const other = await lifeboat("status", "--kubeconfig", real.kubeconfig);
    expect(other.output).toContain("is not a Lifeboat control plane");
    expect(other.code).toBe(1);
    const self = await lifeboat("join", "me", "--cluster-kubeconfig", plane.kubeconfig);
    expect(self.output).toContain("leads to the control plane itself");
    const directory = temporaryDirectory("registration");
    const broken = join(directory, "broken.kubeconfig");
    const good = readFileSync(plane.kubeconfig, "utf8");
    writeFileSync(
      broken,
      good.replace(/(client-certificate-data"?: *"?)[A-Za-z0-9+/=]+/, "$1YnJva2Vu"),
    );
    const cut = await lifeboat("status", "--kubeconfig", broken);
    expect(cut.output).toContain("client-certificate of the kubeconfig cannot be used");
    expect(cut.output).not.toContain("this is a bug");
    const two = await lifeboatWith(
      { KUBECONFIG: real.kubeconfig },
      "status",
      "--data-dir",
      plane.dataDirectory,
    );
    expect(two.output).toContain("--data-dir and $KUBECONFIG name two control planes");
    expect(two.code).toBe(2);
    removeDirectory(directory);
  });

  it("up with a data directory that cannot be made ends with a sentence (17.16)", async () => {
    const up = await lifeboat("up", "--data-dir", "/proc/lifeboat/data", "--listen", "127.0.0.1:0");
    expect(up.output).toContain("cannot make the directory /proc/lifeboat/data");
    expect(up.code).toBe(1);
  });

  it("unjoin of a cluster with bindings asks, and refuses where there is no terminal", async () => {
    const cluster = {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name: "full" },
      spec: { syncMode: "Push", apiEndpoint: "https://127.0.0.1:1" },
    };
    const binding = {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ClusterResourceBinding",
      metadata: { name: "held" },
      spec: {
        resource: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "held" },
        clusters: [{ name: "full" }],
      },
    };
    for (const object of [cluster, binding])
      expect(await inPlane.run(["create", "-f", "-"], JSON.stringify(object))).toMatchObject({
        code: 0,
      });
    // What a shell exported once is no word about this call.
    const exported = { LIFEBOAT_YES: "true", LIFEBOAT_FORCE: "true" };
    const asked = await lifeboatWith(exported, "unjoin", "full");
    expect(asked.output).toContain("still on cluster(full): 1 binding (held)");
    expect(asked.output).toContain("add --yes");
    expect(asked.code).toBe(2);
    const forced = await lifeboat("unjoin", "full", "--yes", "--force", "--wait", "2s");
    expect(forced).toMatchObject({ code: 0 });
    await inPlane.run(["delete", "clusterresourcebinding", "held", "--wait=false"]);
  });
});
