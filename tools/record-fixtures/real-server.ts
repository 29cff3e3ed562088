/**
 * A real kube-apiserver with its own etcd on loopback, in a temporary directory, for the length of one recording.
 *
 * Admission plugins that change objects are off: what is recorded is what the kinds themselves do. Identity is one
 * random bearer token; the server makes its own certificate, which we then trust.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const PLUGINS_OFF = [
  "DefaultIngressClass",
  "DefaultStorageClass",
  "DefaultTolerationSeconds",
  "LimitRanger",
  "PersistentVolumeClaimResize",
  "PodSecurity",
  "PodTopologyLabels",
  "Priority",
  "ResourceQuota",
  "RuntimeClass",
  "ServiceAccount",
  "StorageObjectInUseProtection",
  "TaintNodesByCondition",
];

export interface Answer {
  readonly code: number;
  readonly body: unknown;
}

export interface RealServer {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startRealServer(): Promise<RealServer> {
  const binaries = execFileSync(
    fileURLToPath(new URL("../real-kubernetes/install.sh", import.meta.url)),
    {
      encoding: "utf8",
    },
  ).trim();
  const directory = mkdtempSync(join(tmpdir(), "record-fixtures-"));
  const [client = 0, peer = 0, secure = 0] = await freePorts(3);
  const token = randomBytes(16).toString("hex");
  writeFileSync(join(directory, "tokens.csv"), `${token},recorder,recorder,system:masters\n`, {
    mode: 0o600,
  });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(join(directory, "sa.key"), privateKey.export({ type: "pkcs8", format: "pem" }), {
    mode: 0o600,
  });

  const etcd = spawn(
    join(binaries, "etcd"),
    [
      `--data-dir=${directory}/etcd`,
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
      "--unsafe-no-fsync",
    ],
    { stdio: "ignore" },
  );
  const server = spawn(
    join(binaries, "kube-apiserver"),
    [
      `--etcd-servers=http://127.0.0.1:${client}`,
      `--secure-port=${secure}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--cert-dir=${directory}/certificates`,
      `--token-auth-file=${directory}/tokens.csv`,
      `--service-account-key-file=${directory}/sa.key`,
      `--service-account-signing-key-file=${directory}/sa.key`,
      "--service-account-issuer=https://kubernetes.default.svc",
      "--authorization-mode=RBAC",
      "--allow-privileged",
      "--service-cluster-ip-range=10.96.0.0/16",
      "--endpoint-reconciler-type=none",
      `--disable-admission-plugins=${PLUGINS_OFF.join(",")}`,
    ],
    { stdio: "ignore" },
  );
  const stop = async (): Promise<void> => {
    await end(server);
    await end(etcd);
    rmSync(directory, { recursive: true, force: true });
  };

  try {
    const agent = new Agent({
      keepAlive: true,
      ca: await readWhenThere(join(directory, "certificates", "apiserver.crt")),
    });
    const call: RealServer["call"] = (method, path, body, headers = {}) =>
      send(agent, secure, token, { method, path, body, headers });
    await untilReady(call, server);
    return { call, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function freePorts(count: number): Promise<readonly number[]> {
  const listeners = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    listeners.map(
      (listener) =>
        new Promise<number>((resolve, reject) => {
          listener.once("error", reject);
          listener.listen(0, "127.0.0.1", () => {
            const address = listener.address();
            resolve(address !== null && typeof address === "object" ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(listeners.map((listener) => new Promise((resolve) => listener.close(resolve))));
  return ports;
}

async function readWhenThere(path: string): Promise<string> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      await sleep(100);
    }
  }
  throw new Error("waiting for the server's certificate: it did not appear within a minute");
}

async function untilReady(call: RealServer["call"], server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (server.exitCode !== null)
      throw new Error(`starting kube-apiserver: it ended with ${server.exitCode}`);
    const answer = await call("GET", "/readyz").catch(() => ({ code: 0, body: "" }));
    const namespace =
      answer.code === 200 ? await call("GET", "/api/v1/namespaces/default") : answer;
    if (namespace.code === 200) return;
    await sleep(100);
  }
  throw new Error("starting kube-apiserver: it was not ready within a minute");
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

function send(agent: Agent, port: number, token: string, sent: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        host: "127.0.0.1",
        port,
        method: sent.method,
        path: sent.path,
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          ...sent.headers,
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", () =>
          resolve({
            code: incoming.statusCode ?? 0,
            body: read(Buffer.concat(chunks).toString("utf8")),
          }),
        );
      },
    );
    outgoing.once("error", reject);
    outgoing.end(sent.body === undefined ? undefined : JSON.stringify(sent.body));
  });
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const killer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(killer);
}
