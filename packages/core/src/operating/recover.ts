/**
 * The way out when a quorum lost its majority for ever: the shares of the clusters that are gone are given up together, so that the
 * set is what still lives. What the application must do itself (for etcd: one survivor forms a new cluster) no control plane can do.
 *
 * 1. Nothing is given up while the majority is there, or could come back with pods of living clusters.
 * 2. A cluster that does not answer may still run its pods, and they may be the majority that goes on. So every cluster whose share is
 *    given up must be proven off (`lifeboat fence`), or be no member of the fleet any more.
 * 3. One write of the binding gives up all of them, with the version that was decided on.
 */
import type { Cluster, ResourceBinding } from "@lifeboat/api";
import { resultOf, withResult } from "../binding/index.ts";
import { fenceOf, isAnswering } from "../failover/eviction-tasks/fence.ts";
import { compareText } from "../fields.ts";
import { budgetViewOf, disruptionBudget } from "../federated/budget.ts";
import { isQuorum } from "../federated/marks.ts";
import { podsOf } from "../federated/names.ts";
import { withFederated } from "../federated/record.ts";
import { forgetShare } from "../federated/shares.ts";
import { startedShares } from "../federated/start.ts";

export type RecoveryPlan =
  | {
      readonly outcome: "recover";
      /** The binding as it shall be written. */
      readonly binding: ResourceBinding;
      /** The clusters whose shares are given up. */
      readonly lost: readonly string[];
      readonly survivors: readonly string[];
      /** For people: what is lost, what is done, and what remains to be done. */
      readonly lines: readonly string[];
    }
  | { readonly outcome: "refused"; readonly message: string };

/** What to do about a lost majority. Only a person's word is a proof here: what is given up does not come back. */
export function decideRecovery(
  binding: ResourceBinding,
  clusterOf: (name: string) => Cluster | undefined,
): RecoveryPlan {
  const { name } = binding.spec.resource;
  const view = budgetViewOf(binding, clusterOf);
  if (view === undefined || !isQuorum(binding))
    return refused(`${name} is no federated StatefulSet that forms a quorum`);
  const { record } = view;
  const { total, up, majority } = disruptionBudget(view);
  const shares = [...startedShares(record)];
  const living = shares.filter(([one]) => answers(clusterOf(one)));
  const couldBeUp = living.reduce((sum, [, share]) => sum + share, 0);
  const counted = `${up} of ${total} pods of ${name} are up, and a majority is ${majority}`;
  if (up >= majority) return refused(`${counted}: the majority is not lost`);
  if (couldBeUp >= majority)
    return refused(
      `${counted}, but clusters that answer have ${couldBeUp}: get those pods ready, and the majority is back`,
    );
  const lost = shares
    .map(([one]) => one)
    .filter((one) => !answers(clusterOf(one)))
    .toSorted(compareText);
  const unproven = lost.filter((one) => {
    const cluster = clusterOf(one);
    return cluster !== undefined && fenceOf(cluster, { trustFencedCondition: false }) === undefined;
  });
  if (unproven.length > 0)
    return refused(
      `${counted}. ${unproven.join(", ")} may still run pods that are the majority. Switch ${unproven.length === 1 ? "it" : "them"} off, then: ${unproven.map((one) => `lifeboat fence ${one}`).join("; ")}`,
    );
  const survivors = podsOf(name, { shares: new Map(living) }).map((pod) => pod.name);
  return {
    outcome: "recover",
    binding: without(binding, lost, lost.reduce(forgetShare, record)),
    lost,
    survivors,
    lines: linesOf(name, counted, lost, survivors, shares),
  };
}

function refused(message: string): RecoveryPlan {
  return { outcome: "refused", message };
}

function answers(cluster: Cluster | undefined): boolean {
  return cluster !== undefined && isAnswering(cluster);
}

function without(
  binding: ResourceBinding,
  lost: readonly string[],
  record: Parameters<typeof withFederated>[1],
): ResourceBinding {
  const left = resultOf(binding).filter(({ name }) => !lost.includes(name));
  return withFederated(withResult(binding, left), record);
}

function linesOf(
  set: string,
  counted: string,
  lost: readonly string[],
  survivors: readonly string[],
  shares: readonly (readonly [string, number])[],
): readonly string[] {
  const gone = shares.filter(([name]) => lost.includes(name));
  const count = gone.reduce((sum, [, share]) => sum + share, 0);
  return [
    `${counted}: the majority is lost.`,
    "",
    `This gives up the shares in ${gone.map(([name, share]) => `${name} (${share})`).join(", ")} for ever: ${count} pods, their names and Services.`,
    `What was written since the survivors last heard of the majority is lost. Volumes stay in their clusters.`,
    "",
    survivors.length === 0
      ? `No pod is left: ${set} begins again with the next scale-up, in clusters that never had a share.`
      : `What is left: ${survivors.join(", ")}.`,
    ...(survivors.length === 0
      ? []
      : [
          `Then, in the application: let one survivor form the quorum alone (etcd: --force-new-cluster), and add the others to it again.`,
        ]),
    `Then: scale ${set} up by one or more; new pods come one after the other and join.`,
  ];
}
