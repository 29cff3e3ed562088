/** A fleet in which everybody starts in m1 and may run anywhere, for the tests of the rate. */
import {
  clusters,
  type New,
  type PropagationPolicy,
  propagationPolicies,
  resourceBindings,
} from "@lifeboat/api";
import { deployment, type Fleet, resources } from "@lifeboat/testkit";
import type { ControllersOptions } from "../../src/controllers.ts";
import { DOWN, failoverFleet, type Hands } from "./failover.suite.ts";

const policy: New<PropagationPolicy> = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "all", namespace: "default" },
  spec: {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
    placement: {
      clusterAffinities: [
        { affinityName: "first", clusterNames: ["m1"] },
        { affinityName: "then", labelSelector: {} },
      ],
      spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
    },
  },
};

/** So many workloads in the first of so many clusters, at the default rate. */
export class CrowdedFleet {
  readonly fleet: Fleet;
  readonly #hands: Hands;
  readonly #workloads: number;

  private constructor(fleet: Fleet, hands: Hands, workloads: number) {
    this.fleet = fleet;
    this.#hands = hands;
    this.#workloads = workloads;
  }

  /** Deployments of no replicas: they are workloads with a notion of health, and cost no pods. */
  static async open(
    members: number,
    workloads: number,
    options: Partial<ControllersOptions> = {},
  ): Promise<CrowdedFleet> {
    const names = Array.from({ length: members }, (_, i) => `m${i + 1}`);
    const { fleet, hands } = await failoverFleet(names, { failover: true, ...options });
    await fleet.plane.create(propagationPolicies, policy);
    for (let i = 0; i < workloads; i++)
      await fleet.plane.create(resources.deployments, deployment(`web-${i}`, { replicas: 0 }));
    await fleet.advance("20s");
    return new CrowdedFleet(fleet, hands, workloads);
  }

  /** How many were evicted from m1. */
  async evicted(): Promise<number> {
    const { items } = await this.fleet.plane.list(resourceBindings);
    const there = items.filter(({ spec }) => spec.clusters?.some(({ name }) => name === "m1"));
    return this.#workloads - there.length;
  }

  /** Taints so many clusters, m1 last: when it fails, so have the others. */
  async fail(count: number): Promise<void> {
    const { items } = await this.fleet.plane.list(clusters);
    const failed = items
      .map(({ metadata }) => Number(metadata.name.slice(1)))
      .filter((number) => number <= count)
      .toSorted((a, b) => b - a);
    for (const number of failed) await this.#hands.taint(`m${number}`, DOWN);
  }
}
