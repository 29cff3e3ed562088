/** Oracles of group G: where workloads are placed. */
import type { AnyObject, ResourceBinding } from "@lifeboat/api";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { faultyClusters, isClaimedBy, isGoing, isOf, nameOf, nameOfCluster } from "./reading.ts";

/** Above this share nobody is moved (D6). */
const BRAKED_SHARE = 0.55;

export const alwaysOracles: readonly AlwaysOracle[] = [];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "placed-as-asked",
    promise: "H5: a workload is placed on all clusters that its policy names and that are there",
    judge: (truth) => {
      const clusters = truth.clusters().filter((cluster) => !isGoing(cluster));
      const free = new Set(
        clusters.filter(({ spec }) => (spec.taints ?? []).length === 0).map(nameOfCluster),
      );
      return truth.policies().flatMap((policy) => {
        const { placement, resourceSelectors } = policy.spec;
        const asked = new Set(
          placement?.clusterAffinity?.clusterNames ?? clusters.map(nameOfCluster),
        );
        const allowed = new Set(clusters.map(nameOfCluster).filter((name) => asked.has(name)));
        const required = [...free].filter((name) => asked.has(name));
        if (required.length === 0) return [];
        return resourceSelectors.flatMap(({ kind, name = "" }) => {
          const { namespace } = policy.metadata;
          const template = truth
            .templates(kind)
            .find((o) => o.metadata.name === name && o.metadata.namespace === namespace);
          if (template === undefined || !isClaimedBy(template, policy.metadata.name)) return [];
          const binding = truth
            .bindings()
            .find(({ spec }) => isOf(spec.resource, kind, namespace, name));
          const placed = (binding?.spec.clusters ?? []).map((target) => target.name).toSorted();
          const wrong = (why: string): string[] => [
            `${kind} ${name} is on [${placed.join()}]: ${why}`,
          ];
          if (placed.some((cluster) => !allowed.has(cluster))) return wrong("more than allowed");
          const isDivided = placement?.replicaScheduling?.replicaSchedulingType === "Divided";
          if (isDivided && kind !== "ConfigMap") return dividedFault(template, binding);
          // Constraints do not apply to a division by fixed weights.
          if (placement?.spreadConstraints !== undefined && !isDivided)
            return placed.length === 1 ? [] : wrong("not one cluster");
          const missing = required.filter((cluster) => !placed.includes(cluster));
          return missing.length === 0 ? [] : wrong(`${missing.join()} is missing`);
        });
      });
    },
  },
  {
    name: "nobody-stays-on-a-faulty-cluster",
    promise: "D7: with the gate on, workloads leave clusters with a NoExecute taint for others",
    judge: (truth) => {
      const clusters = truth.clusters();
      const faulty = faultyClusters(truth);
      // Above this share nobody is moved (D6).
      if (!truth.circumstances.failover || faulty.size / clusters.length > BRAKED_SHARE) return [];
      return truth.bindings().flatMap((binding) => {
        const { placement, clusters: placed = [] } = binding.spec;
        const asked = placement?.clusterAffinity?.clusterNames;
        const hasOther = clusters.some(
          ({ metadata: { name }, spec }) =>
            (asked?.includes(name) ?? true) && (spec.taints ?? []).length === 0,
        );
        // Only where one copy is asked for it is certain that another cluster is enough (D8).
        if (placement?.spreadConstraints === undefined || !hasOther) return [];
        return placed
          .filter(({ name }) => faulty.has(name))
          .map(({ name }) => `${nameOf(binding)} is still on ${name}`);
      });
    },
  },
];

function dividedFault(
  template: AnyObject,
  binding: ResourceBinding | undefined,
): readonly string[] {
  const { spec } = template as { readonly spec?: { readonly replicas?: number } };
  const wanted = spec?.replicas ?? 1;
  const placed = (binding?.spec.clusters ?? []).reduce((sum, t) => sum + (t.replicas ?? 0), 0);
  return placed === wanted
    ? []
    : [`${template.kind} ${template.metadata.name} has ${placed} of ${wanted} replicas placed`];
}
