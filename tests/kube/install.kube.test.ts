/** `lifeboat install`, `manager` and `uninstall` as an operator uses them, on a real kube-apiserver. */
import { clusterTaintPolicies, type JsonObject } from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { freePort, type RunningProcess, startProcess } from "../support/processes.ts";
import { type RealApiServer, startRealApiServer } from "../support/real-api-server.ts";
import { managerKubeconfig, startManager } from "./real-plane.ts";

let server: RealApiServer;
let client: HttpClient;
let port: number;
let manager: RunningProcess | undefined;

beforeAll(async () => {
  server = await startRealApiServer({ aggregates: true });
  client = await connectByKubeconfig({ paths: [server.kubeconfig] });
  port = await freePort();
});
afterAll(async () => {
  await manager?.stop("SIGKILL");
  client?.close();
  await server?.stop();
});

async function lifeboat(...args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const child = startProcess(lifeboatCommand, [...args, "--kubeconfig", server.kubeconfig]);
  const code = await child.ended;
  return { code, output: child.output() };
}

const install = (...args: readonly string[]) =>
  lifeboat("install", "--webhook-url", `https://127.0.0.1:${port}`, ...args);

const endings = (output: string): readonly string[] => [
  ...new Set(
    output
      .trim()
      .split("\n")
      .map((line) => line.split(" ").slice(1).join(" ")),
  ),
];

const configMap = (labels: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "kept", labels },
});

it("a manager says what is missing", async () => {
  const child = startProcess(lifeboatCommand, [
    "manager",
    "--kubeconfig",
    server.kubeconfig,
    "--health-listen=127.0.0.1:0",
  ]);
  expect(await child.ended).toBe(1);
  expect(child.output()).toContain("prepare it with `lifeboat install`");
});

it("installs once, changes nothing when it is repeated, and shows what differs", async () => {
  expect(endings((await install("--dry-run")).output)).toEqual(["created (dry run)"]);
  expect((await server.call("GET", "/apis/lifeboat.dev/v1alpha1")).code).toBe(404);
  expect(endings((await install()).output)).toEqual(["created"]);
  const again = await install();
  expect(again.code).toBe(0);
  expect(endings(again.output)).toEqual(["unchanged"]);
  await server.call(
    "PATCH",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/lifeboat-manager",
    { rules: [] },
    { "content-type": "application/merge-patch+json" },
  );
  const { output } = await install("--diff");
  expect(output).toContain("clusterrole/lifeboat-manager configured\n  -rules: null\n  +rules: ");
});

it("a manager serves admission with the account that was installed, and stops in order", async () => {
  manager = await startManager(await managerKubeconfig(server), port);
  await manager.printed(/^leading$/m);
  const refused = await server.call("POST", "/apis/cluster.karmada.io/v1alpha1/clusters", {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "a.b" },
    spec: { syncMode: "Push" },
  });
  expect(refused.code).toBe(422);
  expect(JSON.stringify(refused.body)).toContain("check-orders.lifeboat.dev");
  const maps = "/api/v1/namespaces/default/configmaps";
  const label = "resourcetemplate.karmada.io/deletion-protected";
  await server.call("POST", maps, configMap({ [label]: "Always" }));
  expect((await server.call("DELETE", `${maps}/kept`)).code).toBe(403);
  await eventually(async () => {
    await client.get(clusterTaintPolicies, { namespace: "", name: "default-not-ready" });
  });
  expect((await lifeboat("status")).output).toMatch(/^Leader {4}\S+, for \d+s$/m);
  expect((await lifeboat("uninstall", "--yes")).output).toContain(
    "leads: stop every manager first",
  );
  expect(await manager.stop()).toBe(0);
  expect(manager.output()).not.toMatch(/forbidden/i);
  expect((await lifeboat("status")).output).toMatch(/^Leader {4}none/m);
});

it("uninstalls all but what stays, and installs again", async () => {
  expect((await lifeboat("uninstall")).output).toContain("add --yes");
  const { code, output } = await lifeboat("uninstall", "--yes", "--kinds");
  expect(code).toBe(0);
  expect(output).toContain("every workload in every member");
  expect(output).toContain("customresourcedefinition/works.work.karmada.io deleted");
  const { body } = await server.call(
    "GET",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lifeboat",
  );
  expect(body).toMatchObject({ code: 404 });
  await eventually(async () => {
    expect((await install()).code).toBe(0);
  });
});
