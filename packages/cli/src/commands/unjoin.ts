/** `lifeboat unjoin NAME`: lets a cluster leave the fleet in order, and takes away what joining made in it. */
import { createRealClock } from "@lifeboat/base/adapters";
import { type ClusterLoad, loadOf, unjoinCluster } from "@lifeboat/plane";
import type { Command } from "commander";
import { yesOption } from "../confirm.ts";
import { confirmLeaving } from "../confirm-leaving.ts";
import { connect, findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { giveUpShares } from "../forget-shares.ts";
import { checkClusterName, memberAccess, memberOptions } from "./join.ts";
import { tell } from "../tell.ts";
import { print } from "../with-plane.ts";
import { hanging } from "../wrap.ts";

export const unjoinOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  ...memberOptions,
  {
    name: "wait",
    type: "duration",
    value: "TIME",
    default: "60s",
    min: 1,
    help: "How long the cluster may take to leave",
  },
  {
    name: "force",
    type: "switch",
    commandLineOnly: true,
    help: "Do not wait for workloads to move; a cluster out of reach keeps what is in it",
  },
  yesOption,
  {
    name: "forget-shares",
    type: "switch",
    commandLineOnly: true,
    help: "Give up the shares that federated StatefulSets have in the cluster, for ever",
  },
];

export function addUnjoin(program: Command): void {
  const command = program
    .command("unjoin")
    .description("Let a cluster leave the fleet")
    .argument("<NAME>", "the cluster's name");
  declareOptions(command, unjoinOptions).action(async (name: string) => {
    await inWords(() => unjoin(name, readSettings(command, unjoinOptions)));
  });
}

async function unjoin(name: string, settings: Settings): Promise<void> {
  checkClusterName(name);
  const cleansMember = settings.text("cluster-kubeconfig") !== undefined;
  const access = cleansMember ? await memberAccess(settings) : undefined;
  const plane = await findPlane(settings);
  const member = access === undefined ? undefined : await connect(access);
  const isDryRun = settings.isOn("dry-run");
  try {
    const load = await loadOf(plane.client, name);
    print(hanging("", describeLoad(name, load)));
    await confirmLeaving(plane.client, name, "Unjoin", settings);
    await giveUpShares(plane.client, name, load.shares, settings);
    const { leftInMember } = await unjoinCluster(
      { clock: createRealClock() },
      {
        plane: plane.client,
        name,
        ...(member === undefined ? {} : { member: member.client }),
        namespace: settings.requiredText("cluster-namespace"),
        force: settings.isOn("force"),
        waitMs: settings.number("wait"),
        dryRun: isDryRun,
      },
    );
    process.stdout.write(
      isDryRun
        ? `cluster(${name}) can be unjoined (dry run)\n`
        : `cluster(${name}) is unjoined successfully\n`,
    );
    for (const what of leftInMember) tell(`left in the cluster: ${what}`);
  } finally {
    member?.close();
    plane.close();
  }
}

/** What is still on the cluster, in one line. A Work without a binding carries a namespace, or was made by hand. */
export function describeLoad(name: string, { bindings, examples, works }: ClusterLoad): string {
  const counted = (count: number, one: string): string =>
    `${count} ${one}${count === 1 ? "" : "s"}`;
  if (bindings === 0 && works === 0) return `nothing is on cluster(${name})`;
  if (bindings === 0)
    return `no workload is on cluster(${name}); ${counted(works, "Work")} for namespaces and the like will go`;
  const more = bindings > examples.length ? ", …" : "";
  const which = `${counted(bindings, "binding")} (${examples.join(", ")}${more})`;
  const what = works === 0 ? which : `${which} and ${counted(works, "Work")}`;
  return `still on cluster(${name}): ${what}`;
}
