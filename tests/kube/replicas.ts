/**
 * Three replicas of the manager on a real control plane whose API server keeps an audit log: which replica wrote what, and when.
 * Admission reaches whichever of them listens, as through a Service.
 */
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes.ts";
import { freePort, removeDirectory, temporaryDirectory } from "../support/processes.ts";
import type { RealApiServer, RunningEtcd } from "../support/real-api-server.ts";
import type { Started } from "../support/started.ts";
import {
  install,
  managerKubeconfig,
  startManager,
  startRealPlane,
  startRegisteringPlane,
} from "./real-plane.ts";

/** One request of a replica, as the API server saw it. */
export interface AuditedRequest {
  /** The identity of the credential: each replica has one of its own. */
  readonly credential: string;
  /** A watch that begins with what is there, which stands for a list, is a `stream`. */
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  /** When the API server got it, in milliseconds. */
  readonly at: number;
  /** Whether it was carried out. */
  readonly isAccepted: boolean;
}

export interface Replica {
  readonly name: string;
  readonly kubeconfig: string;
  process: RunningProcess;
  /** Starts it in its place. */
  readonly start: () => Promise<RunningProcess>;
}

export interface Replicas {
  readonly server: RealApiServer;
  readonly all: readonly Replica[];
  /** The one that leads now, by what it printed last. */
  leader(): Replica;
  /** How often any of them has begun to lead, also before it was started again. */
  terms(): number;
  /** Starts one again that has ended. */
  restart(replica: Replica): Promise<void>;
  /** Every request of a replica so far. */
  audited(): readonly AuditedRequest[];
  /** The credential of a replica, as the audit log names it. */
  credentialOf(replica: Replica): string;
}

const HOST = "127.0.0.1";

const ACCOUNT = "system:serviceaccount:lifeboat-system:lifeboat-manager";
const POLICY = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    // A watch is noted when it begins, everything else when it is over.
    { level: "Metadata", users: [ACCOUNT], verbs: ["watch"], omitStages: ["ResponseComplete"] },
    { level: "Metadata", users: [ACCOUNT], omitStages: ["ResponseStarted"] },
    { level: "None" },
  ],
};

/** Where a replica runs. */
export interface ReplicaPlace {
  /** A program and its arguments that runs the command given after them. */
  readonly under: readonly string[];
  /** Where others reach the webhook of the replica: a port of this machine, or the path of a socket. */
  readonly webhook: number | string;
}

/** Makes the place for a replica that is to reach this API server and to serve its webhook on this port. */
export type MakePlace = (
  name: string,
  server: RealApiServer,
  webhookPort: number,
) => Promise<ReplicaPlace>;

export interface ReplicasOptions {
  readonly makePlace?: MakePlace;
  /** Whether clusters can register by a token. */
  readonly registers?: boolean;
}

const HERE: MakePlace = (_name, _server, webhook) => Promise.resolve({ under: [], webhook });

export async function startReplicas(
  started: Started,
  etcd: RunningEtcd,
  flags: readonly string[],
  { makePlace = HERE, registers = false }: ReplicasOptions = {},
): Promise<Replicas> {
  const directory = temporaryDirectory("audit");
  started.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
  const log = join(directory, "audit.log");
  writeFileSync(join(directory, "policy.json"), JSON.stringify(POLICY));
  const audit = [
    `--audit-policy-file=${join(directory, "policy.json")}`,
    `--audit-log-path=${log}`,
    "--audit-log-mode=blocking",
    // Not rotated: a hundred failovers write more than the hundred megabytes after which it would be.
    "--audit-log-maxsize=100000",
  ];
  const server = registers
    ? (await startRegisteringPlane(started, etcd, { flags: audit })).server
    : await startRealPlane(started, etcd, audit);
  const ports = [await freePort(), await freePort(), await freePort()];
  const places = await Promise.all(ports.map((port, i) => makePlace(`replica${i}`, server, port)));
  const balancer = await balance(places.map(({ webhook }) => webhook));
  started.keep({ stop: () => Promise.resolve(void balancer.server.close()) });
  await install(server, balancer.port);
  let formerTerms = 0;
  const all: Replica[] = [];
  for (const [i, { under }] of places.entries()) {
    const name = `replica${i}`;
    const port = ports[i] ?? 0;
    const kubeconfig = await managerKubeconfig(server, name);
    const start = (): Promise<RunningProcess> => startManager(kubeconfig, port, flags, under);
    const replica = { name, kubeconfig, start, process: await start() };
    all.push(replica);
    started.keep({ stop: () => replica.process.stop("SIGKILL") });
  }
  return {
    server,
    all,
    leader: () => {
      const [leader, ...more] = all.filter(({ process }) => leads(process));
      if (leader === undefined || more.length > 0)
        throw new Error(`${more.length + (leader === undefined ? 0 : 1)} replicas lead`);
      return leader;
    },
    terms: () => all.reduce((sum, { process }) => sum + termsOf(process), formerTerms),
    restart: async (replica) => {
      formerTerms += termsOf(replica.process);
      replica.process = await replica.start();
    },
    audited: auditLog(log),
    credentialOf: ({ kubeconfig }) => credentialIn(kubeconfig),
  };
}

function termsOf(process: RunningProcess): number {
  return (process.output().match(/^leading$/gm) ?? []).length;
}

/** Whether what it printed last about leading is that it does. */
export function leads(process: RunningProcess): boolean {
  const told = process.output().match(/^(leading|no longer leading.*)$/gm) ?? [];
  return told.at(-1) === "leading";
}

/** Waits until another replica than this one leads; answers it. */
export function successorOf(
  replicas: Replicas,
  former: Replica,
  timeoutMs: number,
): Promise<Replica> {
  return eventually(() => {
    const next = replicas.all.find((one) => one !== former && leads(one.process));
    if (next === undefined) throw new Error(`no replica but ${former.name} leads`);
    return Promise.resolve(next);
  }, timeoutMs);
}

/** What only a leader writes where replicas share out members: all decide what they report, one decides what happens. */
const DECISIONS: ReadonlySet<string> = new Set([
  "resourcebindings",
  "evacuations",
  "evacuationslices",
  "evacuationbudgets",
]);

/** What replicas write that do not lead. */
const OF_ALL_REPLICAS = /^(leases|events|.*reviews)$/;

/**
 * The writes that only a leader makes, in the order in which the API server got them. Without Events, which replicas also report about
 * members of theirs, and of which one more or less is no harm (K5). Without reviews, which store nothing: the replica where the tunnel of
 * an agent ends asks now and then whether the agent may still have it, also where that replica does not lead.
 */
export function leadersWrites(
  replicas: Replicas,
  from: number,
  isShared = false,
): readonly AuditedRequest[] {
  return replicas
    .audited()
    .filter(
      ({ verb, resource, at }) =>
        at >= from &&
        (isShared ? DECISIONS.has(resource) : !OF_ALL_REPLICAS.test(resource)) &&
        /^(create|update|patch|delete)$/.test(verb),
    )
    .toSorted((a, b) => a.at - b.at);
}

/** Writes of one replica with none of another between them. */
export interface Stretch {
  readonly credential: string;
  readonly first: AuditedRequest;
  readonly last: AuditedRequest;
}

/** How the replicas wrote in turn: where each leads once and never again, each is one stretch. */
export function stretchesOf(writes: readonly AuditedRequest[]): readonly Stretch[] {
  return writes.reduce<readonly Stretch[]>((seen, write) => {
    const now = seen.at(-1);
    return now?.credential === write.credential
      ? [...seen.slice(0, -1), { ...now, last: write }]
      : [...seen, { credential: write.credential, first: write, last: write }];
  }, []);
}

/** One line for each stretch, to see who wrote what out of turn. */
export function stretchLines(stretches: readonly Stretch[]): string {
  const one = ({ verb, resource, name, at, isAccepted }: AuditedRequest): string =>
    `${new Date(at).toISOString()} ${verb} ${resource}/${name}${isAccepted ? "" : " (refused)"}`;
  return stretches
    .map(({ credential, first, last }) => `${credential}: ${one(first)} to ${one(last)}`)
    .join("\n");
}

/** The requests in a log, of which each call reads what has been added. The log of a weekly run is too long for one string. */
function auditLog(path: string): () => readonly AuditedRequest[] {
  const known: AuditedRequest[] = [];
  const chunk = Buffer.alloc(1 << 20);
  let offset = 0;
  /** The beginning of a line whose end has not been read yet. */
  let rest: Buffer = Buffer.alloc(0);
  return () => {
    const file = openSync(path, "r");
    try {
      for (;;) {
        const length = readSync(file, chunk, 0, chunk.length, offset);
        if (length === 0) return known;
        offset += length;
        const read = Buffer.concat([rest, chunk.subarray(0, length)]);
        const end = read.lastIndexOf("\n") + 1;
        rest = read.subarray(end);
        for (const line of read.toString("utf8", 0, end).split("\n"))
          if (line !== "") known.push(auditedOf(line));
      }
    } finally {
      closeSync(file);
    }
  };
}

function auditedOf(line: string): AuditedRequest {
  const event = JSON.parse(line) as {
    readonly verb: string;
    readonly requestURI: string;
    readonly requestReceivedTimestamp: string;
    readonly responseStatus?: { readonly code?: number };
    readonly objectRef?: { readonly resource?: string; readonly name?: string };
    readonly user: { readonly extra?: Readonly<Record<string, readonly string[]>> };
  };
  return {
    credential: event.user.extra?.["authentication.kubernetes.io/credential-id"]?.[0] ?? "",
    verb: event.requestURI.includes("sendInitialEvents=true") ? "stream" : event.verb,
    resource: event.objectRef?.resource ?? "",
    name: event.objectRef?.name ?? "",
    at: Date.parse(event.requestReceivedTimestamp),
    isAccepted: (event.responseStatus?.code ?? 0) < 300,
  };
}

/** The API server names a token by the id that is in it. */
function credentialIn(kubeconfig: string): string {
  const { users } = JSON.parse(readFileSync(kubeconfig, "utf8")) as {
    readonly users: readonly { readonly user: { readonly token: string } }[];
  };
  const [, claims = ""] = (users[0]?.user.token ?? "").split(".");
  const { jti } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { jti: string };
  return `JTI=${jti}`;
}

/** Passes each connection on to the first of the ports or sockets that takes it, beginning with another one each time. */
export async function balance(
  ends: readonly (number | string)[],
): Promise<{ readonly server: Server; readonly port: number }> {
  let turn = 0;
  const server = createServer((client) => {
    const begin = turn++;
    client.on("error", () => client.destroy());
    const tryPort = (tries: number): void => {
      if (tries >= ends.length) {
        client.destroy();
        return;
      }
      const end = ends[(begin + tries) % ends.length] ?? 0;
      const backend = connect(typeof end === "string" ? { path: end } : { port: end, host: HOST });
      let isUp = false;
      backend.once("connect", () => {
        isUp = true;
        client.pipe(backend).pipe(client);
      });
      backend.on("error", () => {
        if (isUp) client.destroy();
        else tryPort(tries + 1);
      });
      backend.once("close", () => {
        if (isUp) client.destroy();
      });
      client.once("close", () => backend.destroy());
    };
    tryPort(0);
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return { server, port: address.port };
}
