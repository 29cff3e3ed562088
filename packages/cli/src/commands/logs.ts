/** `lifeboat logs POD -C CLUSTER`: the log of a container in a member, through the control plane's proxy. */
import { once } from "node:events";
import { pods, resourcePath } from "@lifeboat/api";
import type { Command } from "commander";
import { CommandFailed, UsageError } from "../failure.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import { createMemberApi } from "../member-api.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { stopOnSignal } from "../stopping.ts";

/** Which container is meant, of a pod in a member. */
export const podOptions: readonly OptionDefinition[] = [
  {
    name: "clusters",
    short: "C",
    type: "text",
    value: "CLUSTER",
    help: "The cluster in which the pod runs",
  },
  {
    name: "namespace",
    short: "n",
    type: "text",
    value: "NAMESPACE",
    default: "default",
    help: "The namespace of the pod",
  },
  {
    name: "container",
    short: "c",
    type: "text",
    value: "NAME",
    help: "The container; needed when the pod has several",
  },
];

export const logsOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  ...podOptions,
  { name: "follow", short: "f", type: "switch", help: "Go on with what is logged from now on" },
  { name: "previous", short: "p", type: "switch", help: "Of the container's run before this one" },
  { name: "timestamps", type: "switch", help: "Begin each line with its time" },
  {
    name: "tail",
    type: "integer",
    value: "N",
    default: "-1",
    min: -1,
    help: "The last N lines; -1: all",
  },
];

export function addLogs(program: Command): void {
  const command = program
    .command("logs")
    .description("Show the log of a pod in a member cluster")
    .argument("<POD>", "the pod");
  declareOptions(command, logsOptions).action(async (pod: string) => {
    await inWords(() => logs(pod, readSettings(command, logsOptions)));
  });
}

async function logs(pod: string, settings: Settings): Promise<void> {
  const cluster = settings.requiredText("clusters");
  if (cluster.includes(",")) throw new UsageError("--clusters: logs are of one cluster");
  const plane = await findPlane(settings);
  const api = createMemberApi(plane.http);
  const stopping = stopOnSignal({});
  try {
    const body = await api.stream(cluster, logTarget(pod, settings), stopping.signal);
    stopping.signal.addEventListener("abort", () => body.destroy(), { once: true });
    for await (const chunk of body)
      if (!process.stdout.write(chunk as Buffer)) await once(process.stdout, "drain");
  } catch (error) {
    if (stopping.signal.aborted) return;
    if (error instanceof Error && "code" in error)
      throw new CommandFailed(`the log broke off: ${error.message}`);
    throw error;
  } finally {
    stopping.release();
    api.close();
    plane.close();
  }
}

/** The path and query of a log. */
export function logTarget(
  pod: string,
  settings: Pick<Settings, "text" | "isOn" | "number">,
): string {
  const namespace = settings.text("namespace") ?? "default";
  const query = new URLSearchParams();
  const container = settings.text("container");
  if (container !== undefined) query.set("container", container);
  for (const name of ["follow", "previous", "timestamps"])
    if (settings.isOn(name)) query.set(name, "true");
  if (settings.number("tail") >= 0) query.set("tailLines", String(settings.number("tail")));
  const path = resourcePath(pods, namespace, pod, "log");
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
