/** `lifeboat install` and `lifeboat uninstall`: puts the control plane into a kube-apiserver, and takes it out again. */
import { createRealClock } from "@lifeboat/base/adapters";
import { readFile } from "node:fs/promises";
import type { Access, Client } from "@lifeboat/kit";
import { KubeconfigError } from "@lifeboat/kit";
import { defaultKubeconfigPaths, loadKubeconfig } from "@lifeboat/kit/adapters";
import {
  InstallRefused,
  installPlane,
  MovingRefused,
  planUninstall,
  subjectOf,
  uninstallPlane,
} from "@lifeboat/plane";
import type { Command } from "commander";
import { confirm, yesOption } from "../confirm.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { connect, inWords } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { version } from "../version.ts";
import { serverOf } from "./register.ts";
import { print } from "../with-plane.ts";
import { tell } from "../tell.ts";
import { hanging } from "../wrap.ts";

export const serverOptions: readonly OptionDefinition[] = [
  {
    name: "kubeconfig",
    type: "text",
    value: "FILE",
    help: "Of the kube-apiserver, with the rights of an administrator; default $KUBECONFIG, then ~/.kube/config",
  },
  {
    name: "context",
    type: "text",
    value: "NAME",
    help: "The context of the kubeconfig; default its current one",
  },
];

const forceOption: OptionDefinition = {
  name: "force",
  type: "switch",
  commandLineOnly: true,
  help: "Go back to an older version; take over kinds that something else installed",
};

export const webhookOption: OptionDefinition = {
  name: "webhook-url",
  type: "text",
  value: "URL",
  help: "Where the API server reaches the managers, https only; default the Service lifeboat-system/lifeboat-webhook",
};

export const installOptions: readonly OptionDefinition[] = [
  ...serverOptions,
  webhookOption,
  {
    name: "member-proxy",
    type: "switch",
    default: "true",
    help: "Let the API server pass requests for members on to the managers (get, logs and exec with -C, pull members)",
  },
  {
    name: "registration",
    type: "switch",
    default: "true",
    help: "Let clusters register by a token (`lifeboat token`, `lifeboat register`), and publish the API server's address in kube-public/cluster-info",
  },
  {
    name: "registration-endpoint",
    type: "text",
    value: "HOST:PORT",
    help: "Where clusters that register reach the API server; default the address of the kubeconfig",
  },
  {
    name: "dry-run",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Print what would be done",
  },
  {
    name: "diff",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Print what differs in objects that are there",
  },
  forceOption,
];

export const uninstallOptions: readonly OptionDefinition[] = [
  ...serverOptions,
  {
    name: "kinds",
    type: "switch",
    commandLineOnly: true,
    help: "Also remove the kinds with their objects; refused while there are Clusters or Works",
  },
  {
    name: "dry-run",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Print what would be done",
  },
  {
    ...forceOption,
    help: "Go on although clusters are joined or a manager leads; workloads in members stay in any case",
  },
  yesOption,
];

export function addInstall(program: Command): void {
  const command = program
    .command("install")
    .description("Prepare a kube-apiserver for `lifeboat manager`; repeating it changes nothing");
  declareOptions(command, installOptions).action(() => {
    const settings = readSettings(command, installOptions);
    return withServer(settings, (client, access) => install(client, access, settings));
  });
}

export function addUninstall(program: Command): void {
  const command = program
    .command("uninstall")
    .description("Take out what `lifeboat install` put in; workloads in members stay");
  declareOptions(command, uninstallOptions).action(() => {
    const settings = readSettings(command, uninstallOptions);
    return withServer(settings, (client) => uninstall(client, settings));
  });
}

/** Where the webhook is reached; throws UsageError. */
export function webhookFrom(settings: Settings): { readonly url?: string } {
  const url = settings.text("webhook-url");
  if (url !== undefined && (!URL.canParse(url) || new URL(url).protocol !== "https:"))
    throw new UsageError(`--webhook-url: "${url}" is not valid: an https URL is needed`);
  return url === undefined ? {} : { url };
}

async function install(client: Client, access: Access, settings: Settings): Promise<void> {
  const webhook = webhookFrom(settings);
  const dryRun = settings.isOn("dry-run");
  const withDiff = settings.isOn("diff");
  const suffix = dryRun ? " (dry run)" : "";
  const request = {
    version,
    webhook,
    dryRun,
    force: settings.isOn("force"),
    memberProxy: settings.isOn("member-proxy"),
    ...(settings.isOn("registration") && {
      registration: await registrationFrom(access, settings),
    }),
  };
  const leftOut = await installPlane(
    createRealClock(),
    client,
    request,
    ({ subject, outcome, differences }) =>
      print([
        `${subject} ${outcome}${suffix}`,
        ...(withDiff ? differences.map((line) => `  ${line}`) : []),
      ]),
  );
  for (const sentence of leftOut) tell(sentence);
}

/** Where clusters that register reach the API server, and by which authorities they know it. */
async function registrationFrom(
  { cluster }: Access,
  settings: Settings,
): Promise<{ readonly server: string; readonly bundle: string }> {
  const given = settings.text("registration-endpoint");
  const server = given === undefined ? cluster.server : serverOf(given);
  const authority = cluster.certificateAuthority;
  if (authority === undefined) return { server, bundle: "" };
  const bundle =
    authority.kind === "data"
      ? Buffer.from(authority.base64, "base64").toString("utf8")
      : await readFile(authority.path, "utf8");
  return { server, bundle };
}

async function uninstall(client: Client, settings: Settings): Promise<void> {
  const clock = createRealClock();
  const plan = await planUninstall(clock, client, {
    version,
    kinds: settings.isOn("kinds"),
    force: settings.isOn("force"),
  });
  const dryRun = settings.isOn("dry-run");
  print(["What stays:", ...plan.stays.flatMap((what) => hanging("  ", what))]);
  if (dryRun) {
    print(plan.removes.map((one) => `${subjectOf(one)} deleted (dry run)`));
    return;
  }
  const count = plan.removes.length;
  if (!settings.isOn("yes"))
    await confirm(`${count} objects of the control plane are removed.`, "Go on?");
  await uninstallPlane(clock, client, plan, (subject) => print([`${subject} deleted`]));
}

/** Runs a command on the API server that its settings mean, and closes the connection whatever happens. */
export async function withServer(
  settings: Settings,
  run: (client: Client, access: Access) => Promise<void>,
): Promise<void> {
  const named = settings.text("kubeconfig");
  const context = settings.text("context");
  const paths = named === undefined ? defaultKubeconfigPaths(process.env) : [named];
  await inWords(async () => {
    try {
      const access = await loadKubeconfig({ paths, ...(context === undefined ? {} : { context }) });
      const server = await connect(access);
      try {
        await run(server.client, access);
      } finally {
        server.close();
      }
    } catch (error) {
      if (error instanceof InstallRefused || error instanceof MovingRefused)
        throw new CommandFailed(error.message);
      if (!(error instanceof KubeconfigError)) throw error;
      throw new CommandFailed(`${error.message}; name the kubeconfig with --kubeconfig`);
    }
  });
}
