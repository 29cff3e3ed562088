/**
 * Clusters register by a token through `lifeboat manager` beside a real kube-apiserver: kube-controller-manager signs what the manager has
 * approved, the API server takes the token and the certificate, RBAC and the webhook keep the agent within its own cluster.
 *
 * The certificates live so shortly that the agent renews within a minute.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { clusters, findCondition, orNothing } from "@lifeboat/api";
import { AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import {
  connectByKubeconfig,
  type HttpClient,
  makeCertificateRequest,
} from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
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
import { connectRaw } from "../support/raw-client.ts";
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
    const plane = await startRegisteringPlane(all, etcd, { certificateLife: "150s" });
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

it("the history names the user of a drain and of an abandon, as the webhook stamps them", async () => {
  const drain = ["drain", "eu-1", "--yes", "--timeout", "5s", "--reason", "an upgrade"];
  const drained = await lifeboat(...drain);
  // The workload has no other place: it is held.
  expect(drained, drained.output).toMatchObject({ code: 1 });
  const told = async (sentence: RegExp): Promise<void> =>
    eventually(async () => {
      const { output } = await lifeboat("history");
      expect(output.replace(/\s+/g, " ")).toMatch(sentence);
    });
  await told(/eu-1 got the taint lifeboat\.dev\/drain:NoExecute, by [^\s:]\S*: an upgrade/);
  const abandon = ["evacuations", "abandon", "eu-1-1", "deployment/web", "--yes"];
  const abandoned = await lifeboat(...abandon, "--reason", "it stays");
  expect(abandoned, abandoned.output).toMatchObject({ code: 0 });
  await told(/web was taken out of evacuation eu-1-1 and stays on eu-1, by \S+: it stays/);
  expect(await lifeboat("uncordon", "eu-1")).toMatchObject({ code: 0 });
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
      const { code, body: answer } = await raw.ask(
        method,
        path,
        body === undefined ? {} : { body },
      );
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

it.each([
  ["leaves its life open", undefined],
  ["asks for a year", 31_536_000],
])(
  "a certificate of an agent that %s is not signed: nobody could take it back",
  async (_what, seconds) => {
    const raw = await connectRaw(fileOf("eu-2"));
    try {
      const path = `${REQUESTS}/agent-eu-2`;
      await raw.ask("DELETE", path);
      const body = requestOf("agent-eu-2", agentUser("eu-2"), seconds);
      expect(await raw.ask("POST", REQUESTS, { body })).toMatchObject({ code: 201 });
      await eventually(async () => {
        const { status } = JSON.parse((await raw.ask("GET", path)).body) as {
          readonly status: object;
        };
        expect(status).toMatchObject({ conditions: [{ type: "Denied", reason: "TooLong" }] });
        expect(status).not.toHaveProperty("certificate");
      });
    } finally {
      raw.close();
    }
  },
);

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

function requestOf(name: string, commonName: string, expirationSeconds?: number): object {
  const { request } = makeCertificateRequest({ commonName, organizations: [AGENTS_GROUP] });
  return {
    metadata: { name },
    spec: {
      request: btoa(request),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "key encipherment", "client auth"],
      ...(expirationSeconds !== undefined && { expirationSeconds }),
    },
  };
}

interface ClusterObject {
  readonly metadata: object;
  readonly spec: object;
  readonly status: { readonly conditions: readonly object[] };
}

function withCondition(cluster: ClusterObject, type: string): ClusterObject {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const condition = { type, status: "True", reason: "Test", message: "", lastTransitionTime };
  const conditions = [...cluster.status.conditions, condition];
  return { ...cluster, status: { ...cluster.status, conditions } };
}

it.each<[string, string, (cluster: ClusterObject) => object]>([
  ["labels", "", (one) => ({ ...one, metadata: { ...one.metadata, labels: { a: "b" } } })],
  [
    "annotations",
    "",
    (one) => ({ ...one, metadata: { ...one.metadata, annotations: { a: "b" } } }),
  ],
  [
    "taints",
    "",
    (one) => ({ ...one, spec: { ...one.spec, taints: [{ key: "a", effect: "NoExecute" }] } }),
  ],
  ["its mode", "", (one) => ({ ...one, spec: { ...one.spec, syncMode: "Push" } })],
  ["the proof that it is fenced", "/status", (one) => withCondition(one, "Fenced")],
  ["a condition that no agent reports", "/status", (one) => withCondition(one, "Quarantined")],
])("of its own Cluster an agent does not write %s", async (_what, subresource, change) => {
  const raw = await connectRaw(fileOf("eu-1"));
  try {
    const path = `${CLUSTERS}/eu-1`;
    // The agent writes its status once a second: a conflict is tried again.
    await eventually(async () => {
      const found = JSON.parse((await raw.ask("GET", path)).body) as ClusterObject;
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

it("of a report that is too large nothing is taken in, and one about more copies than there are is refused", async () => {
  const raw = await connectRaw(fileOf("eu-1"));
  try {
    const write = async (manifestStatuses: readonly object[]): Promise<number> => {
      const { items } = JSON.parse((await raw.ask("GET", worksOf("eu-1"))).body) as WorkList;
      const [work] = items;
      const body = { ...work, status: { ...work?.status, manifestStatuses } };
      const path = `${worksOf("eu-1")}/${work?.metadata.name}/status`;
      return (await raw.ask("PUT", path, { body })).code;
    };
    const report = (note: string) => ({
      identifier: { ordinal: 0, version: "v1", kind: "Deployment", resource: "", name: "web" },
      status: { note },
      health: "Healthy",
    });
    // The agent writes the same status: a conflict is tried again.
    await eventually(async () => expect(await write([report(""), report("")])).toBe(403));
    await eventually(async () => {
      expect(await write([report("x".repeat(300_000))])).toBe(200);
      const of = "reason=ReportTooLarge";
      const all = ["get", "events", "-n", "karmada-es-eu-1", "-o", "name"];
      const told = await onPlane.run([...all, "--field-selector", of]);
      expect(told.stdout).toContain("event/");
    });
    const bindings = await onPlane.run(["get", "resourcebindings", "-A", "-o", "json"]);
    expect(bindings.stdout).not.toContain("xxxxxxxxxx");
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
    const { items } = JSON.parse((await raw.ask("GET", worksOf("eu-1"))).body) as WorkList;
    const [work] = items;
    const report = `${worksOf("eu-1")}/${work?.metadata.name}/status`;
    expect((await raw.ask("PUT", report, { body: work })).code).toBe(200);
    const refused = await raw.ask("POST", LEASES, { body: { metadata: { name: "eu-2" } } });
    expect(refused.body).toContain("failed calling webhook");
  } finally {
    raw.close();
    manager = await startManager(managerAccount, webhook, []);
  }
  await isReady("eu-1");
});

interface WorkList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status?: object;
  }[];
}

interface LeaseObject {
  readonly spec: { readonly renewTime?: string };
}

it("a detector registers, writes its own condition, and nothing of the agent's", async () => {
  const { code, output } = await lifeboat("register", "--detector", "eu-1", "--wait", "30s");
  expect({ code, output }).toMatchObject({ code: 0 });
  const secret = output
    .split(/^---$/m)
    .filter((text) => text.includes("kind: Secret"))
    .map((text) => parse(text) as ManifestObject)[0];
  const { kubeconfig } = { ...secret?.data, ...secret?.stringData };
  const text = secret?.data === undefined ? kubeconfig : Buffer.from(kubeconfig ?? "", "base64");
  writeFileSync(fileOf("detector"), text ?? "", { mode: 0o600 });
  const raw = await connectRaw(fileOf("detector"));
  try {
    const write = async (type: string): Promise<number> => {
      const found = JSON.parse((await raw.ask("GET", `${CLUSTERS}/eu-1`)).body) as ClusterObject;
      return (await raw.ask("PUT", `${CLUSTERS}/eu-1/status`, { body: withCondition(found, type) }))
        .code;
    };
    // The agent writes the same status once a second: a conflict is tried again.
    await eventually(async () => expect(await write("ServiceDomainNameResolutionReady")).toBe(200));
    await eventually(async () => expect(await write("Fenced")).toBe(403));
    expect((await raw.ask("GET", worksOf("eu-1"))).code).toBe(403);
    expect((await raw.ask("POST", CLUSTERS, { body: clusterOf("eu-3") })).code).toBe(403);
  } finally {
    raw.close();
  }
});

interface ManifestObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

it("it leaves from its own side; its old identity is refused, and it joins again", async () => {
  const old = await connectRaw(fileOf("eu-1"));
  // It has no other place, and a cluster does not leave with the last copy of a workload.
  expect(await onPlane.run(["delete", "deployment", "web"])).toMatchObject({ code: 0 });
  await eventually(async () => expect((await inMember.run(["get", "deploy", "web"])).code).toBe(1));
  // As installing the agent keeps it: the command leaves with that identity.
  const kept = ["-n", "karmada-system", `--from-file=kubeconfig=${fileOf("eu-1")}`];
  await inMember.run(["create", "namespace", "karmada-system"]);
  const secret = ["create", "secret", "generic", "lifeboat-agent-kubeconfig", ...kept];
  expect(await inMember.run(secret)).toMatchObject({ code: 0 });
  const left = await lifeboat(
    "unregister",
    "eu-1",
    "--from-member",
    `--cluster-kubeconfig=${fileOf("member1")}`,
    "--yes",
  );
  expect(left, left.output).toMatchObject({ code: 0 });
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
  // No kube-apiserver refuses a certificate before its end: an ordinary token does not bring the name back to life.
  const soon = await register(await createToken(), "eu-1", ...into("soon"));
  expect(soon).toMatchObject({ code: 1, output: expect.stringContaining("the agent that left") });
  const again = await register(await createToken("--cluster", "eu-1"), "eu-1", ...into("again"));
  expect(again).toMatchObject({ code: 0 });
  agent = startAgent("eu-1", "again");
  await agent.printed(/^ready$/m);
  await isReady("eu-1");
  old.close();
});

it("where nothing signs, the command and the status say so, and the same command goes on later", async () => {
  await signer.stop("SIGKILL");
  const given = await createToken();
  const waits = await register(given, "eu-4", ...into("eu-4"), "--wait", "5s");
  expect(waits).toMatchObject({ code: 1, output: expect.stringContaining("approval    FAILED") });
  expect(waits.output).toContain("is approved, but no signer issued a certificate within 5s");
  await eventually(async () => {
    expect((await lifeboat("status")).output).toMatch(/waits\s+for\s+a\s+signature/);
  });
  const { controllers, flags } = signing(server, "24h");
  signer = await startControllerManager(server, controllers, flags);
  started.keep(killed(signer));
  const signed = await register(given, "eu-4", ...into("eu-4"), "--wait", "60s");
  expect(signed).toMatchObject({ code: 0 });
  const raw = await connectRaw(fileOf("eu-4"));
  expect((await raw.ask("POST", CLUSTERS, { body: clusterOf("eu-4") })).code).toBe(201);
  raw.close();
});
