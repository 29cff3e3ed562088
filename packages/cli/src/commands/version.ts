/** `lifeboat version`: the version of this command and of the control plane that it finds. */
import { isJsonObject } from "@lifeboat/api";
import type { Command } from "commander";
import { UsageError } from "../failure.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { version } from "../version.ts";

export const versionOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  { name: "client", type: "switch", help: "Only the version of this command" },
  {
    name: "output",
    short: "o",
    type: "text",
    value: "FORMAT",
    default: "text",
    help: "How it is printed: text or json",
  },
];

export function addVersion(program: Command): void {
  const command = program
    .command("version")
    .description("Print the versions of this command and of the control plane");
  declareOptions(command, versionOptions).action(async () => {
    await printVersion(readSettings(command, versionOptions));
  });
}

async function printVersion(settings: Settings): Promise<void> {
  const format = settings.requiredText("output");
  if (format !== "text" && format !== "json")
    throw new UsageError(`--output: "${format}" is not valid: one of text, json is needed`);
  const client = { version, node: process.version };
  if (settings.isOn("client")) {
    write(format, { client });
    return;
  }
  // In text the client's version is told also where no control plane is found.
  if (format === "text") write(format, { client });
  const server = await inWords(() => serverVersion(settings));
  write(format, format === "text" ? { server } : { client, server });
}

async function serverVersion(settings: Settings): Promise<ServerVersion> {
  const plane = await findPlane(settings);
  try {
    const answer = await plane.client.read("/version");
    const gitVersion = isJsonObject(answer) ? answer["gitVersion"] : undefined;
    return versionsIn(typeof gitVersion === "string" ? gitVersion : "");
  } finally {
    plane.close();
  }
}

export interface ServerVersion {
  /** Of Lifeboat; "" where a kube-apiserver answers. */
  readonly version: string;
  /** Of the Kubernetes API that is served. */
  readonly kubernetes: string;
}

/** Takes `v1.36.4+lifeboat.0.1.0` apart. */
export function versionsIn(gitVersion: string): ServerVersion {
  const [kubernetes = "", build = ""] = gitVersion.split("+");
  const own = /^lifeboat\.(.+)$/.exec(build)?.[1];
  return { version: own ?? "", kubernetes: own === undefined ? gitVersion : kubernetes };
}

interface Versions {
  readonly client?: { readonly version: string; readonly node: string };
  readonly server?: ServerVersion;
}

function write(format: "text" | "json", { client, server }: Versions): void {
  if (format === "json") {
    process.stdout.write(`${JSON.stringify({ client, server }, null, 2)}\n`);
    return;
  }
  if (client !== undefined)
    process.stdout.write(`client: lifeboat ${client.version} (node ${client.node})\n`);
  if (server === undefined) return;
  const own = server.version === "" ? "" : `lifeboat ${server.version}, `;
  process.stdout.write(`server: ${own}Kubernetes API ${server.kubernetes}\n`);
}
