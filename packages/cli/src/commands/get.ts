/** `lifeboat get clusters`: the fleet at a glance. */
import {
  ageOf,
  type Cluster,
  clusters,
  encodeYaml,
  findCondition,
  isRefused,
  type Json,
} from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { CommandFailed, UsageError } from "../failure.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { formatTable } from "../table.ts";

const FORMATS = ["table", "wide", "json", "yaml", "name"] as const;

export const getOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "output",
    short: "o",
    type: "text",
    value: "FORMAT",
    default: "table",
    help: `How it is printed: ${FORMATS.join(", ")}`,
  },
];

export function addGet(program: Command): void {
  const get = program.command("get").description("Show what the control plane holds");
  const command = get
    .command("clusters")
    .alias("cluster")
    .description("The clusters of the fleet")
    .argument("[NAMES...]", "only these; default all");
  declareOptions(command, getOptions).action(async (names: readonly string[]) => {
    await inWords(() => getClusters(names, readSettings(command, getOptions)));
  });
}

async function getClusters(names: readonly string[], settings: Settings): Promise<void> {
  const asked = settings.requiredText("output");
  const format = FORMATS.find((known) => known === asked);
  if (format === undefined)
    throw new UsageError(
      `--output: "${asked}" is not valid: one of ${FORMATS.join(", ")} is needed`,
    );
  const plane = await findPlane(settings);
  try {
    const found = names.length === 0 ? await all(plane.client) : await each(plane.client, names);
    if (found.length === 0 && (format === "table" || format === "wide"))
      process.stderr.write("no clusters are joined: join one with `lifeboat join`\n");
    else if (format === "json" || format === "yaml")
      process.stdout.write(document(found, names.length === 1, format));
    else process.stdout.write(printClusters(found, format, createRealClock().now()));
  } finally {
    plane.close();
  }
}

async function all(plane: Client): Promise<readonly Cluster[]> {
  return (await plane.list(clusters)).items;
}

function each(plane: Client, names: readonly string[]): Promise<readonly Cluster[]> {
  return Promise.all(
    names.map(async (name) => {
      try {
        return await plane.get(clusters, { namespace: "", name });
      } catch (error) {
        if (!isRefused(error, "NotFound")) throw error;
        throw new CommandFailed(
          `there is no cluster "${name}"; \`lifeboat get clusters\` shows which there are`,
        );
      }
    }),
  );
}

function document(found: readonly Cluster[], isOne: boolean, format: "json" | "yaml"): string {
  const [first] = found;
  const list = { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "" }, items: found };
  const value = (isOne && first !== undefined ? first : list) as unknown as Json;
  return format === "json" ? `${JSON.stringify(value, null, 4)}\n` : encodeYaml(value);
}

/** The lines for people and for scripts. */
export function printClusters(
  found: readonly Cluster[],
  format: "table" | "wide" | "name",
  now: Instant,
): string {
  if (format === "name")
    return found.map(({ metadata }) => `cluster.cluster.karmada.io/${metadata.name}\n`).join("");
  const rows = found.map((cluster) => [
    ...narrow(cluster, now),
    ...(format === "wide" ? more(cluster) : []),
  ]);
  const head = ["NAME", "VERSION", "MODE", "READY", "AGE"];
  const wide = ["ZONES", "REGION", "PROVIDER", "API-ENDPOINT", "PROXY-URL"];
  return formatTable(format === "wide" ? [...head, ...wide] : head, rows);
}

function narrow({ metadata, spec, status }: Cluster, now: Instant): readonly string[] {
  return [
    metadata.name,
    status?.kubernetesVersion ?? "",
    spec.syncMode,
    findCondition(status?.conditions, "Ready")?.status ?? "",
    ageOf(metadata.creationTimestamp, now),
  ];
}

function more({ spec }: Cluster): readonly string[] {
  return [
    (spec.zones ?? []).join(","),
    spec.region ?? "",
    spec.provider ?? "",
    spec.apiEndpoint ?? "",
    spec.proxyURL ?? "",
  ];
}
