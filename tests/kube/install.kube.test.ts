/** `lifeboat install`, `manager` and `uninstall` as an operator uses them, on a real kube-apiserver. */
import {
  clusterTaintPolicies,
  type JsonObject,
  type Work,
  works as workResource,
} from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startControllerManager } from "../support/controller-manager.ts";
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
  lifeboat(
    "install",
    `--webhook-url=https://127.0.0.1:${port}`,
    "--registration-endpoint=plane.example.com:6443",
    ...args,
  );

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

it("warns of an address at which no cluster of another machine can register", async () => {
  const { output } = await lifeboat("install", "--webhook-url=https://127.0.0.1:9", "--dry-run");
  expect(output).toContain(`kube-public/cluster-info names ${server.url}, which only this machine`);
});

it("a tenant with edit in a namespace writes policies there, and one with view reads them", async () => {
  // kube-controller-manager adds up the roles of tenants.
  const adder = await startControllerManager(server, ["clusterrole-aggregation-controller"]);
  try {
    for (const role of ["view", "edit"])
      await server.call(
        "POST",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
        {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
          metadata: { name: role },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
          subjects: [
            { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: `tenant-${role}` },
          ],
        },
      );
    const policies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
    const as = (user: string) => ({ "impersonate-user": user });
    const body = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "p" },
      spec: { resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap" }] },
    };
    const code = async (method: string, user: string, path = policies): Promise<number> =>
      (await server.call(method, path, method === "GET" ? undefined : body, as(user))).code;
    await eventually(async () => expect(await code("GET", "tenant-view")).toBe(200));
    expect(await code("POST", "tenant-view")).toBe(403);
    // No manager runs yet: what RBAC allows fails at the webhook.
    await eventually(async () => expect(await code("POST", "tenant-edit")).toBe(500));
    const works = "/apis/work.karmada.io/v1alpha1/namespaces/default/works";
    expect(await code("GET", "tenant-edit", works)).toBe(403);
  } finally {
    await adder.stop("SIGKILL");
  }
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
  await judgeRecords();
  await judgeBackends();
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

/** Where load balancers send requests is written by the manager, and by no tenant that writes the ingress. */
async function judgeBackends(): Promise<void> {
  const tenant = { "impersonate-user": "tenant-edit" };
  const all = "/apis/networking.karmada.io/v1alpha1/namespaces/default/multiclusteringresses";
  const forged = { "lifeboat.dev/backends": '{"generation":9000000000,"services":{}}' };
  const ingress = (annotations: JsonObject, more: JsonObject = {}): JsonObject => ({
    apiVersion: "networking.karmada.io/v1alpha1",
    kind: "MultiClusterIngress",
    metadata: { name: "web", annotations, ...more },
    spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
  });
  const made = await server.call("POST", all, ingress(forged), tenant);
  expect(made.code).toBe(201);
  expect(JSON.stringify((made.body as { metadata: JsonObject }).metadata["annotations"])).toBe(
    undefined,
  );
  const stored = async () => {
    const { body } = await server.call("GET", `${all}/web`);
    const { metadata } = body as {
      readonly metadata: {
        readonly annotations?: Readonly<Record<string, string>>;
        readonly resourceVersion: string;
      };
    };
    return { ...metadata, backends: metadata.annotations?.["lifeboat.dev/backends"] };
  };
  await eventually(async () => expect((await stored()).backends).toBeDefined());
  const { backends } = await stored();
  const patch = (annotations: JsonObject) =>
    server.call(
      "PATCH",
      `${all}/web`,
      { metadata: { annotations } },
      { ...tenant, "content-type": "application/merge-patch+json" },
    );
  const refused = await patch(forged);
  expect(refused.code).toBe(403);
  expect(JSON.stringify(refused.body)).toContain("only the control plane writes");
  expect((await patch({ "lifeboat.dev/backends": null })).code).toBe(200);
  expect((await patch({ note: "a" })).code).toBe(200);
  expect((await stored()).annotations).toEqual({ "lifeboat.dev/backends": backends, note: "a" });
  const { resourceVersion } = await stored();
  const put = await server.call("PUT", `${all}/web`, ingress({}, { resourceVersion }), tenant);
  expect(put.code).toBe(200);
  expect((await stored()).annotations).toEqual({ "lifeboat.dev/backends": backends });
}

/** The webhook fills in and checks what others write of the records, is not asked about the manager, and owners go with its update. */
async function judgeRecords(): Promise<void> {
  const id = "work.karmada.io/permanent-id";
  const works = "/apis/work.karmada.io/v1alpha1/namespaces/default/works";
  const made = await server.call("POST", works, {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "w" },
    spec: {},
  });
  expect(made.body).toMatchObject({
    metadata: { labels: { [id]: expect.stringMatching(/^[0-9a-f-]{36}$/) as string } },
  });
  const { metadata, ...rest } = made.body as { readonly metadata: JsonObject };
  const changed = { ...rest, metadata: { ...metadata, labels: { [id]: "other" } } };
  const refused = await server.call("PUT", `${works}/w`, changed);
  expect(refused.code).toBe(422);
  expect(JSON.stringify(refused.body)).toContain("check-records.lifeboat.dev");
  const account = await connectByKubeconfig({ paths: [await managerKubeconfig(server, "writer")] });
  try {
    const owned = metadata["managedFields"];
    expect(owned).toHaveLength(1);
    const body = { ...changed.metadata, managedFields: [{}] };
    const work = { ...changed, metadata: body } as unknown as Work;
    await account.update(workResource, work);
  } finally {
    account.close();
  }
  const { body } = await server.call("GET", `${works}/w`);
  expect(body).toMatchObject({ metadata: { labels: { [id]: "other" } } });
  expect((body as { readonly metadata: JsonObject }).metadata).not.toHaveProperty("managedFields");
  expect((await server.call("DELETE", `${works}/w`)).code).toBe(200);
}

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
