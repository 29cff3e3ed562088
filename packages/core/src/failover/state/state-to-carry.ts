/**
 * The state that a workload carries when it leaves a cluster, from the objects that say so: which rules apply, over which
 * status, and whether the new copy gets it (D12). Both kinds of failover ask here, so that they cannot differ.
 *
 * 1. While the gate StatefulFailoverInjection is off nothing is read.
 * 2. The status is the one that the copy's Work reports; the binding's summary of it only when there is no Work.
 * 3. The policy says what becomes of missing keys, and whether a graceful move carries state at all.
 */
import type { KubeObject, ResourceBinding, Work } from "@lifeboat/api";
import { resultOf, type TaskMode } from "../../binding/index.ts";
import type { Fields } from "../../fields.ts";
import { INJECT_ON_GRACEFUL, STATE_FAILURE_POLICY } from "../../well-known.ts";
import { type ExtractedState, extractState, type StateRule } from "./extract.ts";

export interface CarriedStateView {
  readonly binding: ResourceBinding;
  /** The cluster that is left. */
  readonly cluster: string;
  /** What fails: it decides whose rules apply. */
  readonly failing: "application" | "cluster";
  readonly purgeMode: TaskMode;
  /** The Work of the old copy. */
  readonly work: Work | undefined;
  readonly template: Fields;
  /** The policy that claims the template, for its annotations. */
  readonly policy: Pick<KubeObject, "metadata"> | undefined;
  /** The gate StatefulFailoverInjection. */
  readonly enabled: boolean;
}

export interface CarriedState {
  readonly state: ExtractedState;
  /** Whether the new copy gets the labels. */
  readonly inject: boolean;
}

/** What the workload carries, or why it must not leave yet. */
export function stateToCarry(view: CarriedStateView): CarriedState {
  const annotations = view.policy?.metadata.annotations ?? {};
  const isGraceful = view.purgeMode !== "Directly";
  return {
    state: extractState({
      rules: view.enabled ? rulesOf(view) : [],
      heldAll: heldAll(view),
      status: reportedBy(view),
      template: view.template,
      holdOnMissing: annotations[STATE_FAILURE_POLICY] === "Hold",
    }),
    inject: !(isGraceful && annotations[INJECT_ON_GRACEFUL] === "false"),
  };
}

function rulesOf({ binding, failing }: CarriedStateView): readonly StateRule[] {
  return binding.spec.failover?.[failing]?.statePreservation?.rules ?? [];
}

/** Whether every replica that the workload asks for runs in the cluster that is left. */
function heldAll({ binding, cluster }: CarriedStateView): boolean {
  const [only, ...others] = resultOf(binding);
  // seed: not-alone
  if (only?.name !== cluster || others.length > 0) return false;
  return only.replicas === undefined || only.replicas >= (binding.spec.replicas ?? 0);
}

function reportedBy({ binding, cluster, work }: CarriedStateView): unknown {
  const summary = binding.status?.aggregatedStatus?.find(
    ({ clusterName }) => clusterName === cluster,
  );
  return work?.status?.manifestStatuses?.[0]?.status ?? summary?.status;
}
