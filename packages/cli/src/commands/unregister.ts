/**
 * `lifeboat unregister NAME`: lets a Pull cluster leave, from either side: at the control plane, or with --from-member by the
 * identity of the agent that is installed in the member.
 */
import { createRealClock } from "@lifeboat/base/adapters";
import { parseKubeconfig, resolveAccess } from "@lifeboat/kit";
import { installedKubeconfig, loadOf, unjoinCluster, unregisterFromMember } from "@lifeboat/plane";
import type { Command } from "commander";
import { confirmLeaving, confirmLeavingBlindly } from "../confirm-leaving.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { connect, findPlane, type FoundPlane, inWords } from "../find-plane.ts";
import { giveUpShares } from "../forget-shares.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print } from "../with-plane.ts";
import { checkClusterName, memberAccess } from "./join.ts";
import { describeLoad, unjoinOptions } from "./unjoin.ts";
import { tell } from "../tell.ts";
import { hanging } from "../wrap.ts";

export const unregisterOptions: readonly OptionDefinition[] = [
  ...unjoinOptions.filter(({ name }) => name !== "cluster-namespace"),
  {
    name: "from-member",
    type: "switch",
    commandLineOnly: true,
    help: "Leave with the identity of the agent in --cluster-kubeconfig, without access to the control plane",
  },
];

export function addUnregister(program: Command): void {
  const command = program
    .command("unregister")
    .description("Let a cluster leave that registered by itself")
    .argument("<NAME>", "the cluster's name");
  declareOptions(command, unregisterOptions).action(async (name: string) => {
    const settings = readSettings(command, unregisterOptions);
    await inWords(() => unregister(name, settings));
  });
}

async function unregister(name: string, settings: Settings): Promise<void> {
  checkClusterName(name);
  const isFromMember = settings.isOn("from-member");
  const knowsMember = settings.text("cluster-kubeconfig") !== undefined;
  if (isFromMember && !knowsMember)
    throw new UsageError("--from-member needs --cluster-kubeconfig");
  const member = knowsMember ? await connect(await memberAccess(settings)) : undefined;
  try {
    if (isFromMember && member !== undefined) await leaveFromMember(name, settings, member);
    else await leaveAtPlane(name, settings, member);
  } finally {
    member?.close();
  }
}

async function leaveAtPlane(
  name: string,
  settings: Settings,
  member: FoundPlane | undefined,
): Promise<void> {
  const plane = await findPlane(settings);
  const isDryRun = settings.isOn("dry-run");
  try {
    const load = await loadOf(plane.client, name);
    print(hanging("", describeLoad(name, load)));
    await confirmLeaving(plane.client, name, "Unregister", settings);
    await giveUpShares(plane.client, name, load.shares, settings);
    const { leftInMember } = await unjoinCluster(
      { clock: createRealClock() },
      {
        plane: plane.client,
        name,
        mode: "Pull",
        ...(member === undefined ? {} : { member: member.client }),
        force: settings.isOn("force"),
        waitMs: settings.number("wait"),
        dryRun: isDryRun,
      },
    );
    const left =
      member === undefined && !isDryRun
        ? leftUnseen(name, settings.isOn("force") && load.works > 0)
        : leftInMember;
    tellEnd(name, isDryRun, { leftInPlane: [], leftInMember: left });
  } finally {
    plane.close();
  }
}

/** What is left in a member that this command does not reach; `hadWorks`: it was taken out by force, with Works. */
export function leftUnseen(name: string, hadWorks: boolean): readonly string[] {
  return [
    `its agent, whose identity is refused from now on: take it away with lifeboat unregister ${name} --from-member --cluster-kubeconfig FILE`,
    ...(hadWorks
      ? ["what the control plane placed in it, if the agent could not take it away in time"]
      : []),
  ];
}

async function leaveFromMember(
  name: string,
  settings: Settings,
  member: FoundPlane,
): Promise<void> {
  const text = await installedKubeconfig(member.client, name);
  if (text === undefined)
    throw new CommandFailed("no agent is installed in the cluster: its kubeconfig is not there");
  const plane = await connect(resolveAccess(parseKubeconfig(text, "", "the agent's kubeconfig")));
  try {
    await confirmLeavingBlindly(name, "Unregister", settings);
    const outcome = await unregisterFromMember(
      { clock: createRealClock() },
      {
        plane: plane.client,
        member: member.client,
        name,
        force: settings.isOn("force"),
        waitMs: settings.number("wait"),
        dryRun: settings.isOn("dry-run"),
      },
    );
    tellEnd(name, settings.isOn("dry-run"), outcome);
  } finally {
    plane.close();
  }
}

function tellEnd(
  name: string,
  isDryRun: boolean,
  left: { readonly leftInPlane: readonly string[]; readonly leftInMember: readonly string[] },
): void {
  print([
    isDryRun
      ? `cluster(${name}) can be unregistered (dry run)`
      : `cluster(${name}) is unregistered successfully`,
  ]);
  for (const what of left.leftInPlane) tell(`left in the control plane: ${what}`);
  for (const what of left.leftInMember) tell(`left in the cluster: ${what}`);
}
