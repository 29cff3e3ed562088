/**
 * The state that a workload carries when it leaves a cluster: which rules apply, to which status, and whether the new copy
 * gets the result (D12). Cluster failover and application failover both use this decision, so that they cannot differ.
 *
 * 1. While the gate StatefulFailoverInjection is off nothing is carried; a workload with rules gets a warning.
 * 2. A copy that was given state and was never healthy hands that state on unchanged, because its own reports are worth no
 *    more. The rules do not run then, so no key is dropped and no rule holds the eviction. The state is that of the whole
 *    workload, also if the copy holds only some of its replicas.
 * 3. Otherwise the rules run over the status that the copy's Work reports; over the binding's summary only without a Work.
 * 4. The policy decides what becomes of missing keys, and whether a graceful move carries state at all.
 */
import type { KubeObject, ResourceBinding, Work } from "@lifeboat/api";
import { resultOf, type TaskMode } from "../../binding/index.ts";
import type { Fields } from "../../fields.ts";
import { hasBeenHealthy } from "../../propagation/observing/work-status.ts";
import { stateGivenTo } from "../../propagation/rendering/preserved-state.ts";
import { INJECT_ON_GRACEFUL, STATE_FAILURE_POLICY } from "../../well-known.ts";
import { type ExtractedState, extractState, labelsInUse, type StateRule } from "./extract.ts";

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
    state: stateFor(view, annotations[STATE_FAILURE_POLICY] === "Hold"),
    inject: !(isGraceful && annotations[INJECT_ON_GRACEFUL] === "false"),
  };
}

function stateFor(view: CarriedStateView, holdOnMissing: boolean): ExtractedState {
  const rules = rulesOf(view.binding, view.failing);
  if (!view.enabled && rules.length > 0)
    return { outcome: "kept", reason: "SwitchedOff", labels: {}, warnings: [SWITCHED_OFF] };
  const handedOn = view.enabled && !hasRun(view) ? givenLabels(view) : {};
  if (Object.keys(handedOn).length > 0)
    return { outcome: "kept", reason: "HandedOn", labels: handedOn, warnings: [] };
  return extractState({
    rules,
    heldAll: heldAll(view),
    status: reportedBy(view),
    template: view.template,
    holdOnMissing,
  });
}

const SWITCHED_OFF = "no state is kept: the feature gate StatefulFailoverInjection is off";

function rulesOf(
  { spec }: ResourceBinding,
  failing: CarriedStateView["failing"],
): readonly StateRule[] {
  return spec.failover?.[failing]?.statePreservation?.rules ?? [];
}

/** Whether the copy was healthy at any time since it came to the cluster. Without its Work: whether it reported anything. */
function hasRun(view: CarriedStateView): boolean {
  return view.work === undefined
    ? reportedBy(view) !== undefined
    : hasBeenHealthy(view.work.status);
}

/** What the copy was given, of what any rule asks for and the template does not decide itself. */
function givenLabels({ binding, cluster, template }: CarriedStateView): Record<string, string> {
  const given = stateGivenTo(binding, cluster)?.labels ?? {};
  const rules = [...rulesOf(binding, "application"), ...rulesOf(binding, "cluster")];
  const asked = new Set(rules.map(({ aliasLabelName }) => aliasLabelName));
  const taken = labelsInUse(template);
  return Object.fromEntries(
    Object.entries(given).filter(([key]) => asked.has(key) && !taken.has(key)),
  );
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
