/**
 * How commands find their control plane: `--kubeconfig`, then `$KUBECONFIG`, then what `lifeboat up` wrote into its data
 * directory; and how they say what went wrong with it.
 */
import { join, resolve } from "node:path";
import { evacuations, Refused } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { type Access, type Client, KubeconfigError, NotSent } from "@lifeboat/kit";
import {
  checkCertificates,
  createHttpClient,
  type HttpClientConfig,
  httpConfigOf,
  loadKubeconfig,
} from "@lifeboat/kit/adapters";
import { RegistrationRefused } from "@lifeboat/plane";
import { defaultDataDirectory, isKubectlPlugin } from "./environment.ts";
import { CommandFailed, UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import { namingClient } from "./naming-client.ts";
import { reasonedClient } from "./reasoned-client.ts";
import { requestProblem } from "./request-problem.ts";
import type { Settings } from "./settings.ts";
import { version } from "./version.ts";

/** The options of every command that speaks to a control plane. */
export const planeOptions: readonly OptionDefinition[] = [
  {
    name: "kubeconfig",
    type: "text",
    value: "FILE",
    help: "Of the control plane; default $KUBECONFIG, then the data directory's lifeboat.kubeconfig",
  },
  {
    name: "context",
    type: "text",
    value: "NAME",
    help: "The context of the kubeconfig; default its current one",
  },
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    help: "The data directory of `lifeboat up`; default $XDG_DATA_HOME/lifeboat",
  },
];

/** A connection that a command made and has to close. */
export interface FoundPlane {
  readonly client: Client;
  /** For what a Client does not do: streams. */
  readonly http: HttpClientConfig;
  close(): void;
}

/** Connects to the control plane that the settings mean. */
export async function findPlane(settings: PlaneSettings): Promise<FoundPlane> {
  const paths = planePaths(settings, process.env);
  const context = settings.text("context");
  try {
    const access = await loadKubeconfig({ paths, ...(context === undefined ? {} : { context }) });
    const plane = await connect(access);
    await checkPlane(plane, placeOf(access.cluster.server, access.context));
    const client = namingClient(plane.client);
    return { ...plane, client: reasonedClient(client, settings.text("reason")) };
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new CommandFailed(
      `${error.message}; start a control plane with \`lifeboat up\`, or name its kubeconfig with --kubeconfig`,
    );
  }
}

/** `https://… (context X)`: with several contexts the address alone does not show what to change. */
function placeOf(server: string, context: string | undefined): string {
  return context === undefined ? server : `${server} (context ${context})`;
}

/** Whether our own kinds are served tells a control plane from any other API server. */
async function checkPlane(plane: FoundPlane, place: string): Promise<void> {
  try {
    await plane.client.read(`/apis/${evacuations.group}/${evacuations.version}`);
  } catch (error) {
    plane.close();
    const away = whyAway(error);
    if (away !== undefined)
      throw new CommandFailed(
        `${place} does not answer: ${away}; is it running? ` +
          "Start it with `lifeboat up`, or name another with --kubeconfig",
      );
    if (!(error instanceof Refused)) throw error;
    const { code, message } = error.status;
    if (code === 401)
      throw new CommandFailed(
        `${place} does not accept the credentials of this kubeconfig: ${message ?? "code 401"}; ` +
          "they may have expired: name another with --kubeconfig, or a --context",
      );
    if (code !== 404) throw error;
    throw new CommandFailed(
      `${place} is not a Lifeboat control plane: it does not serve ${evacuations.group}; ` +
        "name the kubeconfig of the control plane with --kubeconfig, or its --context",
    );
  }
}

/** No one listens, or there is no way there. What is wrong with TLS or with an answer is something else. */
const AWAY: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ETIMEDOUT",
]);

/** Why no answer came, where the control plane may not be running. */
function whyAway(error: unknown): string | undefined {
  if (!(error instanceof NotSent) || !(error.cause instanceof Error)) return undefined;
  const { message, code = "" } = error.cause as NodeJS.ErrnoException;
  if (!AWAY.has(code) && !message.startsWith("no answer within ")) return undefined;
  // Where a name has several addresses, the message is empty.
  return message === "" ? code : message;
}

/** What finding a control plane looks at. */
export type PlaneSettings = Pick<Settings, "text" | "isOnCommandLine">;

/** Where the control plane's kubeconfig is looked for: `--kubeconfig`, then `$KUBECONFIG`, then the data directory. */
export function planePaths(
  settings: PlaneSettings,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const named = settings.text("kubeconfig");
  if (named !== undefined) return [named];
  const listed = (environment["KUBECONFIG"] ?? kubectlDefault(settings, environment))
    .split(":")
    .filter((path) => path !== "");
  const inDirectory = join(settings.text("data-dir") ?? defaultDataDirectory(), FILE_NAME);
  if (listed.length === 0) return [inDirectory];
  // A flag that is passed over in silence would change another control plane than the one that was named.
  if (settings.isOnCommandLine("data-dir") && !listed.some((path) => isSame(path, inDirectory)))
    throw new UsageError(
      "--data-dir and $KUBECONFIG name two control planes: " +
        `give --kubeconfig ${inDirectory}, or unset KUBECONFIG`,
    );
  return listed;
}

/** `kubectl lifeboat` speaks to what `kubectl` speaks to, unless a data directory is named. */
function kubectlDefault(
  settings: PlaneSettings,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const home = environment["HOME"];
  const isKubectl = isKubectlPlugin(process.argv) && !settings.isOnCommandLine("data-dir");
  return isKubectl && home !== undefined ? join(home, ".kube", "config") : "";
}

const FILE_NAME = "lifeboat.kubeconfig";

function isSame(one: string, other: string): boolean {
  return resolve(one) === resolve(other);
}

/** A client for what a kubeconfig's context says; throws KubeconfigError when its certificates cannot be used. */
export async function connect(access: Access): Promise<FoundPlane> {
  const ports = { clock: createRealClock(), environment: process.env };
  const config = await httpConfigOf(ports, access, `lifeboat/${version}`);
  await checkCertificates(config);
  const client = createHttpClient(config);
  return { client, http: config, close: () => client.close() };
}

/** Runs what speaks to API servers; what they or the network refuse becomes a sentence for the person. */
export async function inWords<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const words = apiProblem(error);
    throw words === undefined ? error : new CommandFailed(words);
  }
}

/** What an API server or the network refused, as a sentence; undefined: the error is about something else. */
export function apiProblem(error: unknown): string | undefined {
  if (error instanceof RegistrationRefused) return error.message;
  const problem = requestProblem(error);
  const right = error instanceof Refused ? missingRight(error) : undefined;
  return right === undefined ? problem : `${problem}; ask an administrator for ${right}`;
}

/** What a user lacks; undefined: it was refused by other rules than those of roles. */
function missingRight({ status }: Refused): string | undefined {
  const { code, message = "" } = status;
  const refused = /User "[^"]*" cannot (\S+)(?: (resource|path) "([^"]+)")?/.exec(message);
  if (code !== 403 || refused === null) return undefined;
  const [, verb = "", what, name = ""] = refused;
  if (what === undefined) return "a role that allows it";
  if (what === "path") return `a role that allows ${verb} of the path ${name}`;
  const [, group = ""] = /in API group "([^"]*)"/.exec(message) ?? [];
  return `a role that allows ${verb} of ${name}${group === "" ? "" : `.${group}`}`;
}
