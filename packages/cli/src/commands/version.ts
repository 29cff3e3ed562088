/** `lifeboat version`: the version of this command and of the control plane that it finds. */
import { isJsonObject } from "@lifeboat/api";
import type { Command } from "commander";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { version } from "../version.ts";
import { print } from "../with-plane.ts";

export const versionOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  { name: "client", type: "switch", help: "Only the version of this command" },
  outputOption(["text"]),
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
  const output = outputFrom(settings, ["text"]);
  const client = { version, node: process.version };
  if (settings.isOn("client")) {
    show(
      output,
      () => versionLines({ client }),
      () => ({ client }),
    );
    return;
  }
  // In text the client's version is printed also where no control plane is found.
  if (output.kind === "form") print(versionLines({ client }));
  const server = await inWords(() => serverVersion(settings));
  show(
    output,
    () => versionLines({ server }),
    () => ({ client, server }),
  );
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

function versionLines({ client, server }: Versions): readonly string[] {
  const own = server === undefined || server.version === "" ? "" : `lifeboat ${server.version}, `;
  return [
    ...(client === undefined ? [] : [`client: lifeboat ${client.version} (node ${client.node})`]),
    ...(server === undefined ? [] : [`server: ${own}Kubernetes API ${server.kubernetes}`]),
  ];
}
