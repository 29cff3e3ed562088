/** What holds for every object, however odd: the invariants of interpretation, rendering and applying. */
import { deepFreeze } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideApply, versionOf } from "./applying/apply.ts";
import { decideRemove } from "./applying/remove.ts";
import { type Fields, textsAt, valueAt, withValue } from "../fields.ts";
import { interpreterOf } from "./interpretation/interpretation.ts";
import { renderWork, type RenderView } from "./rendering/render.ts";
import { completionsByCluster } from "./rendering/shares.ts";

const KINDS = [
  ["apps/v1", "Deployment"],
  ["apps/v1", "ReplicaSet"],
  ["apps/v1", "StatefulSet"],
  ["apps/v1", "DaemonSet"],
  ["batch/v1", "Job"],
  ["batch/v1", "CronJob"],
  ["v1", "Pod"],
  ["v1", "Service"],
  ["v1", "ServiceAccount"],
  ["v1", "Secret"],
  ["v1", "PersistentVolumeClaim"],
  ["v1", "PersistentVolume"],
  ["networking.k8s.io/v1", "Ingress"],
  ["policy/v1", "PodDisruptionBudget"],
  ["autoscaling/v2", "HorizontalPodAutoscaler"],
  ["flink.apache.org/v1beta1", "FlinkDeployment"],
  ["example.com/v1", "Thing"],
] as const;

/** Names that some decision reads, so that arbitrary documents are odd in the places that matter. */
const FIELDS =
  "metadata spec status template labels annotations name namespace uid replicas containers initContainers image " +
  "resources requests cpu conditions type clusters overriders overrideRules plaintext imageOverrider labelsOverrider " +
  "value operator path completions parallelism selector secrets data volumes tolerations loadBalancer ingress tls " +
  "resourceSelectors targetCluster labelSelector fieldSelector matchExpressions placement replicaScheduling " +
  "generation observedGeneration deletionTimestamp jobStatus state __proto__ constructor";

const documents = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, 0, 1, -1, 2 ** 40, 1.5, "", "true", "add", "1Gi", "/a"),
    fc.string({ maxLength: 6 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...FIELDS.split(" ")), tie("value"), { maxKeys: 5 }),
  ),
})).value;
const texts = fc.dictionary(
  fc.constantFrom("a", "b", "karmada.io/managed", "work.karmada.io/name", "__proto__"),
  fc.constantFrom("true", "", "x"),
  { maxKeys: 4 },
);
const oddFields = fc.dictionary(fc.constantFrom(...FIELDS.split(" ")), documents, { maxKeys: 6 });

const objects: fc.Arbitrary<Fields> = fc
  .tuple(fc.constantFrom(...KINDS), oddFields, documents, documents, texts, texts)
  .map(([[apiVersion, kind], rest, spec, status, labels, annotations]) => ({
    ...rest,
    apiVersion,
    kind,
    metadata: { namespace: "default", name: "x", uid: "u", generation: 2, labels, annotations },
    spec,
    status,
  }));
const anything: fc.Arbitrary<Fields> = fc.oneof(objects, oddFields);

const view = (template: Fields, changes: Partial<RenderView> = {}): RenderView => ({
  template,
  binding: {
    metadata: {
      namespace: "default",
      name: "x",
      labels: { "resourcebinding.karmada.io/permanent-id": "b" },
    },
    spec: { replicas: 3, clusters: [{ name: "eu-1", replicas: 3 }] },
  },
  cluster: { metadata: { name: "eu-1" } },
  clusterOverridePolicies: [],
  overridePolicies: [],
  workId: "w",
  ...changes,
});

/** Runs every property this many times. */
export function describePropagation(numRuns: number): void {
  describe("interpretation", () => {
    it("answers for anything and changes nothing it was given", () => {
      fc.assert(
        fc.property(anything, anything, fc.array(documents, { maxLength: 3 }), (a, b, statuses) => {
          const before = JSON.stringify([a, b, statuses]);
          const interpreter = interpreterOf(a);
          const items = statuses.map((status, i) => ({ clusterName: `c${i}`, status }));
          expect(interpreter.replicas(a).replicas).toBeGreaterThanOrEqual(0);
          interpreter.reviseReplicas(a, 3);
          interpreter.retain(a, b);
          interpreter.reflectStatus(a);
          expect(["Healthy", "Unhealthy", "Unknown"]).toContain(interpreter.health(a));
          const status = interpreter.aggregateStatus(a, items);
          expect(interpreter.aggregateStatus(a, items.toReversed())).toEqual(status);
          interpreter.dependencies(a);
          expect(JSON.stringify([a, b, statuses])).toBe(before);
        }),
        { numRuns },
      );
    });

    it("finds in a revised object the replicas it was revised to", () => {
      const counted = fc
        .tuple(objects, fc.constantFrom("Deployment", "StatefulSet", "ReplicaSet"))
        .map(([object, kind]) => ({ ...object, apiVersion: "apps/v1", kind }));
      fc.assert(
        fc.property(counted, fc.nat(1000), (object, replicas) => {
          const interpreter = interpreterOf(object);
          expect(interpreter.replicas(interpreter.reviseReplicas(object, replicas)).replicas).toBe(
            replicas,
          );
        }),
        { numRuns },
      );
    });

    it("aggregates the statuses of healthy copies into a healthy template", () => {
      const counts = fc.array(fc.nat(20), { minLength: 1, maxLength: 5 });
      fc.assert(
        fc.property(
          fc.constantFrom(...KINDS),
          counts,
          fc.integer({ min: 1, max: 9 }),
          (kind, list, generation) => {
            const copies = list.map((count) => healthyCopy(kind, count, generation));
            const items = copies.map((copy, i) => {
              expect(interpreterOf(copy).health(copy)).toBe("Healthy");
              return { clusterName: `c${i}`, status: interpreterOf(copy).reflectStatus(copy) };
            });
            const total = list.reduce((sum, count) => sum + count, 0);
            const template = withValue(
              withValue(
                healthyCopy(kind, total, generation),
                ["metadata", "generation"],
                generation,
              ),
              ["status"],
              undefined,
            );
            const status = interpreterOf(template).aggregateStatus(template, items);
            const reported = withValue(template, ["status"], status);
            expect(interpreterOf(reported).health(reported)).toBe("Healthy");
          },
        ),
        { numRuns },
      );
    });
  });

  describe("rendering", () => {
    it("is the same every time, throws at nothing and leaves its view alone", () => {
      const policies = fc.array(anything, { maxLength: 2 });
      fc.assert(
        fc.property(
          anything,
          anything,
          anything,
          policies,
          policies,
          (template, binding, cluster, wide, near) => {
            const changes = {
              binding,
              cluster,
              clusterOverridePolicies: wide,
              overridePolicies: near,
            };
            const seen = deepFreeze(view(template, changes));
            const first = renderWork(seen);
            const second = renderWork(JSON.parse(JSON.stringify(seen)) as RenderView);
            expect(JSON.stringify(second)).toBe(JSON.stringify(first));
          },
        ),
        { numRuns },
      );
    });

    it("of what was rendered is what was rendered", () => {
      fc.assert(
        fc.property(objects, (template) => {
          const first = renderWork(view(template));
          expect(first.outcome).toBe("rendered");
          if (first.outcome !== "rendered") return;
          const second = renderWork(view(first.manifest));
          expect(second).toEqual(first);
        }),
        { numRuns },
      );
    });

    it("divides the completions of a Job exactly", () => {
      const clusters = fc.uniqueArray(
        fc.record({ name: fc.stringMatching(/^[a-d]{1,2}$/), replicas: fc.nat(9) }),
        { selector: ({ name }) => name, minLength: 1 },
      );
      fc.assert(
        fc.property(fc.nat(100_000), clusters, fc.uuid(), (completions, list, uid) => {
          fc.pre(list.some(({ replicas }) => replicas > 0));
          const template = {
            apiVersion: "batch/v1",
            kind: "Job",
            metadata: { uid },
            spec: { completions },
          };
          const binding = {
            spec: { replicas: 1, clusters: list, placement: { replicaScheduling: {} } },
          };
          const shares = completionsByCluster(template, binding) ?? new Map<string, number>();
          expect([...shares.values()].reduce((sum, share) => sum + share, 0)).toBe(completions);
        }),
        { numRuns },
      );
    });
  });

  describe("applying", () => {
    it("loses nothing that the member owns", () => {
      fc.assert(
        fc.property(
          objects,
          objects,
          fc.array(fc.string(), { maxLength: 2 }),
          (template, odd, finalizers) => {
            const rendered = renderWork(view(template));
            if (rendered.outcome !== "rendered") return;
            const desired = rendered.manifest;
            const observed: Fields = {
              ...odd,
              apiVersion: desired["apiVersion"],
              kind: desired["kind"],
              metadata: {
                ...(odd["metadata"] as object),
                ...(desired["metadata"] as object),
                labels: {
                  ...textsAt(odd, "metadata", "labels"),
                  ...textsAt(desired, "metadata", "labels"),
                  theirs: "1",
                },
                uid: "member",
                resourceVersion: "9",
                finalizers,
              },
            };
            const plan = decideApply({ cluster: "eu-1", desired, observed });
            if (plan.commands.length === 0) return;
            const object = plan.commands[0]?.object ?? {};
            for (const path of [["uid"], ["resourceVersion"], ["finalizers"], ["labels", "theirs"]])
              expect(valueAt(object, "metadata", ...path)).toEqual(
                valueAt(observed, "metadata", ...path),
              );
            expect(object["status"]).toEqual(observed["status"]);
            // The answer of the member, applied again, is up to date.
            const applied = { desired, version: versionOf(object), answer: object };
            expect(
              decideApply({ cluster: "eu-1", desired, observed: object, applied }).reason,
            ).toBe("UpToDate");
            expect(decideApply({ cluster: "eu-1", desired, observed: object }).reason).toBe(
              "UpToDate",
            );
          },
        ),
        { numRuns },
      );
    });

    it("throws at nothing, and never deletes without our mark and a uid", () => {
      fc.assert(
        fc.property(anything, fc.option(anything, { nil: undefined }), (desired, observed) => {
          const apply = decideApply({ cluster: "c", desired, observed });
          expect(apply.commands.length).toBeLessThanOrEqual(1);
          const remove = decideRemove({
            manifest: desired,
            observed,
            preserve: false,
            waitForDependents: false,
          });
          for (const command of remove.commands) {
            expect(command).toMatchObject({ kind: "delete", uid: expect.stringMatching(/./) });
            expect(valueAt(observed, "metadata", "labels", "karmada.io/managed")).toBe("true");
          }
        }),
        { numRuns },
      );
    });
  });
}

function healthyCopy(
  [apiVersion, kind]: readonly [string, string],
  count: number,
  generation: number,
): Fields {
  const own = generation + 5;
  return {
    apiVersion,
    kind,
    metadata: {
      name: "x",
      generation: own,
      annotations: { "resourcetemplate.karmada.io/generation": String(generation) },
    },
    spec: { replicas: count, job: {}, type: "LoadBalancer" },
    status: {
      observedGeneration: own,
      phase: kind === "Pod" ? "Succeeded" : "Bound",
      jobStatus: { state: "RUNNING" },
      loadBalancer: { ingress: [{ ip: `10.0.0.${count}` }] },
      ...Object.fromEntries(
        [
          "replicas updatedReplicas readyReplicas availableReplicas",
          "desiredNumberScheduled updatedNumberScheduled numberAvailable numberReady",
          "currentHealthy desiredHealthy",
        ].flatMap((names) => names.split(" ").map((name) => [name, count])),
      ),
    },
  };
}
