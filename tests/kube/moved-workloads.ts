/** Workloads of many kinds for tests of moving: what a control plane was told, and what it holds once members have it. */
import {
  type AnyObject,
  findCondition,
  type KubeObject,
  type New,
  overridePolicies,
  propagationPolicies,
  type Resource,
  resourceBindings,
  works,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { deployment, newNamespace, newObject, resources } from "@lifeboat/testkit";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { CountingMember } from "./counting-members.ts";

export const SHOP = "shop";

/** The namespace, its policies, and the small kinds beside the Deployments. */
export async function createSurroundings(plane: Client): Promise<void> {
  await plane.create(resources.namespaces, newNamespace(SHOP));
  await plane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "all", namespace: SHOP },
    spec: {
      resourceSelectors: ["apps/v1 Deployment", "batch/v1 Job", "v1 Service"].map((one) => {
        const [apiVersion = "", kind = ""] = one.split(" ");
        return { apiVersion, kind };
      }),
      propagateDeps: true,
      // Shares of an odd number: which cluster has the odd one depends on the uid of the template.
      placement: { replicaScheduling: { replicaSchedulingType: "Divided" } },
    },
  });
  await plane.create(overridePolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "tag", namespace: SHOP },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web-1" }],
      overrideRules: [
        { overriders: { labelsOverrider: [{ operator: "add", value: { tagged: "yes" } }] } },
      ],
    },
  });
  await plane.create(
    resources.configMaps,
    newObject(resources.configMaps, { name: "settings", namespace: SHOP }, { data: { a: "1" } }),
  );
  await plane.create(
    resources.services,
    newObject(
      resources.services,
      { name: "web", namespace: SHOP },
      { spec: { selector: { app: "web" }, ports: [{ port: 80 }] } },
    ),
  );
  await plane.create(JOBS, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "once", namespace: SHOP },
    spec: {
      completions: 5,
      parallelism: 3,
      template: { spec: { ...PODS, restartPolicy: "Never" } },
    },
  });
}

const PODS = { containers: [{ name: "main", image: "example.com/app:1" }] };
const JOBS: Resource = {
  group: "batch",
  version: "v1",
  plural: "jobs",
  kind: "Job",
  namespaced: true,
};

/** The Deployment of a number; every fifth needs the ConfigMap. */
export function workload(i: number): New<AnyObject> {
  const made = deployment(`web-${i}`) as New<AnyObject> & { readonly spec: object };
  const template = {
    metadata: { labels: { app: `web-${i}` } },
    spec: {
      ...PODS,
      ...(i % 5 === 0 && { volumes: [{ name: "s", configMap: { name: "settings" } }] }),
    },
  };
  return {
    ...made,
    metadata: { name: `web-${i}`, namespace: SHOP, annotations: { team: "shop" } },
    spec: { replicas: 3, selector: { matchLabels: { app: `web-${i}` } }, template },
  };
}

export async function inBatches(
  count: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  for (let i = 0; i < count; i += 25)
    await Promise.all(
      Array.from({ length: Math.min(25, count - i) }, (_, offset) => work(i + offset)),
    );
}

/** Resolves when every workload is bound, and every Work is applied and reported in its present generation. */
export function untilApplied(plane: Client, bindings: number): Promise<void> {
  return eventually(async () => {
    const bound = (await plane.list(resourceBindings)).items;
    expect(bound.length).toBeGreaterThanOrEqual(bindings);
    for (const { status, metadata } of bound)
      expect(findCondition(status?.conditions, "FullyApplied"), metadata.name).toMatchObject({
        status: "True",
      });
    const templates = (await plane.list(resources.deployments, { namespace: SHOP })).items;
    const generations = new Map(
      templates.map(({ metadata }) => [metadata.uid, metadata.generation]),
    );
    for (const { metadata, spec, status } of (await plane.list(works)).items) {
      for (const type of ["Applied", "StatusObserved"])
        expect(findCondition(status?.conditions, type), metadata.name).toMatchObject({
          status: "True",
          observedGeneration: metadata.generation,
        });
      // The Work is of the template as it is now, and not about to change.
      for (const manifest of spec.workload?.manifests ?? []) {
        const { annotations = {} } = (manifest as unknown as KubeObject).metadata;
        const generation = generations.get(annotations["resourcetemplate.karmada.io/uid"] ?? "");
        if (generation !== undefined)
          expect(annotations["resourcetemplate.karmada.io/generation"], metadata.name).toBe(
            String(generation),
          );
      }
    }
  }, 300_000);
}

/** Every copy of a Deployment reports that it runs, as the controllers of a cluster would. */
export async function runCopies({ client }: CountingMember): Promise<void> {
  const { items } = await client.list(resources.deployments, { namespace: SHOP });
  await inBatches(items.length, async (i) => {
    const copy = items[i] as AnyObject & { readonly spec: { readonly replicas: number } };
    const { replicas } = copy.spec;
    const status = {
      observedGeneration: copy.metadata.generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    };
    await client.update(resources.deployments, { ...copy, status }, { subresource: "status" });
  });
}
