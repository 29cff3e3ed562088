/**
 * How long nothing has to be written before a play is over. A wait of the control plane ends without an event, so this is longer
 * than every wait of the snapshot, of what a person writes at the beginning, and of the options of the controllers, one after another:
 *
 *   noticing     probes that fail or succeed, agents that are silent
 *   windows      of taint policies, before a taint comes and before it goes
 *   tolerations  of taints and of unhealthy copies, and the grace of a copy that leaves
 *   rates        between two releases; until the rate is over that a person set
 *   failback     stabilisation and time of day, while a workload is away from where it ran
 *   traffic      load balancers that do not confirm, where a MultiClusterIngress is
 *   quorums      a replica that is not let go
 */
import {
  clusterPropagationPolicies,
  clusterResourceBindings,
  clusterTaintPolicies,
  evacuationBudgets,
  type KubeObject,
  multiClusterIngresses,
  propagationPolicies,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { addMs, plainMoment } from "@lifeboat/base";
import { applicationGraceSeconds, toleratedSecondsOf } from "@lifeboat/core/failover/application";
import { overrideUntil } from "@lifeboat/core/failover/evacuation";
import { failbackRuleOf, mayFailBack, opensAt } from "@lifeboat/core/operating";
import { type ControllersOptions, DEFAULT_CONTROLLERS, objectsOf } from "@lifeboat/plane";
import type { WorldSnapshot } from "../snapshot/read-snapshot.ts";
import type { PlayRequest } from "./play.ts";

/** Longer than any pace of the controllers that no option sets. */
const REST_MS = 3 * 60_000;

export function restMsOf(
  { tables, takenAt }: WorldSnapshot,
  request: Pick<PlayRequest, "controllers" | "apply">,
): number {
  const options: ControllersOptions = { ...DEFAULT_CONTROLLERS, ...request.controllers };
  const all = <T extends KubeObject>(resource: Resource<T>): readonly T[] => [
    ...objectsOf(tables, resource),
    ...((request.apply ?? []) as readonly unknown[] as readonly T[]).filter(
      ({ kind }) => kind === resource.kind,
    ),
  ];
  const bindings = [...all(resourceBindings), ...all(clusterResourceBindings)];
  const policies = [...all(propagationPolicies), ...all(clusterPropagationPolicies)];
  const [budget] = objectsOf(tables, evacuationBudgets);
  const override = budget?.spec.rateOverride;
  const until = overrideUntil(override, plainMoment(takenAt));
  const isAway = bindings.some(mayFailBack);
  const waits: readonly (readonly number[])[] = [
    [
      options.clusterFailureThresholdMs,
      options.clusterSuccessThresholdMs,
      options.clusterMonitorGracePeriodMs,
      options.clusterStartupGracePeriodMs,
    ],
    all(clusterTaintPolicies).flatMap(({ spec }) =>
      (spec.taintsToAdd ?? []).flatMap(
        ({ addOnMatchSeconds = 300, removeOnMismatchSeconds = 180 }) => [
          addOnMatchSeconds * 1000,
          removeOnMismatchSeconds * 1000,
        ],
      ),
    ),
    [...bindings, ...policies].flatMap(({ spec }) => toleratedMs(spec)),
    [options.resourceEvictionRate, options.secondaryResourceEvictionRate, override?.perSecond ?? 0]
      .filter((rate) => rate > 0)
      .map((rate) => 1000 / rate),
    until === undefined ? [] : [until - takenAt],
    (isAway ? policies : []).flatMap((policy) => {
      const rule = failbackRuleOf(policy);
      if (rule === undefined) return [];
      const stableAt = addMs(takenAt, rule.stabilisationMs);
      return [opensAt(rule, stableAt) - takenAt];
    }),
    all(multiClusterIngresses).length === 0
      ? []
      : [options.trafficDrainTimeoutMs, options.trafficDrainLimitMs],
    [options.statefulSetLetGoTimeoutMs],
  ];
  return waits.reduce((sum, some) => sum + Math.max(0, ...some), REST_MS);
}

/** Of what a binding has from its policy, which has the same fields. */
function toleratedMs({
  placement,
  failover,
}: Pick<ResourceBinding["spec"], "placement" | "failover">): readonly number[] {
  const { cluster, application } = failover ?? {};
  const seconds = [
    ...(placement?.clusterTolerations ?? []).map(({ tolerationSeconds = 0 }) => tolerationSeconds),
    ...(cluster === undefined ? [] : [cluster.tolerationSeconds ?? 300]),
    ...(application === undefined
      ? []
      : [toleratedSecondsOf(application), applicationGraceSeconds(application)]),
  ];
  return seconds.map((one) => one * 1000);
}
