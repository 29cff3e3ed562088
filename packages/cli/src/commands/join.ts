/** `lifeboat join NAME`: registers a cluster that the control plane reaches by itself. */
import { readFile } from "node:fs/promises";
import { dnsLabelProblems } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { type Access, KubeconfigError } from "@lifeboat/kit";
import { loadKubeconfig } from "@lifeboat/kit/adapters";
import { type GivenAccess, joinCluster, RegistrationRefused } from "@lifeboat/plane";
import type { Command } from "commander";
import { CommandFailed, UsageError } from "../failure.ts";
import { connect, findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { tell } from "../tell.ts";

/** How a member is named on the command line; shared with `unjoin`. */
export const memberOptions: readonly OptionDefinition[] = [
  {
    name: "cluster-kubeconfig",
    type: "text",
    value: "FILE",
    help: "The kubeconfig of the cluster, with full rights in it",
  },
  {
    name: "cluster-context",
    type: "text",
    value: "NAME",
    help: "The context of that kubeconfig; default its current one",
  },
  {
    name: "cluster-namespace",
    type: "text",
    value: "NAMESPACE",
    default: "karmada-cluster",
    help: "Where credentials are kept, in the cluster and in the control plane",
  },
  {
    name: "dry-run",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Check everything that can be checked and change nothing",
  },
];

export const joinOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  ...memberOptions,
  { name: "cluster-provider", type: "text", value: "NAME", help: "The provider of the cluster" },
  { name: "cluster-region", type: "text", value: "NAME", help: "The region it runs in" },
  {
    name: "cluster-zones",
    type: "text",
    value: "ZONES",
    help: "The zones it runs in, separated by commas",
  },
  {
    name: "allow-insecure-http",
    type: "switch",
    commandLineOnly: true,
    help: "Join a cluster at an http address, although its token can then be read on the way",
  },
];

export function addJoin(program: Command): void {
  const command = program
    .command("join")
    .description("Register a cluster that the control plane reaches by itself")
    .argument("<NAME>", "what the cluster is to be called");
  declareOptions(command, joinOptions).action(async (name: string) => {
    await inWords(() => join(name, readSettings(command, joinOptions)));
  });
}

const MAX_NAME = 48;

/** Refuses a name that no cluster can have. */
export function checkClusterName(name: string): void {
  const [problem] = dnsLabelProblems(name);
  if (problem !== undefined) throw new UsageError(`the name "${name}" is not valid: ${problem}`);
  if (name.length > MAX_NAME)
    throw new UsageError(`the name "${name}" is not valid: at most ${MAX_NAME} characters`);
}

async function join(name: string, settings: Settings): Promise<void> {
  checkClusterName(name);
  const access = await memberAccess(settings);
  const plane = await findPlane(settings);
  const member = await connect(access);
  const [provider, region] = [settings.text("cluster-provider"), settings.text("cluster-region")];
  try {
    const outcome = await joinCluster(
      { clock: createRealClock() },
      {
        plane: plane.client,
        member: member.client,
        name,
        access: await givenAccess(access),
        namespace: settings.requiredText("cluster-namespace"),
        zones: zonesOf(settings.text("cluster-zones") ?? ""),
        dryRun: settings.isOn("dry-run"),
        allowHttp: settings.isOn("allow-insecure-http"),
        ...(provider === undefined ? {} : { provider }),
        ...(region === undefined ? {} : { region }),
      },
    );
    process.stdout.write(
      settings.isOn("dry-run")
        ? `cluster(${name}) can be joined (dry run)\n`
        : `cluster(${name}) is joined successfully\n`,
    );
    if (outcome.credential === "kubeconfig")
      tell(
        "the cluster issues no tokens for service accounts, so the token of its kubeconfig is used",
      );
  } finally {
    member.close();
    plane.close();
  }
}

/** What `--cluster-kubeconfig` and `--cluster-context` say. */
export async function memberAccess(settings: Settings): Promise<Access> {
  const context = settings.text("cluster-context");
  try {
    return await loadKubeconfig({
      paths: [settings.requiredText("cluster-kubeconfig")],
      ...(context === undefined ? {} : { context }),
    });
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new CommandFailed(
      `${error.message}; name the kubeconfig of the cluster with --cluster-kubeconfig`,
    );
  }
}

async function givenAccess({ cluster, user }: Access): Promise<GivenAccess> {
  if (cluster.tlsServerName !== undefined)
    throw new RegistrationRefused(
      "the cluster's kubeconfig has a tls-server-name, which a Cluster cannot have: use an address that its certificate is for",
    );
  const authority = cluster.certificateAuthority;
  const token = user.token ?? (await textOf(user.tokenFile));
  return {
    server: cluster.server.replace(/\/+$/, ""),
    insecureSkipTlsVerify: cluster.insecureSkipTlsVerify,
    ...(authority === undefined
      ? {}
      : {
          caBundle:
            authority.kind === "data"
              ? Buffer.from(authority.base64, "base64").toString("utf8")
              : await readFile(authority.path, "utf8"),
        }),
    ...(token === undefined ? {} : { token }),
  };
}

async function textOf(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : (await readFile(file, "utf8")).trim();
}

function zonesOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((zone) => zone.trim())
    .filter((zone) => zone !== "");
}
