/**
 * `npm run bench:api`: our API server beside kube-apiserver + etcd, one after the other in the same run, over TLS, with
 * durable acknowledgement on both sides. The load comes from outside the servers' processes: gets from h2load where it is
 * installed, everything else from a Go program (load/), because h2load can neither name objects nor read watches.
 *
 * Options: `--objects N` (default 10000), `--only lifeboat|kubernetes`, `--rights`: ours alone, by a master and by a user whose
 * rights are roles, to show what rights cost: more than 10 % of CPU fails.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { lifeboatCommand, startLifeboat } from "../../tests/support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../../tests/support/processes.ts";
import { startRealApiServer } from "../../tests/support/real-api-server.ts";

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "10000" },
    only: { type: "string" },
    connections: { type: "string", default: "32" },
    rights: { type: "boolean", default: false },
  },
});
const objects = Number(values.objects);

interface Measured {
  readonly operation: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly seconds: number;
  readonly requests: number;
  readonly errors: number;
  readonly firstError?: string;
  /** CPU time of the server per request: steadier than wall time on a busy machine. */
  readonly cpuMicroseconds: number;
}

/** A server under test: where it is and which processes are its memory. */
interface Subject {
  readonly url: string;
  readonly kubeconfig: string;
  readonly token: string;
  readonly pids: readonly number[];
  /** What it printed, for when it does not behave. */
  output(): string;
  stop(): Promise<void>;
}

interface Report {
  readonly rows: ReadonlyMap<string, Measured>;
  readonly idleMb: number;
  readonly loadedMb: number;
}

const directory = temporaryDirectory("bench");
const generator = buildGenerator();
const hasH2load = isInstalled("h2load");
const bodyFile = join(directory, "deployment.json");
writeFileSync(bodyFile, benchDeployment());
/** What rights may cost: the server's CPU for a user with a role, in terms of that for a master. */
const MOST_FOR_RIGHTS = 1.1;
const TOKEN = "bench-token";
const USER_TOKEN = "bench-user-token";
const USER = "bench-user";
const tokenFile = join(directory, "tokens.csv");
writeFileSync(
  tokenFile,
  `${TOKEN},bench,bench,"system:masters"\n${USER_TOKEN},${USER},${USER},"team"\n`,
  { mode: 0o600 },
);

try {
  await main();
} finally {
  removeDirectory(directory);
}

async function main(): Promise<void> {
  print(
    `${objects} Deployments of ${readFileSync(bodyFile).length} bytes, ${values.connections} connections, ${cpus().length} cores`,
  );
  if (values.rights) {
    // In this order, so that a machine that gets slower or faster does so for both.
    const first = await measure("by a master", startOurs);
    const users = [
      await measure("by a user with edit", startOursWithUser),
      await measure("by a user with edit", startOursWithUser),
    ];
    printRights([first, await measure("by a master", startOurs)], users);
    return;
  }
  const ours = values.only === "kubernetes" ? undefined : await measure("lifeboat", startOurs);
  const theirs =
    values.only === "lifeboat" ? undefined : await measure("kube-apiserver + etcd", startTheirs);
  printTable(ours, theirs);
}

async function startOurs(): Promise<Subject> {
  const running = await startLifeboat({ args: ["--token-auth-file", tokenFile] });
  const { pid } = running.process;
  return { ...running, token: TOKEN, pids: [pid], output: () => running.process.output() };
}

/** The same, used by a user whose rights come from the role `edit` in one namespace. */
async function startOursWithUser(): Promise<Subject> {
  const ours = await startOurs();
  const kubeconfig = join(directory, "user.kubeconfig");
  const role = ["--role", "edit", "-n", "default", "-o", kubeconfig];
  await promisify(execFile)(lifeboatCommand, ["users", "add", USER, ...role], {
    env: { ...process.env, KUBECONFIG: ours.kubeconfig },
  });
  return { ...ours, kubeconfig, token: USER_TOKEN };
}

async function startTheirs(): Promise<Subject> {
  const running = await startRealApiServer({ flags: [`--token-auth-file=${tokenFile}`] });
  const pids = [running.pids.etcd, running.pids.apiserver];
  return { ...running, token: TOKEN, pids, output: () => "" };
}

async function measure(name: string, start: () => Promise<Subject>): Promise<Report | undefined> {
  let subject: Subject;
  try {
    subject = await start();
  } catch (error) {
    print(
      `${name}: not measured, it cannot run here: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
  try {
    return await drive(name, subject);
  } catch (error) {
    print(subject.output());
    throw error;
  } finally {
    await subject.stop();
  }
}

async function drive(name: string, subject: Subject): Promise<Report> {
  const rows = new Map<string, Measured>();
  const load = async (
    operation: string,
    count: number,
    extra: readonly string[] = [],
  ): Promise<void> => {
    const before = cpuSeconds(subject.pids);
    const answered = await runLoad(subject, operation, count, extra);
    const cpu = cpuSeconds(subject.pids) - before;
    const measured = { ...answered, cpuMicroseconds: (cpu / answered.requests) * 1e6 };
    rows.set(operation, measured);
    const trouble =
      measured.errors > 0 ? `, ${measured.errors} errors: ${measured.firstError}` : "";
    print(`${name}: ${operation} ${Math.round(measured.perSecond)}/s${trouble}`);
    if (measured.errors > 0) throw new Error(`${name} failed under load`);
  };
  const idleMb = anonymousMb(subject.pids);
  await load("create", objects, ["-body", bodyFile]);
  const loadedMb = anonymousMb(subject.pids);
  await load("get", objects * 2);
  await load("patch", objects);
  await load("list", 5);
  await load("fanout", 200, ["-watchers", "500", "-c", "50"]);
  return { rows, idleMb, loadedMb };
}

/** What a generator tells; the CPU time is taken by whoever runs it. */
type Answered = Omit<Measured, "cpuMicroseconds">;

async function runLoad(
  subject: Subject,
  operation: string,
  count: number,
  extra: readonly string[],
): Promise<Answered> {
  const url = `${subject.url}/apis/apps/v1/namespaces/default/deployments`;
  if (operation === "get" && hasH2load) return runH2load(url, count, subject.token);
  const credentials = extractCredentials(subject.kubeconfig);
  const shared = [
    "-op",
    operation,
    "-url",
    url,
    "-n",
    String(count),
    "-objects",
    String(objects),
    ...credentials,
  ];
  const { stdout } = await promisify(execFile)(generator, [
    ...shared,
    "-c",
    values.connections,
    ...extra,
  ]);
  return JSON.parse(stdout) as Answered;
}

async function runH2load(url: string, count: number, token: string): Promise<Answered> {
  const urls = join(directory, "urls.txt");
  writeFileSync(urls, Array.from({ length: objects }, (_, i) => `${url}/bench-${i}`).join("\n"));
  const header = `authorization: Bearer ${token}`;
  const args = ["-n", String(count), "-c", values.connections, "-m", "1", "-H", header, "-i", urls];
  const { stdout } = await promisify(execFile)("h2load", args, { maxBuffer: 64 << 20 });
  const [, seconds = "", unit = "s", perSecond = ""] =
    /finished in ([\d.]+)(ms|s), ([\d.]+) req\/s/.exec(stdout) ?? [];
  const [, good = "0"] = /status codes: (\d+) 2xx/.exec(stdout) ?? [];
  return {
    operation: "get",
    requests: count,
    errors: count - Number(good),
    firstError: stdout.slice(-600),
    seconds: Number(seconds) / (unit === "ms" ? 1000 : 1),
    perSecond: Number(perSecond),
    p50Ms: 0,
    p99Ms: 0,
  };
}

function isInstalled(command: string): boolean {
  return spawnSync(command, ["--version"]).status === 0;
}

function buildGenerator(): string {
  const program = join(directory, "load");
  try {
    execFileSync("go", ["build", "-o", program, "."], {
      cwd: fileURLToPath(new URL("load", import.meta.url)),
    });
  } catch (error) {
    throw new Error("bench:api needs Go for its load generator", { cause: error });
  }
  return program;
}

/** Writes the certificates inside a kubeconfig to files, as flags for the generator. */
function extractCredentials(kubeconfig: string): readonly string[] {
  const text = readFileSync(kubeconfig, "utf8");
  const flags: string[] = [];
  const parts = [
    ["-ca", "certificate-authority-data"],
    ["-cert", "client-certificate-data"],
    ["-key", "client-key-data"],
  ] as const;
  for (const [flag, field] of parts) {
    const match = new RegExp(`${field}"?:\\s*"?([A-Za-z0-9+/=]+)`).exec(text);
    if (match === null) throw new Error(`${kubeconfig} has no ${field}`);
    const file = join(directory, `${field}.pem`);
    writeFileSync(file, Buffer.from(match[1] ?? "", "base64"), { mode: 0o600 });
    flags.push(flag, file);
  }
  return flags;
}

/** User and system time of the processes so far. The kernel counts in hundredths of a second. */
function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / 100;
}

/** Memory that is the processes' own: neither files nor what other processes share. */
function anonymousMb(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids) {
    const match = /^Anonymous:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"));
    kilobytes += Number(match?.[1] ?? 0);
  }
  return kilobytes / 1024;
}

function benchDeployment(): string {
  const env = Array.from({ length: 14 }, (_, i) => ({
    name: `SETTING_${i}`,
    value: `value-of-setting-number-${i}`,
  }));
  const probe = {
    httpGet: { path: "/healthz", port: 8080, scheme: "HTTP" },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  };
  const labels = {
    app: "bench",
    tier: "backend",
    team: "platform",
    "app.kubernetes.io/name": "NAME",
  };
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "NAME",
      namespace: "default",
      labels,
      annotations: { note: "x".repeat(900) },
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "bench" } },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "main",
              image: "registry.example/team/bench:1.2.3",
              args: ["--serve", "--port=8080"],
              ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
              env,
              resources: {
                requests: { cpu: "250m", memory: "256Mi" },
                limits: { cpu: "1", memory: "512Mi" },
              },
              livenessProbe: probe,
              readinessProbe: probe,
              volumeMounts: [{ name: "data", mountPath: "/data" }],
            },
          ],
          volumes: [{ name: "data", emptyDir: {} }],
        },
      },
    },
  });
}

type Reports = readonly (Report | undefined)[];

/** What rights cost, in CPU time of the server: wall time is that of a busy machine. */
function printRights(masters: Reports, users: Reports): void {
  const line = (...cells: readonly string[]): void =>
    print(cells.map((cell, i) => (i === 0 ? cell.padEnd(34) : cell.padStart(12))).join(""));
  const mean = (reports: Reports, operation: string): number => {
    const costs = reports.map((report) => report?.rows.get(operation)?.cpuMicroseconds ?? 0);
    return costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
  };
  print("");
  line("server CPU, us", "master", "with edit", "ratio", "aim");
  for (const operation of ["create", "get", "patch", "list", "fanout"]) {
    const [by, as] = [mean(masters, operation), mean(users, operation)];
    line(
      `per ${operation}`,
      by.toFixed(0),
      as.toFixed(0),
      `${(as / by).toFixed(2)}x`,
      `<= ${MOST_FOR_RIGHTS.toFixed(2)}x`,
    );
    // What could not be measured is no number, and fails too.
    if (!(as / by <= MOST_FOR_RIGHTS)) process.exitCode = 1;
  }
}

function printTable(ours: Report | undefined, theirs: Report | undefined): void {
  const line = (label: string, mine: string, other: string, ratio: string, aim: string): void => {
    print(
      `${label.padEnd(34)}${mine.padStart(14)}${other.padStart(16)}${ratio.padStart(9)}${aim.padStart(8)}`,
    );
  };
  print("");
  line("", "lifeboat", "kube+etcd", "ratio", "aim");
  const rate = (label: string, operation: string, aim: string): void => {
    const mine = ours?.rows.get(operation)?.perSecond;
    const other = theirs?.rows.get(operation)?.perSecond;
    const ratio = mine === undefined || other === undefined ? "" : `${(mine / other).toFixed(1)}x`;
    const show = (value: number | undefined): string =>
      value === undefined ? "-" : value.toFixed(value < 100 ? 1 : 0);
    line(label, show(mine), show(other), ratio, aim);
  };
  rate("creates/s (durable)", "create", ">= 3x");
  rate("gets/s", "get", ">= 5x");
  rate("patches/s (durable)", "patch", ">= 5x");
  rate(`lists of ${objects} per second`, "list", ">= 2x");
  rate("fan-out, deliveries/s to 500", "fanout", ">= 4x");
  const cpu = (label: string, operation: string): void => {
    const show = (report: Report | undefined): string =>
      report?.rows.get(operation)?.cpuMicroseconds.toFixed(0) ?? "-";
    line(`server CPU per ${label}, us`, show(ours), show(theirs), "", "");
  };
  cpu("create", "create");
  cpu("get", "get");
  cpu("patch", "patch");
  cpu("delivery", "fanout");
  const p99 = (report: Report | undefined): string =>
    report?.rows.get("create")?.p99Ms.toFixed(1) ?? "-";
  line("create p99, ms", p99(ours), p99(theirs), "", "");
  const memory = (label: string, pick: (report: Report) => number, aim: string): void => {
    const show = (report: Report | undefined): string =>
      report === undefined ? "-" : pick(report).toFixed(0);
    const ratio =
      ours === undefined || theirs === undefined
        ? ""
        : `${(pick(ours) / pick(theirs)).toFixed(2)}x`;
    line(label, show(ours), show(theirs), ratio, aim);
  };
  memory("anonymous memory idle, MB", (report) => report.idleMb, "");
  memory(`anonymous memory with ${objects}, MB`, (report) => report.loadedMb, "<= 0.25x");
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
