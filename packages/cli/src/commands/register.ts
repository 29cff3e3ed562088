/**
 * `lifeboat register ENDPOINT`: registers this cluster at a control plane by a token (Pull). Each step is a line; the one that
 * fails says what to do. The result is the kubeconfig of the cluster's agent, and the agent itself: installed in the member, or
 * as a manifest.
 *
 * `lifeboat register --detector CLUSTER` makes, with an administrator's rights, the identity of a cluster's detector (register-detector.ts).
 *
 * The key is kept beside the kubeconfig until the certificate is there, so that the same command goes on after a lost response:
 * the token is taken for that key.
 */
import { createHash, createHmac } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createRealClock } from "@lifeboat/base/adapters";
import { AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import { proxyFromEnvironment } from "@lifeboat/kit";
import {
  createHttpClient,
  fixedCredential,
  type HttpClientConfig,
  type HttpProxy,
  httpProxyOf,
  kubeconfigText,
  makeCertificateRequest,
} from "@lifeboat/kit/adapters";
import {
  AGENT_NAMESPACE,
  agentManifest,
  awaitLease,
  lastRenewal,
  installAgent,
  type PlaneAccess,
  registerByToken,
  type Registered,
  type RegisterRequest,
  RegistrationStepFailed,
} from "@lifeboat/plane";
import type { Command } from "commander";
import { stringify } from "yaml";
import { pinsOf } from "../ca-pin.ts";
import { probeOptions } from "../detector-probe.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { connect, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { makeDetector } from "../register-detector.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { version } from "../version.ts";
import { checkClusterName, memberAccess } from "./join.ts";
import { tell as tellPerson } from "../tell.ts";

export const registerOptions: readonly OptionDefinition[] = [
  { name: "token", type: "text", value: "TOKEN", help: "From `lifeboat token create`" },
  {
    name: "discovery-token-ca-cert-hash",
    type: "text",
    value: "sha256:HEX",
    help: "What the control plane's authority is recognized by; several, separated by commas",
  },
  {
    name: "discovery-token-unsafe-skip-ca-verification",
    type: "switch",
    commandLineOnly: true,
    help: "Trust the authority that the control plane names by itself, if the token signed it",
  },
  {
    name: "proxy-url",
    type: "text",
    value: "URL",
    help: "The http or https proxy to the control plane, also for the agent; default $HTTPS_PROXY",
  },
  { name: "cluster-name", type: "text", value: "NAME", help: "What the cluster is to be called" },
  {
    name: "cluster-kubeconfig",
    type: "text",
    value: "FILE",
    help: "The kubeconfig of the cluster, to install the agent in it",
  },
  {
    name: "cluster-context",
    type: "text",
    value: "NAME",
    help: "The context of that kubeconfig; default its current one",
  },
  {
    name: "agent-kubeconfig",
    type: "text",
    value: "FILE",
    help: "Where the agent's kubeconfig is written; default NAME-agent.kubeconfig",
  },
  {
    name: "agent-image",
    type: "text",
    value: "IMAGE",
    default: "lifeboat",
    help: "The image of the agent",
  },
  {
    name: "agent-namespace",
    type: "text",
    value: "NAMESPACE",
    default: AGENT_NAMESPACE,
    help: "Where the agent runs in the cluster",
  },
  {
    name: "agent-replicas",
    type: "integer",
    value: "N",
    default: "2",
    min: 1,
    max: 5,
    help: "How many agents stand ready; one of them leads",
  },
  {
    name: "check",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Check everything that can be checked and change nothing",
  },
  {
    name: "print-manifest",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Print the agent's manifest as YAML",
  },
  {
    name: "install",
    type: "switch",
    commandLineOnly: true,
    help: "Install the agent by --cluster-kubeconfig",
  },
  {
    name: "wait",
    type: "duration",
    value: "TIME",
    default: "60s",
    min: 1000,
    help: "How long approval, and then the agent's first Lease, may take",
  },
  {
    name: "detector",
    type: "text",
    value: "CLUSTER",
    commandLineOnly: true,
    help: "Make the identity of the detector of a cluster that is joined or registered, and print its manifest",
  },
  {
    name: "server-addresses",
    type: "text",
    value: "IP,…",
    help: "With --detector: the addresses of the control plane's host name, by which its pods reach it while the cluster resolves no names",
  },
  {
    name: "detector-ttl",
    type: "duration",
    value: "TIME",
    default: "8760h",
    min: 600_000,
    max: 365 * 24 * 3_600_000,
    help: "How long the detector's certificate counts",
  },
  ...probeOptions,
  ...planeOptions,
];

export function addRegister(program: Command): void {
  const command = program
    .command("register")
    .description("Register a cluster whose agent reaches the control plane by itself")
    .argument("[ENDPOINT]", "the control plane, such as 10.0.0.1:7443");
  declareOptions(command, registerOptions).action(async (endpoint: string | undefined) => {
    const settings = readSettings(command, registerOptions);
    const detector = settings.text("detector");
    if (detector !== undefined) {
      await makeDetector(detector, endpoint && serverOf(endpoint), settings);
      return;
    }
    if (endpoint === undefined) throw new UsageError("the address of the control plane is needed");
    await inWords(() => register(endpoint, settings));
  });
}

async function register(endpoint: string, settings: Settings): Promise<void> {
  const server = serverOf(endpoint);
  const cluster = settings.requiredText("cluster-name");
  checkClusterName(cluster);
  const token = settings.requiredText("token");
  const pins = readPins(settings);
  if (settings.isOn("install") && settings.text("cluster-kubeconfig") === undefined)
    throw new UsageError("--install needs --cluster-kubeconfig");
  const file = resolve(settings.text("agent-kubeconfig") ?? `${cluster}-agent.kubeconfig`);
  const proxyUrl = settings.text("proxy-url");
  const connectBy = connectThrough(proxyFor(server, proxyUrl));
  try {
    const identity = await obtainIdentity({
      server,
      proxyUrl,
      connect: connectBy,
      token,
      pins,
      cluster,
      file,
      timeoutMs: settings.number("wait"),
      check: settings.isOn("check"),
      onStep: tellStep,
    });
    if (identity === undefined) {
      tell(`cluster(${cluster}) can be registered (nothing was changed)`);
      return;
    }
    tell(`the agent's kubeconfig is ${file}`);
    await startAgent(settings, identity, connectBy, cluster);
  } catch (error) {
    if (!(error instanceof RegistrationStepFailed)) throw error;
    tell(`${error.step.padEnd(STEP_WIDTH)}FAILED`);
    throw new CommandFailed(error.message);
  }
}

interface IdentityRequest extends Omit<RegisterRequest, "skipPin" | "certificate"> {
  /** Where the agent's kubeconfig is written; the key is kept beside it until then. */
  readonly file: string;
  /** Written for the agent. */
  readonly proxyUrl?: string | undefined;
  /** Absent: directly. */
  readonly connect?: ConnectPlane;
}

type ConnectPlane = (access: PlaneAccess) => ReturnType<typeof connect>;

interface Identity {
  readonly registered: Registered;
  readonly kubeconfig: string;
}

/** Registers and writes the kubeconfig of the agent; without pins the signature by the token suffices. undefined: a check. */
export async function obtainIdentity(asked: IdentityRequest): Promise<Identity | undefined> {
  const { file, cluster, check, pins, proxyUrl } = asked;
  const connectBy = asked.connect ?? connectThrough(undefined);
  const ports = { clock: createRealClock(), connect: connectBy, ...hashes, pinsOf };
  const kept = await pendingKey(file, cluster, check);
  const registered = await registerByToken(ports, {
    ...asked,
    skipPin: pins.length === 0,
    certificate: kept.certificate,
  });
  if (registered === undefined) return undefined;
  const kubeconfig = agentKubeconfig(registered, proxyUrl);
  await writeFile(file, kubeconfig, { mode: 0o600 });
  await kept.remove();
  return { registered, kubeconfig };
}

/** The manifest, or the agent itself. */
async function startAgent(
  settings: Settings,
  { registered, kubeconfig }: Identity,
  connectBy: ConnectPlane,
  cluster: string,
): Promise<void> {
  const agent = {
    cluster,
    image: settings.requiredText("agent-image"),
    namespace: settings.requiredText("agent-namespace"),
    kubeconfig,
    replicas: settings.number("agent-replicas"),
  };
  if (settings.isOn("print-manifest"))
    process.stdout.write(
      agentManifest(agent)
        .map((object) => `---\n${stringify(object)}`)
        .join(""),
    );
  if (!settings.isOn("install")) {
    tell(
      "start the agent: with lifeboat agent on a machine that reaches the cluster, or by --install or --print-manifest in it",
    );
    return;
  }
  const member = await connect(await memberAccess(settings));
  const { server, authority, certificate, key } = registered;
  const plane = await connectBy({ server, authority, client: { certificate, key } });
  try {
    const before = await lastRenewal(plane.client, cluster);
    await installAgent(member.client, agent);
    tell(`the agent is installed in namespace ${agent.namespace}`);
    const timeoutMs = settings.number("wait");
    await awaitLease({ clock: createRealClock() }, plane.client, cluster, { before, timeoutMs });
    tellStep("lease", "the agent renews its Lease");
    tell(`cluster(${cluster}) is registered successfully`);
  } finally {
    member.close();
    plane.close();
  }
}

/** With the name of the context as clients of such control planes have it. */
function agentKubeconfig(
  { server, authority, certificate, key }: Registered,
  proxyUrl: string | undefined,
): string {
  return kubeconfigText({
    name: "lifeboat",
    server,
    proxyUrl,
    ca: authority,
    client: { certificate, key },
  });
}

const STEP_WIDTH = 12;

function tellStep(step: string, what: string): void {
  tell(`${step.padEnd(STEP_WIDTH)}ok   ${what}`);
}

/** On standard error: standard output is the manifest's. */
function tell(line: string): void {
  tellPerson(line, "");
}

/** The proxy to the control plane: that of the flag, else that of the environment. It is named, because it is often the cause. */
function proxyFor(server: string, given: string | undefined): HttpProxy | undefined {
  const url = given ?? proxyFromEnvironment(server, process.env);
  if (url === undefined) return undefined;
  const from = given === undefined ? "HTTPS_PROXY" : "--proxy-url";
  try {
    const proxy = httpProxyOf(url);
    tell(`${"proxy".padEnd(STEP_WIDTH)}ok   ${withoutPassword(url)} (${from})`);
    if (given === undefined)
      tell(
        `${"".padEnd(STEP_WIDTH)}     the agent follows its own environment; --proxy-url is written into its kubeconfig`,
      );
    return proxy;
  } catch {
    throw new UsageError(`${from}: "${withoutPassword(url)}" is not an http or https URL`);
  }
}

function withoutPassword(value: string): string {
  return value.replace(/\/\/[^@/]*@/, "//***@");
}

const hashes = {
  sha256: (text: string): string => createHash("sha256").update(text).digest("hex"),
  hmacSha256: (key: string, text: string): string =>
    createHmac("sha256", key).update(text).digest("base64url"),
};

function connectThrough(proxy: HttpProxy | undefined): ConnectPlane {
  return async (access) => connectPlane(access, proxy);
}

function connectPlane(
  access: PlaneAccess,
  proxy: HttpProxy | undefined,
): Awaited<ReturnType<typeof connect>> {
  const { token, client: identity } = access;
  const http: HttpClientConfig = {
    server: access.server,
    ...(access.authority === undefined
      ? { insecureSkipTlsVerify: true }
      : { certificateAuthority: access.authority }),
    credentials: fixedCredential({
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(identity !== undefined && { certificate: identity.certificate, key: identity.key }),
    }),
    userAgent: `lifeboat/${version}`,
    ...(proxy === undefined ? {} : { proxy }),
  };
  const client = createHttpClient(http);
  return { client, http, close: () => client.close() };
}

export function serverOf(endpoint: string): string {
  const text = /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`;
  if (!URL.canParse(text) || new URL(text).protocol !== "https:")
    throw new UsageError(`"${endpoint}" is no address of a control plane, such as 10.0.0.1:7443`);
  return text.replace(/\/+$/, "");
}

/** The pins; none when the person wants none. */
function readPins(settings: Settings): readonly string[] {
  const skips = settings.isOn("discovery-token-unsafe-skip-ca-verification");
  const text = settings.text("discovery-token-ca-cert-hash") ?? "";
  const pins = text.split(",").filter((pin) => pin !== "");
  if (skips && pins.length > 0)
    throw new UsageError(
      "--discovery-token-ca-cert-hash and --discovery-token-unsafe-skip-ca-verification exclude each other",
    );
  if (!skips && pins.length === 0)
    throw new UsageError(
      "--discovery-token-ca-cert-hash is needed: lifeboat token create --print-register-command prints it",
    );
  for (const pin of pins)
    if (!/^sha256:[0-9a-f]{64}$/i.test(pin))
      throw new UsageError(`"${pin}" is no pin: sha256: and 64 hexadecimal digits are needed`);
  return pins.map((pin) => pin.toLowerCase());
}

interface PendingKey {
  readonly certificate: { readonly request: string; readonly key: string };
  remove(): Promise<void>;
}

/** The key of an earlier run that did not get its certificate, or a new one. */
async function pendingKey(file: string, cluster: string, isCheck: boolean): Promise<PendingKey> {
  const path = `${file}.pending`;
  const remove = (): Promise<void> => rm(path, { force: true });
  const found = isCheck ? undefined : await readPending(path, cluster);
  if (found !== undefined) return { certificate: found, remove };
  const certificate = makeCertificateRequest({
    commonName: agentUser(cluster),
    organizations: [AGENTS_GROUP],
  });
  if (!isCheck) await writeFile(path, JSON.stringify({ cluster, ...certificate }), { mode: 0o600 });
  return { certificate, remove };
}

async function readPending(
  path: string,
  cluster: string,
): Promise<PendingKey["certificate"] | undefined> {
  try {
    const kept = JSON.parse(await readFile(path, "utf8")) as Readonly<Record<string, unknown>>;
    const { request, key } = kept;
    if (kept["cluster"] !== cluster || typeof request !== "string" || typeof key !== "string")
      return undefined;
    return { request, key };
  } catch {
    // None, or a half-written one, which no request was made with.
    return undefined;
  }
}
