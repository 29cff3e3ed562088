/**
 * `npm run bench:dns -- [--names 10000] [--seconds 8]`: our DNS server beside CoreDNS with its `file` plugin, in one run: the same
 * zone, the same questions, the same generator (dnsperf, Debian's package). Prints answers per second of the server's CPU, the latency
 * that a single asker sees while the generator sends half of the measured maximum, and how much answers amplify. Where it may (root,
 * `chrt`), server, generator and asker run before everything else on the machine: otherwise the tail of that latency is the wait for a
 * core, which is printed beside it, and the generator sends in bursts after it had to wait itself.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { zoneLines } from "@lifeboat/dns";
import { freePort } from "../../tests/support/processes.ts";
import { amplification } from "./amplification.ts";
import { exchange, question } from "./ask.ts";
import { APEX, benchZone, questions } from "./zone.ts";

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    names: { type: "string", default: "10000" },
    seconds: { type: "string", default: "8" },
  },
});
const NAMES = Number(values.names);
const SECONDS = Number(values.seconds);
const CLOCK_TICKS = 100;
const SAMPLES_PER_SECOND = 200;

const directory = mkdtempSync(join(tmpdir(), "lifeboat-bench-dns-"));
const { zone, sets } = benchZone(NAMES);
const asked = join(directory, "questions");
writeFileSync(asked, questions(sets, 20_000));

interface Server {
  readonly name: string;
  readonly child: ChildProcess;
  readonly port: number;
}

interface Figures {
  readonly perSecond: number;
  readonly perCpuSecond: number;
  readonly lost: number;
  /** The answers per second while latency was measured. */
  readonly half: number;
  readonly p50: number;
  readonly p99: number;
  /** For how much of the time in which latency was measured the server, and the asker, could run and had no core. */
  readonly serverWaited: number;
  readonly askerWaited: number;
}

async function startOurs(): Promise<Server> {
  const port = await freePort();
  const program = fileURLToPath(new URL("serve.ts", import.meta.url));
  const args = ["--conditions=@lifeboat/source", "--import", "tsx", program];
  const child = spawn(process.execPath, [...args, String(port), String(NAMES)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return { name: "Lifeboat", child, port };
}

async function startCoreDns(): Promise<Server> {
  const install = fileURLToPath(new URL("../coredns/install.sh", import.meta.url));
  const binary = (await run(install)).stdout.trim();
  const port = await freePort();
  writeFileSync(join(directory, "zone"), `${zoneLines(zone).join("\n")}\n`);
  const config = join(directory, "Corefile");
  writeFileSync(
    config,
    `${APEX}:${port} {\n  bind 127.0.0.1\n  file ${join(directory, "zone")}\n}\n`,
  );
  const child = spawn(binary, ["-conf", config], { stdio: "ignore" });
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await latencyOf(port)) !== undefined) break;
    await wait(100);
  }
  return { name: "CoreDNS", child, port };
}

/** CPU that a process has used, in seconds. */
function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
}

/** How long the threads of a process could run and had no core, in seconds, all together. */
function waitedOf(pid: number | undefined): number {
  const waits = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const [, waited] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    return Number(waited) / 1e9;
  });
  return waits.reduce((sum, one) => sum + one, 0);
}

/** How many questions wait for their answers at most, when as many as possible are asked. */
const WITHOUT_LIMIT = ["-q", "200"];
/**
 * And at half of that. The generator makes up for what it sent too late all at once: what waits behind two hundred questions waits for
 * milliseconds, in any server. Five wait on the average, so this limit is met in such bursts only.
 */
const BURST = "60";

async function load(
  port: number,
  seconds: number,
  rate?: number,
): Promise<{ answers: number; lost: number }> {
  const limit = rate === undefined ? WITHOUT_LIMIT : ["-q", BURST, "-Q", String(Math.round(rate))];
  const args = ["-s", "127.0.0.1", "-p", String(port), "-d", asked, "-l", String(seconds), "-e"];
  const command = ["dnsperf", ...args, "-c", "8", ...limit];
  const [program = "", ...rest] = isFirst
    ? ["chrt", "-f", String(PRIORITIES.generator), ...command]
    : command;
  const { stdout } = await run(program, rest);
  const count = (what: RegExp): number => Number(what.exec(stdout)?.[1] ?? Number.NaN);
  return { answers: count(/Queries completed:\s+(\d+)/), lost: count(/Queries lost:\s+(\d+)/) };
}

const SOA = question(APEX, 6);

/** How long one question takes, in milliseconds; undefined: no answer came. */
async function latencyOf(port: number): Promise<number | undefined> {
  return (await exchange(port, SOA))?.milliseconds;
}

async function sample(port: number, seconds: number): Promise<readonly number[]> {
  const taken: Promise<number | undefined>[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    taken.push(latencyOf(port));
    await wait(1000 / SAMPLES_PER_SECOND);
  }
  const found = (await Promise.all(taken)).map((value) => value ?? 1000);
  return found.sort((a, b) => a - b);
}

/** In real time: the asker before the server, the server before the generator. */
const PRIORITIES = { asker: 30, server: 20, generator: 10 } as const;
/** It takes root, and a machine that lets root do it. */
const isFirst = await run("chrt", ["-f", "1", "true"]).then(
  () => true,
  () => false,
);

/** A process that was started already, and all its threads, come before everything else; `more`: but not what it starts. */
async function first(
  pid: number | undefined,
  priority: number,
  more: string[] = [],
): Promise<void> {
  if (isFirst) await run("chrt", [...more, "-a", "-f", "-p", String(priority), String(pid)]);
}

async function measure(server: Server): Promise<Figures> {
  await first(server.child.pid, PRIORITIES.server);
  await load(server.port, 3);
  const before = cpuOf(server.child);
  const { answers, lost } = await load(server.port, SECONDS);
  const cpu = cpuOf(server.child) - before;
  const perSecond = answers / SECONDS;
  const waited = (): readonly [number, number] => [
    waitedOf(server.child.pid),
    waitedOf(process.pid),
  ];
  const [server0, asker0] = waited();
  const loading = load(server.port, SECONDS, perSecond / 2);
  const taken = await sample(server.port, SECONDS - 1);
  const half = (await loading).answers / SECONDS;
  const [server1, asker1] = waited();
  const at = (part: number): number => taken[Math.floor(taken.length * part)] ?? Number.NaN;
  return {
    perSecond,
    perCpuSecond: answers / cpu,
    lost,
    half,
    p50: at(0.5),
    p99: at(0.99),
    serverWaited: (server1 - server0) / SECONDS,
    askerWaited: (asker1 - asker0) / SECONDS,
  };
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

console.log(
  `${zone.size} names, ${SECONDS} s each; a quarter SRV, half A, a quarter NXDOMAIN; EDNS`,
);
await first(process.pid, PRIORITIES.asker, ["--reset-on-fork"]);
const figures: Figures[] = [];
for (const start of [startOurs, startCoreDns]) {
  const server = await start();
  try {
    const found = await measure(server);
    figures.push(found);
    console.log(
      `${server.name.padEnd(9)} ${Math.round(found.perCpuSecond)} answers per CPU second, ` +
        `${Math.round(found.perSecond)}/s at most (${found.lost} lost); ` +
        `at ${Math.round(found.half)}/s p50 ${found.p50.toFixed(2)} ms, p99 ${found.p99.toFixed(2)} ms ` +
        `(without a core: server ${percent(found.serverWaited)}, asker ${percent(found.askerWaited)} of the time)`,
    );
    if (start === startOurs) for (const line of await amplification(server.port)) console.log(line);
  } finally {
    server.child.kill();
  }
}
const [ours, theirs] = figures;
if (ours !== undefined && theirs !== undefined)
  console.log(
    `${(ours.perCpuSecond / theirs.perCpuSecond).toFixed(2)} times the answers per CPU second`,
  );
rmSync(directory, { recursive: true, force: true });
