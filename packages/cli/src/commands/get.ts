/** `lifeboat get clusters`: the fleet at a glance. `lifeboat get statefulsets`: get-statefulsets.ts. Other kinds, here or in members: get-from-members.ts. */
import { ageOf, type Cluster, clusters, findCondition, isRefused } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { clusterHealth, roleOf } from "@lifeboat/core/operating";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { CommandFailed } from "../failure.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import { askedClusters, getFromMembers } from "../get-from-members.ts";
import { getStatefulSets } from "../get-statefulsets.ts";
import { createMemberApi, OWN_API } from "../member-api.ts";
import { namedObjects } from "../named-objects.ts";
import type { OptionDefinition } from "../options.ts";
import { objectsText, type Output, outputFrom, outputOption } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { formatTable } from "../table.ts";

const FORMS = ["table", "wide", "name"] as const;

export const getOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  outputOption(FORMS),
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
    help: "Objects of this namespace",
  },
  { name: "all-namespaces", short: "A", type: "switch", help: "Of all namespaces" },
];

export function addGet(program: Command): void {
  const command = program
    .command("get")
    .description("Show objects of the control plane, or of member clusters (-C)")
    .argument(
      "<KIND>",
      "clusters, workloads, evacuations, policies: any kind that is served, or KIND/NAME",
    )
    .argument("[NAMES...]", "only these; default all");
  declareOptions(command, getOptions).action(async (kind: string, names: readonly string[]) => {
    await inWords(() => get(kind, names, readSettings(command, getOptions)));
  });
}

async function get(asked: string, given: readonly string[], settings: Settings): Promise<void> {
  const output = outputFrom(settings, FORMS);
  const { kind, names } = namedObjects(asked, given);
  const listed = settings.text("clusters");
  const isOfMembers = listed !== undefined || settings.isOn("all-clusters");
  const plane = await findPlane(settings);
  try {
    const namespace = settings.isOn("all-namespaces") ? "" : settings.requiredText("namespace");
    if (!isOfMembers && ["statefulsets", "statefulset", "sts"].includes(kind)) {
      await getStatefulSets(plane.client, names, namespace, output);
      return;
    }
    if (!isOfMembers && (kind === "clusters" || kind === "cluster")) {
      await getClusters(plane.client, names, output);
      return;
    }
    const members = isOfMembers
      ? await askedClusters(plane.client, listed, settings.isOn("all-clusters"))
      : [OWN_API];
    const api = createMemberApi(plane.http);
    try {
      await getFromMembers(api, members, { kind, names, namespace, output });
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
  output: Output<(typeof FORMS)[number]>,
): Promise<void> {
  const found = names.length === 0 ? await all(plane) : await each(plane, names);
  if (found.length === 0 && output.kind === "form" && output.form !== "name")
    process.stderr.write("no clusters are joined: join one with `lifeboat join`\n");
  else
    process.stdout.write(
      output.kind === "form"
        ? printClusters(found, output.form, createRealClock().now())
        : objectsText(output, found, names.length === 1),
    );
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

/** The lines for people and for scripts. */
export function printClusters(
  found: readonly Cluster[],
  format: "table" | "wide" | "name",
  now: Instant,
): string {
  if (format === "name")
    return found.map(({ metadata }) => `cluster.cluster.karmada.io/${metadata.name}\n`).join("");
  const isWide = format === "wide";
  // Where every cluster takes work the column says nothing, and the longest names leave it no room.
  const hasStates = isWide || found.some((cluster) => stateOf(cluster) !== "");
  const rows = found.map((cluster) => [
    ...narrow(cluster, now),
    ...(hasStates ? [stateOf(cluster)] : []),
    ...(isWide ? more(cluster) : []),
  ]);
  const head = ["NAME", "VERSION", "MODE", "READY", "AGE", ...(hasStates ? ["STATE"] : [])];
  const wide = ["ZONES", "REGION", "PROVIDER", "API-ENDPOINT", "PROXY-URL"];
  return formatTable(isWide ? [...head, ...wide] : head, rows);
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

const OWN_TAINTS_ONLY = { trustFencedCondition: false };

/** Why no work comes, in the words of `lifeboat status`; "" where READY is the whole answer. */
function stateOf(cluster: Cluster): string {
  const role = roleOf(cluster, OWN_TAINTS_ONLY, false);
  const isReady = clusterHealth(cluster) === "Ready";
  return role === "takes work" || (role === "closed" && !isReady) ? "" : role;
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
