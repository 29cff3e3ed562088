/**
 * `lifeboat policy enable-failover`: the rule by which workloads leave a failed cluster. It tells what the failure of each cluster would
 * do with the rule, writes one ordinary ClusterTaintPolicy, and names the gate that is missing.
 */
import {
  clusterResourceBindings,
  clusters,
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  equalJson,
  type New,
  orNothing,
  resourceBindings,
} from "@lifeboat/api";
import { formatDuration, formatTime } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { clusterNamesOf } from "@lifeboat/core/binding";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { dryRunOption } from "../change-cluster.ts";
import { confirm, yesOption } from "../confirm.ts";
import { CommandFailed } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import { type LiveForesight, openForesight } from "../live-play.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { everyLines } from "../simulate-text.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";

const NAME = "failover";
const TAINT_KEY = "lifeboat.dev/failed";
/** So many clusters are shown, those with the most workloads. */
const MAX_SHOWN = 10;

export const enableFailoverOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "after",
    type: "duration",
    commandLineOnly: true,
    value: "TIME",
    default: "5m",
    min: 1000,
    help: "How long a cluster must be not Ready before its workloads leave",
  },
  {
    name: "back-after",
    type: "duration",
    commandLineOnly: true,
    value: "TIME",
    default: "3m",
    min: 1000,
    help: "How long it must be Ready again before it takes workloads",
  },
  yesOption,
  dryRunOption,
];

export function addPolicy(program: Command): void {
  const policy = program.command("policy").description("Set up rules of failover");
  const command = policy
    .command("enable-failover")
    .description("Let workloads leave clusters that fail: shows what would happen, then asks");
  declareOptions(command, enableFailoverOptions).action(() => {
    const settings = readSettings(command, enableFailoverOptions);
    return withPlane(settings, (plane) => enableFailover(plane, settings));
  });
}

/** The rule: a cluster that is not Ready for a while has failed. */
export function failoverPolicy(afterMs: number, backAfterMs: number): New<ClusterTaintPolicy> {
  return {
    apiVersion: `${clusterTaintPolicies.group}/${clusterTaintPolicies.version}`,
    kind: clusterTaintPolicies.kind,
    metadata: { name: NAME },
    spec: {
      matchConditions: [
        { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
      ],
      taintsToAdd: [
        {
          key: TAINT_KEY,
          effect: "NoExecute",
          addOnMatchSeconds: Math.round(afterMs / 1000),
          removeOnMismatchSeconds: Math.round(backAfterMs / 1000),
        },
      ],
    },
  };
}

async function enableFailover(plane: Client, settings: Settings): Promise<void> {
  const wanted = failoverPolicy(settings.number("after"), settings.number("back-after"));
  const found = await orNothing(plane.get(clusterTaintPolicies, { namespace: "", name: NAME }));
  const isThere = found !== undefined && isSame(found, wanted);
  if (found !== undefined && !isThere && !isOurs(found))
    throw new CommandFailed(
      `there is another ClusterTaintPolicy ${NAME}: rename it, or change it with kubectl`,
    );
  const live = await openForesight(plane);
  print([...(await preview(plane, live, wanted, settings)), ""]);
  if (isThere) print([`clustertaintpolicy/${NAME} is as asked already`]);
  else await write(plane, found, wanted, settings);
  for (const line of gateLines(live.controllers.failover)) print([line]);
}

async function preview(
  plane: Client,
  live: LiveForesight,
  wanted: New<ClusterTaintPolicy>,
  settings: Settings,
): Promise<readonly string[]> {
  const names = await busiest(plane);
  const foreseen = live.every(names.slice(0, MAX_SHOWN), {
    taintPolicies: [planned(wanted)],
    controllers: { ...live.controllers, failover: true },
  });
  const after = formatDuration(settings.number("after"));
  return [
    ...hanging(
      "",
      `A cluster that is not Ready for ${after} gets the taint ${TAINT_KEY}:NoExecute. By the decisions of this control plane, if one failed now:`,
    ),
    ...(foreseen.length === 0 ? ["  no clusters are joined"] : everyLines(foreseen)),
    ...(names.length > MAX_SHOWN
      ? hanging(
          "",
          `The ${MAX_SHOWN} busiest of ${names.length} clusters; all: lifeboat simulate --every`,
        )
      : []),
  ];
}

/** The rule as the control plane would hold it. */
function planned({ apiVersion, kind, spec }: New<ClusterTaintPolicy>): ClusterTaintPolicy {
  const creationTimestamp = formatTime(createRealClock().now());
  const identity = { name: NAME, uid: NAME, resourceVersion: "1", generation: 1 };
  return { apiVersion, kind, metadata: { ...identity, creationTimestamp }, spec };
}

/** The clusters, those with the most workloads first. */
async function busiest(plane: Client): Promise<readonly string[]> {
  const load = new Map<string, number>();
  const bindings = [
    ...(await plane.list(resourceBindings)).items,
    ...(await plane.list(clusterResourceBindings)).items,
  ];
  for (const binding of bindings)
    for (const name of clusterNamesOf(binding)) load.set(name, (load.get(name) ?? 0) + 1);
  const names = (await plane.list(clusters)).items.map(({ metadata }) => metadata.name);
  return names.toSorted((a, b) => (load.get(b) ?? 0) - (load.get(a) ?? 0));
}

async function write(
  plane: Client,
  found: ClusterTaintPolicy | undefined,
  wanted: New<ClusterTaintPolicy>,
  settings: Settings,
): Promise<void> {
  const dryRun = settings.isOn("dry-run");
  const verb = found === undefined ? "created" : "changed";
  if (!settings.isOn("yes") && !dryRun)
    await confirm(`clustertaintpolicy/${NAME} will be ${verb}.`, "Go on?");
  if (found === undefined) await plane.create(clusterTaintPolicies, wanted, { dryRun });
  else await plane.update(clusterTaintPolicies, { ...found, spec: wanted.spec }, { dryRun });
  print([`clustertaintpolicy/${NAME} ${verb}${dryRun ? " (dry run)" : ""}`]);
}

function gateLines(isOn: boolean): readonly string[] {
  if (isOn) return ["The gate Failover is on."];
  return hanging(
    "",
    "The gate Failover is off: nothing moves yet. Start `lifeboat up` (or `lifeboat manager`) once with --feature-gates Failover=true; it is kept from then on.",
  );
}

/** One that this command wrote, with whatever times. */
function isOurs({ spec }: ClusterTaintPolicy): boolean {
  const taints = spec.taintsToAdd ?? [];
  return taints.length === 1 && taints[0]?.key === TAINT_KEY;
}

function isSame({ spec }: ClusterTaintPolicy, wanted: New<ClusterTaintPolicy>): boolean {
  return equalJson(spec, wanted.spec);
}
