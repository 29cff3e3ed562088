/**
 * How commands find their control plane: `--kubeconfig`, then `$KUBECONFIG`, then what `lifeboat up` wrote into its data
 * directory; and how they say what went wrong with it.
 */
import { join } from "node:path";
import { Refused } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { type Access, type Client, KubeconfigError, NotSent, OutcomeUnknown } from "@lifeboat/kit";
import { createHttpClient, httpConfigOf, loadKubeconfig } from "@lifeboat/kit/adapters";
import { RegistrationRefused } from "@lifeboat/plane";
import { defaultDataDirectory } from "./environment.ts";
import { CommandFailed } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
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
  close(): void;
}

/** Connects to the control plane that the settings mean. */
export async function findPlane(settings: Pick<Settings, "text">): Promise<FoundPlane> {
  const paths = planePaths(settings, process.env);
  const context = settings.text("context");
  try {
    const access = await loadKubeconfig({ paths, ...(context === undefined ? {} : { context }) });
    return await connect(access);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new CommandFailed(
      `${error.message}; start a control plane with \`lifeboat up\`, or name its kubeconfig with --kubeconfig`,
    );
  }
}

/** Where the control plane's kubeconfig is looked for. */
export function planePaths(
  settings: Pick<Settings, "text">,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const named = settings.text("kubeconfig");
  if (named !== undefined) return [named];
  const listed = (environment["KUBECONFIG"] ?? "").split(":").filter((path) => path !== "");
  // Who names a data directory means that one, whatever the environment says.
  if (listed.length > 0 && settings.text("data-dir") === undefined) return listed;
  return [join(settings.text("data-dir") ?? defaultDataDirectory(), "lifeboat.kubeconfig")];
}

/** A client for what a kubeconfig's context says. */
export async function connect(access: Access): Promise<FoundPlane> {
  const ports = { clock: createRealClock(), environment: process.env };
  const client = createHttpClient(await httpConfigOf(ports, access, `lifeboat/${version}`));
  return { client, close: () => client.close() };
}

/** Runs what speaks to API servers; what they or the network refuse becomes a sentence for the person. */
export async function inWords<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Refused)
      throw new CommandFailed(error.status.message ?? `refused with code ${error.status.code}`);
    if (error instanceof NotSent) throw new CommandFailed(`no answer: ${error.message}`);
    if (error instanceof OutcomeUnknown)
      throw new CommandFailed(
        `the connection broke and it is unknown what took effect; run the command again: ${error.message}`,
      );
    if (error instanceof RegistrationRefused || error instanceof KubeconfigError)
      throw new CommandFailed(error.message);
    throw error;
  }
}
