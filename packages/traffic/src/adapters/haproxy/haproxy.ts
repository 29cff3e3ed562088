/**
 * HAProxy as a provider: its configuration is rendered, its servers are drained and restored through the runtime socket, and a change
 * of routes or servers is one reload.
 *
 * 1. Nothing is started before the first table: a configuration of an earlier run is never served again as it is. An HAProxy that
 *    outlived this process is taken over and gets the first table by a reload, so that its requests go on. It is known by its process
 *    and by the configuration on its command line: the process of a number that was kept may be any other by now.
 * 2. Before a reload the states of all servers are saved where the new process reads them, so that no drain is forgotten; after it
 *    they are compared with the table, and corrected.
 * 3. A configuration that HAProxy refuses changes nothing; `apply` rejects with its sentence.
 * 4. What changed since the table before goes to HAProxy first; then all states are compared with what it reports, so that a state
 *    that something else changed is corrected, too.
 * 5. A worker that was replaced by a reload ends with its last request. Until then its requests count: the master asks each worker.
 * 6. An HAProxy that ended is started again by the next `apply`, which follows at once.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { sleep } from "@lifeboat/base";
import type { RoutingTable } from "@lifeboat/core/traffic";
import type { KitPorts } from "@lifeboat/kit";
import { poolName, type Rendered, renderConfig, type RenderedPools } from "../../haproxy/render.ts";
import {
  readServersState,
  readServerStats,
  readWorkers,
  type ReportedServer,
  stateCommands,
  usedPools,
  wantedStates,
} from "../../haproxy/states.ts";
import type { Leaving, ListenAddress, LocalProvider, ServedCertificate } from "../../provider.ts";
import { usableCertificates } from "../usable-certificates.ts";
import { RuntimeSocket } from "./runtime-socket.ts";

export interface HaproxyOptions {
  readonly listen: ListenAddress;
  readonly tlsListen?: ListenAddress;
  /** The program; found by PATH when it has no slash. */
  readonly binary: string;
  /** Where configuration, sockets and states are kept; for this instance alone. */
  readonly directory: string;
}

const START_MS = 10_000;
const LOOK_MS = 20;

/** Builds the provider; HAProxy itself starts with the first table. */
export function createHaproxy(ports: KitPorts, options: HaproxyOptions): LocalProvider {
  return new Haproxy(ports, options);
}

class Haproxy implements LocalProvider {
  readonly name = "haproxy";
  readonly #ports: KitPorts;
  readonly #options: HaproxyOptions;
  readonly #socket: RuntimeSocket;
  readonly #master: RuntimeSocket;
  #listen: ListenAddress;
  #child: ChildProcess | undefined;
  /** The master process, ours or taken over. */
  #pid: number | undefined;
  #running: (Rendered & { readonly files: string }) | undefined;
  readonly #rendered: RenderedPools = new WeakMap();
  /** The states of the last table that was carried out; undefined: unknown. */
  #states: ReadonlyMap<string, ReportedServer> | undefined;
  #isClosing = false;
  /** The ids of pools by HAProxy's names, those of workers that still end included. */
  readonly #pools = new Map<string, string>();

  constructor(ports: KitPorts, options: HaproxyOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#listen = options.listen;
    this.#socket = new RuntimeSocket(ports.clock, this.#file("runtime.sock"));
    this.#master = new RuntimeSocket(ports.clock, this.#file("master.sock"));
  }

  async open(): Promise<{ readonly port: number; readonly tlsPort?: number }> {
    mkdirSync(this.#options.directory, { recursive: true, mode: 0o700 });
    await this.#run(["-v"]);
    this.#pid = this.#survivor();
    if (this.#listen.port === 0)
      this.#listen = { ...this.#listen, port: await freePort(this.#listen) };
    const { tlsListen } = this.#options;
    return {
      port: this.#listen.port,
      ...(tlsListen !== undefined && { tlsPort: tlsListen.port }),
    };
  }

  async apply(table: RoutingTable, given: readonly ServedCertificate[]): Promise<void> {
    const certificates = usableCertificates(given, this.#ports.log).map(
      ({ hosts, certificate, key }) => ({ hosts, certificate, key }),
    );
    const files = JSON.stringify(certificates);
    const rendered = renderConfig(
      table,
      this.#renderOptions(certificates.length > 0),
      this.#rendered,
    );
    for (const { id } of table.pools) this.#pools.set(poolName(id), id);
    const isRunning = this.#isAlive();
    const isSame =
      isRunning &&
      this.#running !== undefined &&
      structureOf(this.#running.text) === structureOf(rendered.text) &&
      this.#running.files === files;
    const states = isSame ? this.#states : undefined;
    this.#states = undefined;
    if (!isSame) await this.#load(rendered, certificates, isRunning);
    else if (states !== undefined) await this.#socket.tell(stateCommands(rendered, states));
    this.#running = { ...rendered, files };
    await this.#correct(rendered);
  }

  async leaving(): Promise<ReadonlyMap<string, Leaving>> {
    const running = this.#running;
    if (running === undefined) return new Map();
    const workers = readWorkers(await this.#master.ask("show proc"));
    if (workers.length === 0) throw new Error("HAProxy's master does not name its workers");
    const isDraining = [...running.servers.values()].some(
      ({ backend }) => backend.state === "draining",
    );
    // A worker alone knows no server that was taken out.
    if (workers.length === 1 && !isDraining) return this.#forgetOldPools();
    const pools = new Map<string, Leaving>();
    for (const [i, pid] of workers.entries()) {
      const stats = readServerStats(await this.#master.ask(`@!${pid} show stat -1 4 -1`));
      for (const [name, why] of usedPools(running, stats)) {
        const pool = this.#pools.get(name);
        // A worker that was replaced takes no new requests.
        if (pool !== undefined && pools.get(pool) !== "serves")
          pools.set(pool, i === 0 ? why : "ends");
      }
    }
    return pools;
  }

  /** No worker has a pool that is not in the table any more. */
  #forgetOldPools(): ReadonlyMap<string, Leaving> {
    const names = new Set([...(this.#running?.servers.values() ?? [])].map(({ pool }) => pool));
    for (const name of this.#pools.keys()) if (!names.has(name)) this.#pools.delete(name);
    return new Map();
  }

  problem(): string | undefined {
    if (this.#isClosing) return "HAProxy is being stopped";
    return this.#isAlive() ? undefined : "HAProxy does not run";
  }

  async close(closeMs: number): Promise<void> {
    this.#isClosing = true;
    const pid = this.#pid;
    if (pid === undefined || !this.#isAlive()) return;
    const { clock } = this.#ports;
    const deadline = clock.monotonic() + closeMs;
    // Requests under way are answered; then it ends by itself.
    signalTo(pid, "SIGUSR1");
    while (this.#isAlive() && clock.monotonic() < deadline) await sleep(clock, LOOK_MS);
    if (this.#isAlive()) signalTo(pid, "SIGTERM");
    rmSync(this.#file("haproxy.pid"), { force: true });
  }

  /** Writes the configuration, and starts HAProxy with it or has the running one read it. */
  async #load(
    rendered: Rendered,
    certificates: readonly ServedCertificate[],
    isRunning: boolean,
  ): Promise<void> {
    this.#writeCertificates(certificates);
    writeWhole(this.#file("next.cfg"), rendered.text);
    await this.#run(["-c", "-q", "-f", this.#file("next.cfg")]);
    const state = isRunning ? await this.#socket.ask("show servers state") : "";
    writeWhole(this.#file("state"), state);
    renameSync(this.#file("next.cfg"), this.#file("haproxy.cfg"));
    const before = isRunning ? await this.#workerPid() : 0;
    if (isRunning) signalTo(this.#pid ?? 0, "SIGUSR2");
    else this.#start();
    await this.#untilLoaded(before);
  }

  #start(): void {
    const { binary } = this.#options;
    const output = openSync(this.#file("haproxy.log"), "w", 0o600);
    const master = `${this.#file("master.sock")},mode,600`;
    const child = spawn(binary, ["-W", "-db", "-S", master, "-f", this.#file("haproxy.cfg")], {
      // A session of its own: it goes on when this process dies.
      detached: true,
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    child.once("error", (error) => this.#ports.log.error("starting HAProxy", { error }));
    child.once("exit", (code) => {
      if (this.#child === child) this.#child = undefined;
      if (!this.#isClosing) this.#ports.log.error("HAProxy ended", { code });
    });
    child.unref();
    this.#child = child;
    this.#pid = child.pid;
    writeWhole(this.#file("haproxy.pid"), String(child.pid ?? ""));
  }

  /** Until a worker with the new configuration answers, and the master, which listens again a moment later. */
  async #untilLoaded(before: number): Promise<void> {
    const { clock } = this.#ports;
    const deadline = clock.monotonic() + START_MS;
    for (;;) {
      try {
        const pid = await this.#workerPid();
        if (pid !== 0 && pid !== before) {
          // An HAProxy that was taken over from an earlier version may have none.
          if (existsSync(this.#file("master.sock"))) await this.#master.ask("show proc");
          return;
        }
      } catch (error) {
        if (clock.monotonic() > deadline) throw error;
      }
      if (!this.#isAlive())
        throw new Error(`HAProxy ended; ${this.#file("haproxy.log")} holds its words`);
      if (clock.monotonic() > deadline) throw new Error("HAProxy does not take its configuration");
      await sleep(clock, LOOK_MS);
    }
  }

  async #workerPid(): Promise<number> {
    const info = await this.#socket.ask("show info");
    return Number(/^Pid: (\d+)$/m.exec(info)?.[1] ?? 0);
  }

  /** Makes the servers' states and weights what they shall be. */
  async #correct(rendered: Rendered): Promise<void> {
    const reported = readServersState(await this.#socket.ask("show servers state"));
    await this.#socket.tell(stateCommands(rendered, reported));
    this.#states = wantedStates(rendered);
  }

  #renderOptions(hasCertificates: boolean) {
    const { tlsListen } = this.#options;
    return {
      socket: this.#file("runtime.sock"),
      stateFile: this.#file("state"),
      bind: bindOf(this.#listen),
      ...(tlsListen !== undefined && { tlsBind: bindOf(tlsListen) }),
      ...(hasCertificates && { certificates: this.#file("certificates/list") }),
    };
  }

  #writeCertificates(certificates: readonly ServedCertificate[]): void {
    const directory = this.#file("certificates");
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { mode: 0o700 });
    const lines = certificates.map(({ hosts, certificate, key }, i) => {
      const file = join(directory, `${i}.pem`);
      writeFileSync(file, `${certificate}\n${key}\n`, { mode: 0o600 });
      // The hosts of its ingress, whatever else the certificate names: it speaks for no host of another.
      return `${file} ${hosts.join(" ")}\n`;
    });
    writeFileSync(join(directory, "list"), lines.join(""), { mode: 0o600 });
  }

  #file(name: string): string {
    return join(this.#options.directory, name);
  }

  /** Runs the program to its end; rejects with what it prints when it fails. */
  #run(args: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      execFile(this.#options.binary, [...args], (error, stdout, stderr) => {
        if (error === null) resolve();
        else if ("code" in error && error.code === "ENOENT")
          reject(new Error(`there is no program ${this.#options.binary}: install HAProxy`));
        else reject(new Error(`HAProxy refuses: ${`${stderr}${stdout}`.slice(0, 500)}`));
      });
    });
  }

  #isAlive(): boolean {
    if (this.#pid === undefined) return false;
    if (this.#child === undefined) return isHaproxy(this.#pid);
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The HAProxy that an earlier process of this directory left running. */
  #survivor(): number | undefined {
    try {
      const pid = Number(readFileSync(this.#file("haproxy.pid"), "utf8"));
      return pid > 0 && this.#isOurs(pid) ? pid : undefined;
    } catch {
      // None was started here.
      return undefined;
    }
  }

  /**
   * Whether this process is an HAProxy that reads our configuration; a reload keeps that on the command line. Asked when a process is
   * taken over alone: in the middle of a reload the command line may be empty.
   */
  #isOurs(pid: number): boolean {
    const about = `/proc/${pid}`;
    try {
      if (!isHaproxy(pid)) return false;
      const directory = readlinkSync(`${about}/cwd`);
      const ours = resolve(this.#file("haproxy.cfg"));
      const words = readFileSync(`${about}/cmdline`, "utf8").split("\0");
      return words.some((word) => resolve(directory, word) === ours);
    } catch {
      // Gone, or of another user.
      return false;
    }
  }
}

/** The text without what is changed through the runtime socket. */
function structureOf(text: string): string {
  return text.replaceAll(/^( {2}server .*) weight \d+$/gm, "$1");
}

function bindOf({ host, port }: ListenAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function isHaproxy(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "haproxy";
  } catch {
    // Gone.
    return false;
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

function freePort({ host }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen({ host, port: 0 }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}
