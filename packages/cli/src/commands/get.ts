/** `lifeboat get clusters`: the fleet at a glance. `lifeboat get statefulsets`: get-statefulsets.ts. `lifeboat get KIND -C CLUSTER…`: what members have (get-from-members.ts). */
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
import { askedClusters, getFromMembers } from "../get-from-members.ts";
import { getStatefulSets } from "../get-statefulsets.ts";
import { createMemberApi } from "../member-api.ts";
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
  {
    name: "clusters",
    short: "C",
    type: "text",
    value: "CLUSTERS",
    help: "Of these member clusters, by comma",
  },
  { name: "all-clusters", type: "switch", help: "Of all member clusters" },
  {
    name: "namespace",
    short: "n",
    type: "text",
    value: "NAMESPACE",
    default: "default",
    help: "StatefulSets, and objects in members, of this namespace",
  },
  { name: "all-namespaces", short: "A", type: "switch", help: "Of all namespaces" },
];

export function addGet(program: Command): void {
  const command = program
    .command("get")
    .description("Show the clusters of the fleet, or what member clusters have (-C)")
    .argument(
      "<KIND>",
      "clusters, or statefulsets with each cluster's share; with -C any kind that the members serve",
    )
    .argument("[NAMES...]", "only these; default all");
  declareOptions(command, getOptions).action(async (kind: string, names: readonly string[]) => {
    await inWords(() => get(kind, names, readSettings(command, getOptions)));
  });
}

async function get(kind: string, names: readonly string[], settings: Settings): Promise<void> {
  const asked = settings.requiredText("output");
  const format = FORMATS.find((known) => known === asked);
  if (format === undefined)
    throw new UsageError(
      `--output: "${asked}" is not valid: one of ${FORMATS.join(", ")} is needed`,
    );
  const listed = settings.text("clusters");
  const isOfMembers = listed !== undefined || settings.isOn("all-clusters");
  const isOfSets = ["statefulsets", "statefulset", "sts"].includes(kind);
  if (!isOfMembers && !isOfSets && kind !== "clusters" && kind !== "cluster")
    throw new UsageError(
      `"${kind}" is shown of member clusters: name them with -C, or use kubectl for the control plane`,
    );
  const plane = await findPlane(settings);
  try {
    const inNamespace = settings.isOn("all-namespaces") ? "" : settings.requiredText("namespace");
    if (!isOfMembers && isOfSets) {
      await getStatefulSets(plane.client, names, inNamespace, format);
      return;
    }
    if (!isOfMembers) {
      await getClusters(plane.client, names, format);
      return;
    }
    const members = await askedClusters(plane.client, listed, settings.isOn("all-clusters"));
    const namespace = inNamespace;
    const api = createMemberApi(plane.http);
    try {
      await getFromMembers(api, members, { kind, names, namespace, format });
    } finally {
      api.close();
    }
  } finally {
    plane.close();
  }
}

async function getClusters(
  plane: Client,
  names: readonly string[],
  format: (typeof FORMATS)[number],
): Promise<void> {
  const found = names.length === 0 ? await all(plane) : await each(plane, names);
  if (found.length === 0 && (format === "table" || format === "wide"))
    process.stderr.write("no clusters are joined: join one with `lifeboat join`\n");
  else if (format === "json" || format === "yaml")
    process.stdout.write(document(found, names.length === 1, format));
  else process.stdout.write(printClusters(found, format, createRealClock().now()));
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
