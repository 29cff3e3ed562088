/**
 * The Helm chart, with the real helm on a real kube-apiserver and etcd: what it renders is installed, and its pods are run from what
 * the API server then holds, on the image of deploy/Dockerfile. One API server is both the cluster of the release and the control plane.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { fileURLToPath } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { agentManifest, detectorManifest } from "@lifeboat/plane";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { renderManifests } from "../../tools/generate-manifests/manifests.ts";
import { accountKubeconfig, managerKubeconfig } from "../kube/real-plane.ts";
import { eventually } from "../support/eventually.ts";
import { chart, createHelm, type Helm } from "../support/helm.ts";
import { buildImage, type Image, installPackage, type RunningContainer } from "../support/image.ts";
import { createKubelet, type Kubelet, type PodContainer, type PodSpec } from "../support/pods.ts";
import { freePort, removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { type RealApiServer, startRealApiServer } from "../support/real-api-server.ts";

const file = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");

/** What the tests read of an object. */
interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly replicas: number; readonly template: { readonly spec: PodSpec } };
}

const renderedBy = (output: string): readonly Rendered[] =>
  parseAllDocuments(output).map((one) => one.toJS() as Rendered);
const set = (...values: readonly string[]): readonly string[] =>
  values.flatMap((value) => ["--set", value]);
const sorted = (all: readonly Rendered[]): readonly Rendered[] =>
  all.toSorted((a, b) =>
    `${a.kind} ${a.metadata.name}` < `${b.kind} ${b.metadata.name}` ? -1 : 1,
  );
/** What a chart renders of what a command prints: the Secret is made by the command alone. */
const withoutSecret = (printed: unknown): readonly Rendered[] =>
  (printed as readonly Rendered[]).filter(({ kind }) => kind !== "Namespace" && kind !== "Secret");
const ONLY_AGENT = ["manager.enabled=false", "agent.enabled=true", "agent.clusterName=m1"];

describe("the chart", () => {
  let helm: Helm;
  beforeAll(() => {
    helm = createHelm();
  });
  afterAll(() => helm?.close());

  const run = async (...args: readonly string[]): Promise<{ code: unknown; output: string }> => {
    const child = helm.start(...args);
    return { code: await child.ended, output: child.output() };
  };

  it.each([
    ["the manager", []],
    [
      "all parts",
      [
        "agent.enabled=true",
        "agent.clusterName=m1",
        "plane.enabled=true",
        "detector.enabled=true",
        "detector.clusterName=m1",
        "dns.enabled=true",
        "dns.tsigKeySecret=transfer",
        "gateway.enabled=true",
      ],
    ],
  ])("is found good by helm lint with %s", async (_name, values) => {
    const { code, output } = await run("lint", "--strict", chart, ...set(...values));
    expect(code, output).toBe(0);
  });

  it("refuses a value that is misspelt, and an agent without a name", async () => {
    const misspelt = await run("template", chart, ...set("manager.replica=5"));
    expect(misspelt.output).toContain("additional properties 'replica' not allowed");
    const nameless = await run("template", chart, ...set("agent.enabled=true"));
    expect(nameless.output).toContain("agent.clusterName is needed");
    const detector = ["detector.enabled=true", "detector.clusterName=m1"];
    const [first, second] = ["detector.probes[0].probe=tcp", "detector.probes[0].target=x:1"];
    const typeless = await run("template", chart, ...set(...detector, first, second));
    expect(typeless.output).toContain("needs a conditionType");
    const foreign = "detector.probes[0].conditionType=Ready";
    const refused = await run("template", chart, ...set(...detector, first, second, foreign));
    expect(refused.output).toContain("does not match pattern");
  });

  it.each([
    ["the manager", [], "lifeboat-manager"],
    ["the control plane", ["manager.enabled=false", "plane.enabled=true"], "lifeboat-plane"],
  ])("has the names answered by %s, and by no other pod", async (_name, values, name) => {
    const on = ["dns.enabled=true", "dns.zone=example.com", "dns.tsigKeySecret=transfer"];
    const { output } = await run("template", chart, ...set(...values, ...on));
    const all = renderedBy(output);
    const service = all.find((one) => one.metadata.name === "lifeboat-dns");
    expect(service?.spec).toMatchObject({
      type: "LoadBalancer",
      selector: { "app.kubernetes.io/name": name },
      ports: [
        { port: 53, protocol: "UDP", targetPort: "dns" },
        { port: 53, protocol: "TCP", targetPort: "dns-tcp" },
      ],
    });
    const serving = all.filter((one) => JSON.stringify(one).includes("--dns-listen"));
    expect(serving).toHaveLength(1);
    const [container] = serving[0]?.spec.template.spec.containers ?? [];
    expect(container?.args).toEqual(
      expect.arrayContaining([
        "--dns-listen=:5353",
        "--dns-zone=example.com",
        "--federation-name=lifeboat",
        "--dns-tsig-key-file=/etc/lifeboat-dns/keys",
      ]),
    );
    expect(JSON.stringify(serving[0])).toContain('"secretName":"transfer"');
    const nowhere = await run("template", chart, ...set("manager.enabled=false", ...on));
    expect(nowhere.output).toContain("one of them answers");
  });

  it("hands flags to the install Job", async () => {
    const endpoint = "install.flags.registration-endpoint=plane.example.com:6443";
    const { output } = await run("template", chart, ...set(endpoint));
    const job = renderedBy(output).find(({ kind }) => kind === "Job");
    expect(job?.spec.template.spec.containers?.[0]?.args).toContain(
      "--registration-endpoint=plane.example.com:6443",
    );
  });

  it("has the version of the package", () => {
    const { version, appVersion } = parse(file("deploy/helm/lifeboat/Chart.yaml"));
    const ours = JSON.parse(file("packages/cli/package.json")).version;
    expect([version, appVersion]).toEqual([ours, ours]);
  });

  it("is what the plain manifests were made of: otherwise run `npm run generate:manifests`", () => {
    for (const [name, text] of renderManifests(helm.binary, chart))
      expect(file(`deploy/manifests/${name}`), name).toBe(text);
  });

  it("has the agent that `lifeboat register` prints", async () => {
    const namespace = "karmada-system";
    const values = set(...ONLY_AGENT, "image.repository=a/b", "image.tag=c", "agent.replicas=2");
    const { output } = await run("template", "lifeboat", chart, "-n", namespace, ...values);
    const printed = agentManifest({
      cluster: "m1",
      image: "a/b:c",
      namespace,
      kubeconfig: "",
      replicas: 2,
    });
    expect(sorted(renderedBy(output))).toEqual(sorted(withoutSecret(printed)));
  });

  it("has the detectors that `lifeboat register --detector` prints", async () => {
    const namespace = "karmada-system";
    const conditionType = "detector.lifeboat.dev/ShopReady";
    const target = "https://shop.svc/healthz?a=b";
    const values = set(
      "manager.enabled=false",
      "detector.enabled=true",
      "detector.clusterName=m1",
      "image.repository=a/b",
      "image.tag=c",
      "detector.probes[0].probe=dns",
      "detector.probes[1].probe=http",
      `detector.probes[1].target=${target}`,
      "detector.probes[1].targetInsecureSkipTlsVerify=true",
      `detector.probes[1].conditionType=${conditionType}`,
    );
    const { output } = await run("template", "lifeboat", chart, "-n", namespace, ...values);
    const common = { cluster: "m1", image: "a/b:c", namespace, kubeconfig: "" };
    const names = detectorManifest({
      ...common,
      condition: "ServiceDomainNameResolutionReady",
      probeFlags: [],
    });
    const probeFlags = [
      "--probe=http",
      `--target=${target}`,
      "--target-insecure-skip-tls-verify",
      `--condition-type=${conditionType}`,
    ];
    const shop = detectorManifest({ ...common, condition: conditionType, probeFlags });
    const both = [...names, ...shop.filter(({ kind }) => kind === "DaemonSet")];
    expect(sorted(renderedBy(output))).toEqual(sorted(withoutSecret(both)));
  });
});

describe("a release on a real API server", () => {
  const NAMESPACE = "lifeboat-host";
  const namespaced = `/api/v1/namespaces/${NAMESPACE}`;
  const volume = temporaryDirectory("claim");
  let image: Image;
  let server: RealApiServer;
  let helm: Helm;
  let kubelet: Kubelet;
  let ports: Readonly<
    Record<"webhook" | "health" | "plane" | "dns" | "http" | "https" | "traffic", number>
  >;
  const running: RunningContainer[] = [];

  beforeAll(async () => {
    const installed = installPackage();
    image = buildImage(installed);
    installed.remove();
    server = await startRealApiServer();
    helm = createHelm(server.kubeconfig);
    kubelet = createKubelet(image, NAMESPACE, server.call);
    const [webhook, health] = [await freePort(), await freePort()];
    const [plane, dns, http] = [await freePort(), await freePort(), await freePort()];
    const [https, traffic] = [await freePort(), await freePort()];
    ports = { webhook, health, plane, dns, http, https, traffic };
    await server.call("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: NAMESPACE },
    });
  });
  afterAll(async () => {
    for (const one of running) await one.stop("SIGKILL");
    kubelet?.close();
    helm?.close();
    await server?.stop();
    image?.remove();
    removeDirectory(volume);
  });

  const secret = (name: string, kubeconfig: string) =>
    server.call("POST", `${namespaced}/secrets`, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name },
      stringData: { kubeconfig },
    });
  const read = async (path: string): Promise<Rendered> => {
    const { code, body } = await server.call("GET", path);
    expect(code, path).toBe(200);
    return body as Rendered;
  };
  const start = async (
    spec: PodSpec,
    claims?: Record<string, string>,
  ): Promise<RunningContainer> => {
    const container = await kubelet.run(spec, claims);
    running.push(container);
    return container;
  };

  /** Runs helm, and the Job that it waits for, as the Job's controller and a kubelet do; answers what the Job printed. */
  async function release(...args: readonly string[]): Promise<string> {
    const child = helm.start(
      ...args,
      "lifeboat",
      chart,
      "-n",
      NAMESPACE,
      ...set(
        `manager.webhookUrl=https://127.0.0.1:${ports.webhook}`,
        `manager.ports.webhook=${ports.webhook}`,
        `manager.ports.health=${ports.health}`,
        "manager.flags.feature-gates=Failover=true",
        "manager.env[0].name=LIFEBOAT_LOG_LEVEL",
        "manager.env[0].value=info",
        "plane.enabled=true",
        `plane.port=${ports.plane}`,
        "dns.enabled=true",
        `dns.port=${ports.dns}`,
        "gateway.enabled=true",
        `gateway.ports.http=${ports.http}`,
        `gateway.ports.https=${ports.https}`,
        `gateway.ports.health=${ports.traffic}`,
      ),
    );
    const path = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs/lifeboat-install`;
    const job = await eventually(async () => {
      const { body } = await server.call("GET", path);
      expect(body).toMatchObject({ kind: "Job", metadata: { generation: 1 } });
      expect((body as { status?: object }).status).toEqual({});
      return body as Rendered;
    });
    const install = await start(job.spec.template.spec);
    expect(await install.ended, install.output()).toBe(0);
    const at = new Date().toISOString();
    const met = (type: string) => ({ type, status: "True", lastTransitionTime: at });
    const status = {
      startTime: at,
      completionTime: at,
      succeeded: 1,
      conditions: [met("SuccessCriteriaMet"), met("Complete")],
    };
    const patched = await server.call(
      "PATCH",
      `${path}/status`,
      { status },
      { "content-type": "application/merge-patch+json" },
    );
    expect(patched.code, JSON.stringify(patched.body)).toBe(200);
    expect(await child.ended, child.output()).toBe(0);
    return install.output();
  }

  it("prepares the control plane by its Job, and again at an upgrade", async () => {
    await secret("lifeboat-install-kubeconfig", readFileSync(server.kubeconfig, "utf8"));
    expect(await release("install")).toContain("clusterrole/lifeboat-manager created");
    const again = await release("upgrade");
    expect(again).toContain("clusterrole/lifeboat-manager unchanged");
    expect(again).not.toMatch(/created|configured/);
  });

  it("runs the manager from its Deployment until it is ready, and admission asks it", async () => {
    await secret("lifeboat-manager-kubeconfig", whole(await managerKubeconfig(server)));
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/lifeboat-manager`;
    const { spec } = await read(path);
    expect(spec.replicas).toBe(3);
    const manager = await start(spec.template.spec);
    await manager.printed(/^ready$/m);
    await manager.printed(/^leading$/m);
    const [container] = spec.template.spec.containers;
    for (const probe of ["livenessProbe", "readinessProbe"] as const) {
      const { httpGet } = container?.[probe] ?? {};
      const answer = await fetch(
        `http://127.0.0.1:${portOf(container, httpGet?.port)}${httpGet?.path}`,
      );
      expect(answer.status, probe).toBe(200);
    }
    const asked = ["@127.0.0.1", "-p", `${ports.dns}`, "SOA", "lifeboat.svc.cluster.local"];
    expect((await promisify(execFile)("dig", asked)).stdout).toContain("status: NOERROR");
    const refused = await server.call("POST", "/apis/cluster.karmada.io/v1alpha1/clusters", {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name: "a.b" },
      spec: { syncMode: "Push" },
    });
    expect(JSON.stringify(refused.body)).toContain("check-orders.lifeboat.dev");
    // The environment of the Deployment counts: without it there is no line of this level.
    expect(manager.output()).toContain('"level":"info"');
    expect(await manager.terminate(), manager.output()).toBe(0);
  });

  it("runs a load balancer from its Deployment until it is ready, with the account that was installed for it", async () => {
    const account = await accountKubeconfig(server, "lifeboat-gateway");
    await secret("lifeboat-gateway-kubeconfig", whole(account));
    const { spec } = await read(
      `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/lifeboat-gateway`,
    );
    const gateway = await start(spec.template.spec);
    await gateway.printed(/^ready$/m);
    const [container] = spec.template.spec.containers;
    for (const probe of ["livenessProbe", "readinessProbe"] as const) {
      const { httpGet } = container?.[probe] ?? {};
      const port = portOf(container, httpGet?.port);
      const answer = await fetch(`http://127.0.0.1:${port}${httpGet?.path}`);
      expect(answer.status, probe).toBe(200);
    }
    // No ingress is there: the load balancer itself answers.
    expect((await fetch(`http://127.0.0.1:${ports.http}/`)).status).toBe(404);
    expect(await gateway.terminate(), gateway.output()).toBe(0);
  });

  it("runs the embedded control plane from its StatefulSet, on a volume that belongs to root", async () => {
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/lifeboat`;
    const { spec } = await read(path);
    const plane = await start(spec.template.spec, { data: volume });
    await plane.printed(/^ready$/m);
    expect(plane.output()).toContain(`https://lifeboat.${NAMESPACE}.svc:${ports.plane}`);
    const [container] = spec.template.spec.containers;
    for (const probe of ["livenessProbe", "readinessProbe"] as const) {
      const { httpGet } = container?.[probe] ?? {};
      expect(httpGet?.scheme).toBe("HTTPS");
      const port = portOf(container, httpGet?.port);
      await eventually(async () => expect(await answered(port, httpGet?.path ?? "")).toBe(200));
    }
    expect(await plane.terminate(), plane.output()).toBe(0);
  });

  it("takes no kind away when it is uninstalled", async () => {
    const child = helm.start("uninstall", "lifeboat", "-n", NAMESPACE);
    expect(await child.ended, child.output()).toBe(0);
    await wait(500);
    const kind = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/works.work.karmada.io";
    const { body } = await server.call("GET", kind);
    expect(body).not.toHaveProperty("metadata.deletionTimestamp");
    expect(body).toHaveProperty("metadata.uid");
  });
});

/** A kubeconfig without names of files, for a Secret. */
function whole(path: string): string {
  const kubeconfig = JSON.parse(readFileSync(path, "utf8"));
  const { cluster } = kubeconfig.clusters[0];
  const authority = readFileSync(cluster["certificate-authority"]).toString("base64");
  kubeconfig.clusters[0].cluster = {
    server: cluster.server,
    "certificate-authority-data": authority,
  };
  return JSON.stringify(kubeconfig);
}

function portOf(container: PodContainer | undefined, port: string | number | undefined): number {
  if (typeof port === "number") return port;
  const found = container?.ports?.find(({ name }) => name === port);
  if (found === undefined) throw new Error(`no port is named ${port}`);
  return found.containerPort;
}

/** The code of an answer, asked without credentials and without looking at the certificate, as a kubelet does. */
function answered(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, rejectUnauthorized: false };
    const sent = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.once("error", reject);
    sent.end();
  });
}
