/**
 * One simulated member as this process serves it: its directory, certificates, token, port and TLS listener.
 *
 * 1. Token and port are remembered, so that a Cluster's endpoint and Secret stay right across restarts. A port that
 *    somebody else has taken meanwhile is replaced by a free one.
 * 2. So are its faults: a member that is down does not come up for a moment because its process died.
 * 3. A pull member has an agent of its own beside it (member-agent.ts), and a relay to the control plane (relay.ts). `partition`
 *    cuts the relay there: agent and member go on, out of reach.
 * 4. Under `api-down` no server listens, and open connections are closed; afterwards the same port is taken again.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equalJson, type SimulatedFault } from "@lifeboat/api";
import {
  type CertifiedKey,
  createTlsServer,
  openLmdbStorage,
  openPki,
  type TlsServer,
} from "@lifeboat/apiserver/adapters";
import { type Clock, type Ids, type Random, sleep } from "@lifeboat/base";
import { nextTurn } from "@lifeboat/base/adapters";
import { type KitPorts, silentMetrics } from "@lifeboat/kit";
import { createPromMetrics, writeKubeconfig } from "@lifeboat/kit/adapters";
import {
  createSimulatedMember,
  type HostedAgent,
  type HostedMember,
  modelOptions,
  type SimulatedMember,
  type SimulatedMemberSpec,
} from "@lifeboat/plane";
import { version } from "../version.ts";
import { createMemberAgent } from "./member-agent.ts";
import type { AgentTimes } from "./member-directory.ts";
import { openRelay, type RelayTarget } from "./relay.ts";
import { nodeAddress } from "./serve-services.ts";

export interface OpenMemberPorts extends KitPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
}

export interface OpenMemberOptions {
  readonly name: string;
  /** Where it is kept. */
  readonly directory: string;
  readonly kubeconfigDirectory: string;
  readonly spec: SimulatedMemberSpec;
  /** The first two parts of the addresses of load balancers and nodes. */
  readonly addressPrefix: string;
  readonly endpointSlices: boolean;
  /** Absent: a push member. */
  readonly pull?: {
    readonly times: AgentTimes;
    /** Where the control plane is now. */
    target(): RelayTarget | undefined;
  };
}

export interface OpenedMember {
  readonly hosted: HostedMember;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** What joining gives the right to impersonate. */
const IMPERSONATOR_USER = {
  name: "system:serviceaccount:karmada-cluster:karmada-impersonator",
  groups: ["system:serviceaccounts", "system:serviceaccounts:karmada-cluster"],
};
const SHUTDOWN_MS = 2000;
const LISTEN_PAUSE_MS = 500;
/** Opens the member and serves its API; what runs in it starts with `hosted.member.run`. */
export async function openMember(
  ports: OpenMemberPorts,
  options: OpenMemberOptions,
): Promise<OpenedMember> {
  const { name, directory, spec, addressPrefix, endpointSlices } = options;
  const addressed = (model: ModelOptions): ModelOptions => ({
    ...model,
    addressPrefix,
    endpointSlices,
    nodes: model.nodes.map((node, i) => ({ ...node, address: nodeAddress(addressPrefix, i) })),
  });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const token = remembered(join(directory, "token"), newToken);
  const impersonatorToken = remembered(join(directory, "impersonator-token"), newToken);
  const storage = await openLmdbStorage(join(directory, "store"), {
    warn: (sentence) => ports.log.warn(sentence),
  });
  const member = await createSimulatedMember(
    { ...ports, metrics: createPromMetrics(), storage, nextTurn },
    {
      name,
      version,
      tokens: new Map([
        [token, { name: "lifeboat", groups: ["system:masters", "system:authenticated"] }],
        [impersonatorToken, IMPERSONATOR_USER],
      ]),
      model: addressed(modelOptions(spec)),
    },
  );
  const pki = await openPki(ports.clock, join(directory, "pki"));
  const faultsFile = join(directory, "faults.json");
  const faults = readFaults(faultsFile);
  const listener = new Listener(ports, member, await pki.server([HOST]), pki.ca);
  const port = await listener.openFirst(join(directory, "port"));
  member.onServing((isServing) => listener.setServing(isServing));
  const endpoint = `https://${HOST}:${port}`;
  const kubeconfig = join(options.kubeconfigDirectory, `${name}.kubeconfig`);
  await writeKubeconfig(kubeconfig, {
    name,
    server: endpoint,
    ca: pki.ca,
    client: await pki.client("admin", ["system:masters"]),
  });
  const access = {
    server: endpoint,
    insecureSkipTlsVerify: false,
    token,
    impersonatorToken,
    caBundle: pki.ca,
  };
  const line = await openLine(ports, options, kubeconfig);
  const faulty = {
    ...rememberingFaults(line?.cutting(member) ?? member, faultsFile),
    setModel: (model: ModelOptions) => member.setModel(addressed(model)),
  };
  await faulty.setFaults(faults);
  return {
    hosted: { member: faulty, access, spec, ...(line !== undefined && { agent: line.agent }) },
    close: async () => {
      await line?.close();
      await listener.close();
      await member.close();
    },
  };
}

type ModelOptions = ReturnType<typeof modelOptions>;

/** The member, which writes down its faults before it shows them. */
function rememberingFaults(member: SimulatedMember, file: string): SimulatedMember {
  return {
    ...member,
    setFaults: async (faults) => {
      if (!equalJson(faults, readFaults(file))) writeWhole(file, JSON.stringify(faults));
      await member.setFaults(faults);
    },
  };
}

/** A pull member's agent and the relay by which that reaches the control plane. */
interface PullLine {
  readonly agent: HostedAgent;
  /** The member, whose partition is that of the relay. */
  cutting(member: SimulatedMember): SimulatedMember;
  close(): Promise<void>;
}

async function openLine(
  ports: OpenMemberPorts,
  { name, directory, pull }: OpenMemberOptions,
  memberKubeconfig: string,
): Promise<PullLine | undefined> {
  if (pull === undefined) return undefined;
  const portFile = join(directory, "relay-port");
  const before = readOrEmpty(portFile);
  const relay = await openRelay(Number(before) || 0, () => pull.target());
  if (String(relay.port) !== before) writeWhole(portFile, String(relay.port));
  let isCut = false;
  const agent = createMemberAgent(ports, {
    cluster: name,
    directory,
    memberKubeconfig,
    server: `https://${HOST}:${relay.port}`,
    isCut: () => isCut,
    times: pull.times,
  });
  return {
    agent,
    cutting: (member) => ({
      ...member,
      setFaults: async (faults) => {
        isCut = faults.some(({ mode }) => mode === "partition");
        relay.setCut(isCut);
        await member.setFaults(faults.filter(({ mode }) => mode !== "partition"));
      },
    }),
    close: async () => {
      await agent.stop();
      await relay.close();
    },
  };
}

function readFaults(file: string): readonly SimulatedFault[] {
  try {
    const faults: unknown = JSON.parse(readOrEmpty(file));
    return Array.isArray(faults) ? (faults as readonly SimulatedFault[]) : [];
  } catch {
    // None yet.
    return [];
  }
}

/** The member's port: open while it serves. */
class Listener {
  readonly #ports: OpenMemberPorts;
  readonly #member: SimulatedMember;
  readonly #certified: CertifiedKey;
  readonly #ca: string;
  readonly #stop = new AbortController();
  #port = 0;
  #tls: TlsServer | undefined;

  constructor(
    ports: OpenMemberPorts,
    member: SimulatedMember,
    certified: CertifiedKey,
    ca: string,
  ) {
    this.#ports = ports;
    this.#member = member;
    this.#certified = certified;
    this.#ca = ca;
  }

  /** Listens on the port that the file remembers, else on a free one, which it then remembers. */
  async openFirst(file: string): Promise<number> {
    const before = Number(readOrEmpty(file));
    try {
      this.#port = await this.#listen(Number.isInteger(before) && before > 0 ? before : 0);
    } catch (error) {
      const name = this.#member.name;
      this.#ports.log.warn("a member's port is taken, another one is used", { name, error });
      this.#port = await this.#listen(0);
    }
    if (this.#port !== before) writeWhole(file, String(this.#port));
    return this.#port;
  }

  async setServing(isServing: boolean): Promise<void> {
    if (!isServing) {
      await this.#tls?.close(0);
      return;
    }
    while (!this.#stop.signal.aborted) {
      try {
        await this.#listen(this.#port);
        return;
      } catch (error) {
        // Another process took the port meanwhile: the member is as good as down until it is free again.
        this.#ports.log.warn("listening again", { name: this.#member.name, error });
        await sleep(this.#ports.clock, LISTEN_PAUSE_MS, this.#stop.signal);
      }
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#tls?.close(SHUTDOWN_MS);
  }

  async #listen(port: number): Promise<number> {
    const tls = createTlsServer({
      handle: this.#member.handle,
      identify: this.#member.server.identify,
      metrics: silentMetrics,
      ...this.#certified,
      clientCa: this.#ca,
      host: HOST,
      port,
      log: this.#ports.log,
    });
    const address = await tls.listen();
    this.#tls = tls;
    return address.port;
  }
}

function newToken(): string {
  return randomBytes(32).toString("hex");
}

function remembered(file: string, make: () => string): string {
  const before = readOrEmpty(file);
  if (before !== "") return before;
  const made = make();
  writeWhole(file, made);
  return made;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
