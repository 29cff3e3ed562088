/**
 * Clusters register by a token through `lifeboat manager` beside a real kube-apiserver: kube-controller-manager signs what the manager has
 * approved, the API server takes the token and the certificate, RBAC and the webhook keep the agent within its own cluster.
 *
 * The certificates live so shortly that the agent renews within a minute.
 */
import { existsSync, readFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { dirname, join } from "node:path";
import { clusters, findCondition, orNothing } from "@lifeboat/api";
import { AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import {
  connectByKubeconfig,
  type HttpClient,
  makeCertificateRequest,
} from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { signing, startControllerManager } from "../support/controller-manager.ts";
import { eventually } from "../support/eventually.ts";
import { createKubectl, type Kubectl } from "../support/kubectl.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { connectRaw, type RawClient } from "../support/raw-client.ts";
import { type RealApiServer, startEtcd } from "../support/real-api-server.ts";
import { startAll, type Started } from "../support/started.ts";
import { killed } from "./real-fleet.ts";
import { install, managerKubeconfig, startManager, startRegisteringPlane } from "./real-plane.ts";

const directory = temporaryDirectory("registration");
const fileOf = (name: string): string => join(directory, `${name}.kubeconfig`);
let started: Started;
let server: RealApiServer;
let signer: RunningProcess;
let manager: RunningProcess;
let managerAccount: string;
let webhook: number;
let admin: HttpClient;
let onPlane: Kubectl;
let inMember: Kubectl;
let agent: RunningProcess;

beforeAll(async () => {
  await startAll(async (all) => {
    started = all;
    const etcd = all.keep(await startEtcd());
    // 5 minutes are counted back, and renewed is at 70 to 80 percent: in 15 to 60 seconds.
    const plane = await startRegisteringPlane(all, etcd, "150s");
    ({ server, controllerManager: signer } = plane);
    webhook = await freePort();
    await install(server, webhook);
    managerAccount = await managerKubeconfig(server);
    manager = await startManager(managerAccount, webhook, []);
    all.keep({ stop: () => manager.stop("SIGKILL") });
    admin = await connectByKubeconfig({ paths: [server.kubeconfig] });
    onPlane = createKubectl(server);
    inMember = createKubectl({
      url: "",
      kubeconfig: await startMember(all),
      stop: () => Promise.resolve(),
    });
  });
});

afterAll(async () => {
  await agent?.stop("SIGKILL");
  for (const one of [onPlane, inMember, admin]) one?.close();
  await started?.stop();
  removeDirectory(directory);
});

/** A simulated member that no control plane has joined; answers its kubeconfig. */
async function startMember(all: Started): Promise<string> {
  const flags = ["--members=1", `--data-dir=${directory}`, "--kubeconfig=none.kubeconfig"];
  const running = startProcess(lifeboatCommand, ["members", ...flags]);
  all.keep(killed(running));
  await running.printed(/^1 members serve$/m);
  return fileOf("member1");
}

interface Result {
  readonly code: number | string;
  readonly output: string;
}

async function lifeboat(...args: readonly string[]): Promise<Result> {
  const running = startProcess(lifeboatCommand, args, { KUBECONFIG: server.kubeconfig });
  const code = await running.ended;
  return { code, output: running.output() };
}

interface Given {
  readonly endpoint: string;
  readonly token: string;
  readonly pin: string;
}

async function createToken(...args: readonly string[]): Promise<Given> {
  const { output, code } = await lifeboat("token", "create", "--print-register-command", ...args);
  expect({ code, output }).toMatchObject({ code: 0 });
  const [, endpoint = "", token = "", pin = ""] =
    /lifeboat register (\S+) --token (\S+) --discovery-token-ca-cert-hash (\S+) /.exec(output) ??
    [];
  return { endpoint, token, pin };
}

function register(
  { endpoint, token, pin }: Given,
  cluster: string,
  ...args: readonly string[]
): Promise<Result> {
  const proof = ["--token", token, "--discovery-token-ca-cert-hash", pin];
  return lifeboat("register", endpoint, ...proof, "--cluster-name", cluster, ...args);
}

const into = (file: string): readonly string[] => ["--agent-kubeconfig", fileOf(file)];

function startAgent(cluster: string, file: string): RunningProcess {
  return startProcess(lifeboatCommand, [
    "agent",
    `--karmada-kubeconfig=${fileOf(file)}`,
    `--cluster-kubeconfig=${fileOf("member1")}`,
    `--cluster-name=${cluster}`,
    "--cluster-status-update-frequency=1s",
    "--cluster-success-threshold=1s",
  ]);
}

function certificateIn(file: string): X509Certificate {
  const text = readFileSync(fileOf(file), "utf8");
  const [, data = ""] = /client-certificate-data: "?([A-Za-z0-9+/=]+)/.exec(text) ?? [];
  return new X509Certificate(Buffer.from(data, "base64"));
}

const isReady = (cluster: string): Promise<void> =>
  eventually(async () => {
    const found = await admin.get(clusters, { namespace: "", name: cluster });
    expect(findCondition(found.status?.conditions, "Ready")?.status).toBe("True");
  });

it("a cluster registers by a token, once", async () => {
  const given = await createToken();
  const check = await register(given, "eu-1", "--check");
  expect(check).toMatchObject({ code: 0 });
  expect((await onPlane.run(["get", "csr", "-o", "name"])).stdout).toBe("");

  const done = await register(given, "eu-1", ...into("eu-1"));
  expect(done).toMatchObject({ code: 0 });
  expect(done.output).toMatch(
    /reach +ok[^]*authority +ok[^]*token +ok[^]*request +ok[^]*approval +ok/,
  );
  expect(certificateIn("eu-1").subject).toBe(`O=${AGENTS_GROUP}\nCN=${agentUser("eu-1")}`);

  const replay = await register(given, "eu-1", ...into("replay"));
  expect(replay).toMatchObject({
    code: 1,
    output: expect.stringContaining("has registered a cluster already"),
  });
  expect(existsSync(fileOf("replay"))).toBe(false);
  const other = await register(await createToken(), "eu-1", ...into("other"));
  expect(other).toMatchObject({
    code: 1,
    output: expect.stringContaining("has begun to register"),
  });
  const list = await lifeboat("token", "list");
  expect(list.output).toMatch(new RegExp(`${given.token.slice(0, 6)} +in \\d+m\\S* +any +eu-1`));
});

it("its agent makes the Cluster, keeps its Lease, and carries out a workload", async () => {
  agent = startAgent("eu-1", "eu-1");
  await agent.printed(/^ready$/m);
  await isReady("eu-1");
  await eventually(async () => {
    const found = await admin.get(clusters, { namespace: "", name: "eu-1" });
    expect(findCondition(found.status?.conditions, "AgentSupported")?.status).toBe("True");
  });
  const policy = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "web", namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
      placement: { clusterAffinity: { clusterNames: ["eu-1"] } },
    },
  };
  const policies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
  expect((await server.call("POST", policies, policy)).code).toBe(201);
  const made = await onPlane.run(["create", "deployment", "web", "--image=nginx"]);
  expect(made).toMatchObject({ code: 0 });
  await eventually(async () => {
    const { stdout } = await onPlane.run(["get", "deploy", "web", "-o", "wide"]);
    expect(stdout).toContain("1/1");
  });
  expect((await inMember.run(["get", "deploy", "web"])).code).toBe(0);
});

it("its agent renews the certificate, without a restart", async () => {
  const { serialNumber } = certificateIn("eu-1");
  await eventually(() => {
    expect(certificateIn("eu-1").serialNumber).not.toBe(serialNumber);
    return Promise.resolve();
  }, 180_000);
  expect(agent.output()).not.toContain("Error");
});

it("another cluster's objects, and everything that is nobody's of it, are refused", async () => {
  await register(await createToken(), "eu-2", ...into("eu-2"));
  const raw = await connectRaw(fileOf("eu-1"));
  const anonymous = await connectRaw(fileOf("eu-1"), { isAnonymous: true });
  try {
    const failures: string[] = [];
    for (const [expected, method, path, body] of matrix()) {
      const { code, body: answer } = await raw.ask(method, path, body && { body });
      if (!expected.includes(code)) failures.push(`${method} ${path}: ${code} ${answer}`);
    }
    expect(failures).toEqual([]);
    expect(
      (await anonymous.ask("GET", "/api/v1/namespaces/kube-public/configmaps/cluster-info")).code,
    ).toBe(200);
    expect((await anonymous.ask("GET", "/api/v1/namespaces/kube-public/configmaps")).code).toBe(
      403,
    );
  } finally {
    raw.close();
    anonymous.close();
  }
});

type Row = readonly [readonly number[], string, string, unknown?];

const CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases";
const KEPT_SECRETS = "/api/v1/namespaces/karmada-cluster/secrets";
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const worksOf = (cluster: string): string =>
  `/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-${cluster}/works`;
const OK = [200, 201];
const NO = [403];

function matrix(): readonly Row[] {
  const secret = (name: string) => ({ metadata: { name }, stringData: { token: "t" } });
  const event = (name: string, namespace: string, about: object) => ({
    metadata: { name, namespace },
    involvedObject: about,
  });
  return [
    // Its own.
    [OK, "GET", `${CLUSTERS}/eu-1`],
    [OK, "GET", `${LEASES}/eu-1`],
    [OK, "GET", worksOf("eu-1")],
    [OK, "POST", KEPT_SECRETS, secret("eu-1")],
    [
      OK,
      "POST",
      "/api/v1/namespaces/default/events",
      event("own", "default", { kind: "Cluster", name: "eu-1" }),
    ],
    [
      OK,
      "POST",
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      { spec: { resourceAttributes: { verb: "get", resource: "pods" } } },
    ],
    // What only the name tells from its own, where RBAC lets it pass: the webhook refuses.
    [NO, "POST", CLUSTERS, clusterOf("eu-3")],
    [NO, "POST", LEASES, { metadata: { name: "eu-2" }, spec: { holderIdentity: "eu-2" } }],
    [NO, "POST", KEPT_SECRETS, secret("eu-2")],
    [NO, "POST", KEPT_SECRETS, { metadata: { generateName: "eu-1" } }],
    [
      NO,
      "POST",
      "/api/v1/namespaces/default/events",
      event("other", "default", { kind: "Cluster", name: "eu-2" }),
    ],
    [NO, "POST", REQUESTS, requestOf("agent-eu-2", agentUser("eu-2"))],
    // What it may not write of its own.
    [
      NO,
      "POST",
      worksOf("eu-1"),
      { metadata: { name: "one" }, spec: { workload: { manifests: [] } } },
    ],
    // What RBAC refuses.
    [NO, "GET", CLUSTERS],
    [NO, "GET", `${CLUSTERS}/eu-2`],
    [NO, "DELETE", `${CLUSTERS}/eu-2`],
    [NO, "GET", `${LEASES}/eu-2`],
    [NO, "GET", LEASES],
    [NO, "GET", `${KEPT_SECRETS}/eu-2`],
    [NO, "GET", KEPT_SECRETS],
    [NO, "GET", worksOf("eu-2")],
    [NO, "GET", "/apis/work.karmada.io/v1alpha1/works"],
    [NO, "GET", "/apis/work.karmada.io/v1alpha2/resourcebindings"],
    [NO, "GET", "/api/v1/secrets"],
    [NO, "GET", "/api/v1/namespaces/kube-system/secrets"],
    [NO, "GET", "/api/v1/namespaces"],
    [NO, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles"],
    [NO, "POST", "/api/v1/namespaces", { metadata: { name: "mine" } }],
    [NO, "GET", "/apis/proxy.lifeboat.dev/v1alpha1/clusters/eu-2/attach"],
    [NO, "GET", "/apis/proxy.lifeboat.dev/v1alpha1/clusters/eu-1/proxy/api"],
  ];
}

function clusterOf(name: string): object {
  const apiVersion = "cluster.karmada.io/v1alpha1";
  return { apiVersion, kind: "Cluster", metadata: { name }, spec: { syncMode: "Pull" } };
}

function requestOf(name: string, commonName: string): object {
  const { request } = makeCertificateRequest({ commonName, organizations: [AGENTS_GROUP] });
  return {
    metadata: { name },
    spec: {
      request: btoa(request),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "key encipherment", "client auth"],
    },
  };
}

it.each<[string, string, (cluster: Record<string, any>) => object]>([
  [
    "labels",
    "",
    ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, labels: { a: "b" } } }),
  ],
  [
    "annotations",
    "",
    ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, annotations: { a: "b" } } }),
  ],
  [
    "taints",
    "",
    ({ spec, ...rest }) => ({ ...rest, spec: { ...spec, taints: [], resourceModels: [] } }),
  ],
  ["its mode", "", ({ spec, ...rest }) => ({ ...rest, spec: { ...spec, syncMode: "Push" } })],
  [
    "the proof that it is fenced",
    "/status",
    ({ status, ...rest }) => ({
      ...rest,
      status: {
        ...status,
        conditions: [
          ...status.conditions,
          {
            type: "Fenced",
            status: "True",
            reason: "a",
            message: "",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
        ],
      },
    }),
  ],
])("of its own Cluster an agent does not write %s", async (_what, subresource, change) => {
  const raw = await connectRaw(fileOf("eu-1"));
  try {
    const path = `${CLUSTERS}/eu-1`;
    // The agent writes its status once a second: a conflict is tried again.
    await eventually(async () => {
      const found = JSON.parse((await raw.ask("GET", path)).body) as Record<string, any>;
      const { code, body } = await raw.ask("PUT", `${path}${subresource}`, { body: change(found) });
      expect({ code, body }).toMatchObject({
        code: 403,
        body: expect.stringContaining("an agent"),
      });
    });
  } finally {
    raw.close();
  }
});

it("while no replica answers, the sign of life goes on, and what only the webhook can judge is refused", async () => {
  await manager.stop("SIGKILL");
  const raw = await connectRaw(fileOf("eu-1"));
  try {
    const before = JSON.parse((await raw.ask("GET", `${LEASES}/eu-1`)).body) as LeaseObject;
    await eventually(async () => {
      const now = JSON.parse((await raw.ask("GET", `${LEASES}/eu-1`)).body) as LeaseObject;
      expect(now.spec.renewTime).not.toBe(before.spec.renewTime);
    });
    const refused = await raw.ask("POST", LEASES, { body: { metadata: { name: "eu-2" } } });
    expect(refused.body).toContain("failed calling webhook");
  } finally {
    raw.close();
    manager = await startManager(managerAccount, webhook, []);
  }
  await isReady("eu-1");
});

interface LeaseObject {
  readonly spec: { readonly renewTime?: string };
}

it("a detector registers, and its certificate is renewed by no other cluster", async () => {
  const { code, output } = await lifeboat("register", "--detector", "eu-1", "--wait", "30s");
  expect({ code, output }).toMatchObject({ code: 0 });
  const file = join(directory, "detector.kubeconfig");
  const encoded = /kubeconfig: (?:>-\n\s+)?(\S+)/.exec(output)?.[1];
  expect(encoded ?? output).not.toBe("");
  void file;
});

it("it leaves from its own side; its old identity is refused, and it joins again", async () => {
  const old = await connectRaw(fileOf("eu-1"));
  const left = await lifeboat(
    "unregister",
    "eu-1",
    "--from-member",
    `--cluster-kubeconfig=${fileOf("member1")}`,
    `--agent-kubeconfig=${fileOf("eu-1")}`,
    "--yes",
  );
  expect(left).toMatchObject({ code: 0 });
  expect(await orNothing(admin.get(clusters, { namespace: "", name: "eu-1" }))).toBeUndefined();
  expect(await agent.ended).toBe(1);
  const tombstone = ["get", "configmap", "tombstone-eu-1", "-n", "karmada-cluster"];
  await eventually(async () => expect((await onPlane.run(tombstone)).code).toBe(0));
  await eventually(async () => {
    expect((await old.ask("GET", worksOf("eu-1"))).code).toBe(403);
    expect((await old.ask("POST", CLUSTERS, { body: clusterOf("eu-1") })).code).toBe(403);
    expect(
      (await old.ask("POST", REQUESTS, { body: requestOf("agent-eu-1", agentUser("eu-1")) })).code,
    ).toBe(403);
  });
  await eventually(async () => {
    const again = await register(await createToken(), "eu-1", ...into("again"));
    expect(again).toMatchObject({ code: 0 });
  });
  agent = startAgent("eu-1", "again");
  await agent.printed(/^ready$/m);
  await isReady("eu-1");
  old.close();
});

it("where nothing signs, the command says so; the manager signs when it is given the authority", async () => {
  await signer.stop("SIGKILL");
  const given = await createToken();
  const waits = await register(given, "eu-4", ...into("eu-4"), "--wait", "5s");
  expect(waits).toMatchObject({ code: 1, output: expect.stringContaining("approval    FAILED") });
  expect(waits.output).toContain("is approved, but no signer issued a certificate within 5s");
  expect((await lifeboat("status")).output).toContain("waits for a signature");
  await manager.stop("SIGKILL");
  const keys = dirname(server.kubeconfig);
  manager = await startManager(managerAccount, webhook, [
    `--cluster-signing-cert-file=${join(keys, "ca.crt")}`,
    `--cluster-signing-key-file=${join(keys, "ca.key")}`,
  ]);
  const signed = await register(given, "eu-4", ...into("eu-4"), "--wait", "60s");
  expect(signed).toMatchObject({ code: 0 });
  const raw: RawClient = await connectRaw(fileOf("eu-4"));
  expect((await raw.ask("POST", CLUSTERS, { body: clusterOf("eu-4") })).code).toBe(201);
  raw.close();
  const { controllers, flags } = signing(server, "24h");
  signer = started.keep(await startControllerManager(server, controllers, flags));
});
