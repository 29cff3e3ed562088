/** A real kube-apiserver on a real etcd, on loopback, with everything in a temporary directory. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { ApiEndpoint } from "./api-endpoint.ts";
import { kubernetesBinary } from "./kubernetes-binaries.ts";
import {
  freePort,
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "./processes.ts";

const READY_TIMEOUT_MS = 180_000;

export interface RealApiServer extends ApiEndpoint {
  /** The processes that run now: for benchmarks, whose memory counts, and for tests that let them hang. */
  readonly pids: { readonly etcd: number; readonly apiserver: number };
  /** One request with full rights. A body is sent as JSON, unless the headers say otherwise. */
  readonly call: Call;
  /** Kills it with -9; what it held stays in etcd. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, at the same address and on the same etcd; resolves when it is ready. */
  revive(): Promise<void>;
}

export interface Answer {
  readonly code: number;
  /** Parsed where it is JSON, the text where it is not. */
  readonly body: unknown;
}

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

export interface RealApiServerOptions {
  /** More flags for kube-apiserver; values of flags that take a list are added to those given here. */
  readonly flags?: readonly string[];
  /** Whether it passes requests on to the API servers of APIServices, as a front that they can authenticate. */
  readonly aggregates?: boolean;
  /** An etcd to share with others, under a prefix of its own; absent: one of its own. */
  readonly sharing?: { readonly etcd: RunningEtcd; readonly prefix: string };
}

export interface RunningEtcd {
  /** Of the process that runs now. */
  readonly pid: number;
  readonly url: string;
  /** Kills it with -9; what it has acknowledged stays on its disk. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, at the same address with the same data; resolves when it serves. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an etcd on free ports, with its data in a temporary directory. */
export async function startEtcd(): Promise<RunningEtcd> {
  const directory = temporaryDirectory("etcd");
  const url = `http://127.0.0.1:${await freePort()}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  const start = (): RunningProcess =>
    startProcess(kubernetesBinary("etcd"), [
      `--data-dir=${directory}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peers}`,
      "--log-level=error",
    ]);
  let etcd = start();
  return {
    get pid() {
      return etcd.pid;
    },
    url,
    kill: async () => {
      await etcd.stop("SIGKILL");
    },
    revive: async () => {
      etcd = start();
      await untilHealthy(etcd, url);
    },
    stop: async () => {
      await etcd.stop("SIGKILL");
      removeDirectory(directory);
    },
  };
}

async function untilHealthy(etcd: RunningProcess, url: string): Promise<void> {
  let ended = false;
  void etcd.ended.then(() => (ended = true));
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (
    !(await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (ended || performance.now() > deadline)
      throw new Error(`etcd is not healthy:\n${etcd.output().slice(-4000)}`);
    await wait(100);
  }
}

export async function startRealApiServer(
  options: RealApiServerOptions = {},
): Promise<RealApiServer> {
  const directory = temporaryDirectory("kube");
  makeCertificates(directory, options.aggregates ?? false);
  const etcd = options.sharing?.etcd ?? (await startEtcd());
  const port = await freePort();
  const file = (name: string): string => join(directory, name);
  const args = [
    `--etcd-servers=${etcd.url}`,
    ...(options.sharing === undefined ? [] : [`--etcd-prefix=/${options.sharing.prefix}`]),
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--cert-dir=${directory}`,
    `--tls-cert-file=${file("server.crt")}`,
    `--tls-private-key-file=${file("server.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--service-account-key-file=${file("server.key")}`,
    `--service-account-signing-key-file=${file("server.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    "--authorization-mode=Node,RBAC",
    "--service-cluster-ip-range=10.96.0.0/16",
    "--endpoint-reconciler-type=none",
    "--disable-admission-plugins=ServiceAccount",
    "--max-requests-inflight=2000",
    "--max-mutating-requests-inflight=1000",
    ...(options.aggregates === true
      ? [
          `--requestheader-client-ca-file=${file("front-ca.crt")}`,
          `--requestheader-allowed-names=${FRONT_NAME}`,
          "--requestheader-username-headers=X-Remote-User",
          "--requestheader-group-headers=X-Remote-Group",
          "--requestheader-extra-headers-prefix=X-Remote-Extra-",
          `--proxy-client-cert-file=${file("front.crt")}`,
          `--proxy-client-key-file=${file("front.key")}`,
        ]
      : []),
    ...(options.flags ?? []),
  ];
  const start = (): RunningProcess => startProcess(kubernetesBinary("kube-apiserver"), args);
  let apiserver = start();
  const url = `https://127.0.0.1:${port}`;
  const kubeconfig = file("admin.kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(directory, url), { mode: 0o600 });
  const agent = new Agent({
    keepAlive: true,
    ca: readFileSync(file("ca.crt")),
    cert: readFileSync(file("admin.crt")),
    key: readFileSync(file("admin.key")),
  });
  const stop = async (): Promise<void> => {
    agent.destroy();
    await apiserver.stop("SIGKILL");
    if (options.sharing === undefined) await etcd.stop();
    removeDirectory(directory);
  };
  const call: Call = (method, path, body, headers = {}) =>
    send(agent, port, { method, path, body, headers });
  try {
    await untilReady(apiserver, call);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    kubeconfig,
    stop,
    call,
    get pids() {
      return { etcd: etcd.pid, apiserver: apiserver.pid };
    },
    kill: async () => {
      await apiserver.stop("SIGKILL");
    },
    revive: async () => {
      apiserver = start();
      await untilReady(apiserver, call);
    },
  };
}

const FRONT_NAME = "front-proxy-client";

function makeCertificates(directory: string, withFront: boolean): void {
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: directory, stdio: "ignore" });
  };
  const newKey = ["req", "-newkey", "rsa:2048", "-nodes"];
  const authority = (name: string): void => {
    const files = ["-keyout", `${name}.key`, "-out", `${name}.crt`];
    openssl(...newKey, "-x509", "-days", "30", "-subj", `/CN=test-${name}`, ...files);
  };
  authority("ca");
  const leaf = (name: string, subject: string, extension: string, by = "ca"): void => {
    writeFileSync(join(directory, `${name}.ext`), extension);
    openssl(...newKey, "-subj", subject, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    const ca = ["-CA", `${by}.crt`, "-CAkey", `${by}.key`, "-CAcreateserial"];
    openssl(
      "x509",
      "-req",
      "-days",
      "30",
      "-in",
      `${name}.csr`,
      ...ca,
      "-extfile",
      `${name}.ext`,
      "-out",
      `${name}.crt`,
    );
  };
  leaf(
    "server",
    "/CN=kube-apiserver",
    "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth",
  );
  leaf("admin", "/O=system:masters/CN=admin", "extendedKeyUsage=clientAuth");
  if (!withFront) return;
  authority("front-ca");
  leaf("front", `/CN=${FRONT_NAME}`, "extendedKeyUsage=clientAuth", "front-ca");
}

function kubeconfigText(directory: string, server: string): string {
  const base64 = (name: string): string => readFileSync(join(directory, name)).toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "real", cluster: { server, "certificate-authority-data": base64("ca.crt") } },
    ],
    users: [
      {
        name: "admin",
        user: {
          "client-certificate-data": base64("admin.crt"),
          "client-key-data": base64("admin.key"),
        },
      },
    ],
    contexts: [{ name: "real", context: { cluster: "real", user: "admin" } }],
    "current-context": "real",
  });
}

/** Waits for readiness and for the namespace `default`, which the server makes a moment later. */
async function untilReady(apiserver: RunningProcess, call: Call): Promise<void> {
  let ended = false;
  void apiserver.ended.then(() => (ended = true));
  const isThere = (path: string): Promise<boolean> =>
    call("GET", path).then(
      ({ code }) => code === 200,
      () => false,
    );
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!(await isThere("/readyz")) || !(await isThere("/api/v1/namespaces/default"))) {
    if (ended || performance.now() > deadline)
      throw new Error(`kube-apiserver is not ready:\n${apiserver.output().slice(-4000)}`);
    await wait(100);
  }
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

function send(agent: Agent, port: number, sent: Sent): Promise<Answer> {
  const { method, path, body } = sent;
  const headers = { "content-type": "application/json", ...sent.headers };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { agent, host: "127.0.0.1", port, method, path, headers },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.once("error", reject);
        incoming.once("end", () =>
          resolve({ code: incoming.statusCode ?? 0, body: read(Buffer.concat(chunks)) }),
        );
      },
    );
    outgoing.once("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function read(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
