/**
 * `lifeboat statefulset forget NAME CLUSTER`: a person gives up the share that a federated StatefulSet has in a cluster (D15).
 * Nothing else does that: not a dead cluster, not a drain, not an edit of the policy.
 *
 * `lifeboat statefulset let-go NAME POD`: an operator's hook reports that the application let a replica of a quorum go.
 * `lifeboat statefulset recover NAME`: a person brings a quorum back whose majority is lost for ever.
 * `lifeboat statefulset give-up-names NAME`: a person takes the Services and global names of a quorum's pods away.
 */
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { dryRunOption } from "../change-cluster.ts";
import { confirm, yesOption } from "../confirm.ts";
import { namespaceOption } from "../find-binding.ts";
import { planeOptions } from "../find-plane.ts";
import { forget } from "../forget-shares.ts";
import { confirmDeparture, withoutNames } from "../let-go.ts";
import { carryOutRecovery, planRecovery } from "../recover-quorum.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";

export const forgetOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  namespaceOption,
  yesOption,
  dryRunOption,
];

export function addStatefulSet(program: Command): void {
  const parent = program
    .command("statefulset")
    .alias("sts")
    .description("Direct StatefulSets that are federated");
  addForget(parent);
  addLetGo(parent);
  addRecover(parent);
  addGiveUpNames(parent);
}

function addForget(parent: Command): void {
  const command = parent
    .command("forget")
    .description("Give up the share of a cluster for ever")
    .argument("<NAME>", "the StatefulSet")
    .argument("<CLUSTER>", "the cluster whose share is given up")
    .addHelpText(
      "after",
      `
The replicas there are removed when the cluster answers, and their names are not
used again. The set keeps asking for as many replicas: the next scale-up brings
new ones in other clusters. Volumes stay in the cluster.`,
    );
  declareOptions(command, forgetOptions).action(async (name: string, cluster: string) => {
    const settings = readSettings(command, forgetOptions);
    await withPlane(settings, (plane) => giveUp(plane, name, cluster, settings));
  });
}

function addRecover(parent: Command): void {
  const command = parent
    .command("recover")
    .description("Bring back a quorum whose majority is lost for ever")
    .argument("<NAME>", "the StatefulSet")
    .addHelpText(
      "after",
      `
Shows what is lost, what will be given up and what remains to be done in the
application, then asks. It is refused while the majority can come back, and
while a lost cluster is not fenced: its pods may be the majority that goes on.`,
    );
  declareOptions(command, forgetOptions).action(async (name: string) => {
    const settings = readSettings(command, forgetOptions);
    await withPlane(settings, (plane) => recover(plane, name, settings));
  });
}

async function recover(plane: Client, name: string, settings: Settings): Promise<void> {
  const key = { namespace: settings.requiredText("namespace"), name };
  const dryRun = settings.isOn("dry-run");
  const plan = await planRecovery(plane, key);
  print([...plan.lines.flatMap((line) => hanging("", line)), ""]);
  if (!dryRun && !settings.isOn("yes"))
    await confirm("What is given up does not come back.", `Recover ${name}?`);
  await carryOutRecovery(plane, key, plan, dryRun);
  const clusters = plan.lost.join(", ");
  print([`statefulset/${name}: shares in ${clusters} forgotten${dryRun ? " (dry run)" : ""}`]);
}

function addGiveUpNames(parent: Command): void {
  const command = parent
    .command("give-up-names")
    .description("Take away the Services and global names of a quorum's pods")
    .argument("<NAME>", "the StatefulSet")
    .addHelpText(
      "after",
      `
Sets federation.kubernetes.io/statefulset-lb-needed to "false", which is refused
without an acknowledgement: pods in other clusters are found by these names only.
The pods stay.`,
    );
  declareOptions(command, forgetOptions).action(async (name: string) => {
    const settings = readSettings(command, forgetOptions);
    await withPlane(settings, (plane) => giveUpNames(plane, name, settings));
  });
}

async function giveUpNames(plane: Client, name: string, settings: Settings): Promise<void> {
  const key = { namespace: settings.requiredText("namespace"), name };
  const dryRun = settings.isOn("dry-run");
  if (!dryRun && !settings.isOn("yes"))
    await confirm(
      `The Services and global names of all pods of ${name} go; pods of other clusters are not found any more.`,
      "Give them up?",
    );
  await withoutNames(plane, key, dryRun);
  print([`statefulset/${name}: Services and names given up${dryRun ? " (dry run)" : ""}`]);
}

const letGoOptions: readonly OptionDefinition[] = [...planeOptions, namespaceOption, dryRunOption];

function addLetGo(parent: Command): void {
  const command = parent
    .command("let-go")
    .description("Report that the application let a replica of a quorum go")
    .argument("<NAME>", "the StatefulSet")
    .argument(
      "<POD>",
      "the pod that leaves, as the condition IdentitiesAssigned and the ConfigMap NAME-peers name it",
    )
    .addHelpText(
      "after",
      `
On a scale-down the replicas of a quorum leave one after the other. Remove the
member from the application first (for etcd: etcdctl member remove), then report
it: the pod, its Service and its name go, and the next replica leaves. It can be
repeated.`,
    );
  declareOptions(command, letGoOptions).action(async (name: string, pod: string) => {
    const settings = readSettings(command, letGoOptions);
    await withPlane(settings, (plane) => letGo(plane, name, pod, settings));
  });
}

async function letGo(plane: Client, name: string, pod: string, settings: Settings): Promise<void> {
  const key = { namespace: settings.requiredText("namespace"), name };
  const dryRun = settings.isOn("dry-run");
  await confirmDeparture(plane, key, pod, dryRun);
  print([`statefulset/${name}: ${pod} let go${dryRun ? " (dry run)" : ""}`]);
}

async function giveUp(
  plane: Client,
  name: string,
  cluster: string,
  settings: Settings,
): Promise<void> {
  const key = {
    namespace: settings.requiredText("namespace"),
    name: bindingName("StatefulSet", name),
  };
  const dryRun = settings.isOn("dry-run");
  const share = await forget(plane, key, cluster, true);
  const what = `${share} replica${share === 1 ? "" : "s"} of ${name} in ${cluster}`;
  if (!dryRun) {
    if (!settings.isOn("yes")) await confirm(`${what} are given up for ever.`, "Forget the share?");
    await forget(plane, key, cluster, false);
  }
  print([`statefulset/${name}: ${what} forgotten${dryRun ? " (dry run)" : ""}`]);
}
