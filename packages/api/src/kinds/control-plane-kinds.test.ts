/** The declared kinds as a whole: their CRDs, their names, and that their types follow from what is declared. */
import { describe, expect, expectTypeOf, it } from "vitest";
import type { Condition } from "../conditions/conditions.ts";
import type { New, ObjectMeta } from "../object.ts";
import type { Resource } from "../resource.ts";
import type { AnyObject } from "../object.ts";
import { applyCrdDefaults, prepareCrd } from "../schema/crd-defaults.ts";
import { crdWarnings, validateCrd } from "../schema/crd-validation.ts";
import { asCrd } from "../schema/crd.ts";
import { type JsonSchema, someSchema } from "../schema/json-schema.ts";
import type { ResourceBinding } from "./binding.ts";
import { crdOf } from "./builder/crd-of.ts";
import { type Cluster, clusters } from "./cluster.ts";
import type { ClusterTaintPolicy } from "./cluster-taint-policy.ts";
import { controlPlaneKinds } from "./control-plane-kinds.ts";
import type { EvacuationSlice } from "./evacuation.ts";
import type { PropagationPolicy } from "./propagation-policy.ts";

const named = controlPlaneKinds.map((declaration) => [declaration.kind, declaration] as const);

describe.each(named)("%s", (_kind, declaration) => {
  const crd = asCrd(crdOf(declaration) as unknown as AnyObject);
  const schema = crd.spec.versions?.[0]?.schema?.openAPIV3Schema as JsonSchema;

  it("has a CRD that a server accepts without a word", () => {
    expect(validateCrd(prepareCrd(crd))).toEqual([]);
    expect(crdWarnings(crd)).toEqual([]);
  });

  it("has a CRD to which a server adds nothing", () => {
    expect(applyCrdDefaults(crd).spec).toEqual(crd.spec);
  });

  it("says what each of its fields means", () => {
    const silent = (one: JsonSchema): boolean => (one.description ?? "") === "";
    const isMeta = (one: JsonSchema): boolean => one === schema.properties?.["metadata"];
    const inUnion = (one: JsonSchema): boolean => Object.keys(one).join() === "type";
    expect(someSchema(schema, (one) => silent(one) && !isMeta(one) && !inUnion(one))).toBe(false);
  });

  it("does not promise more than fits a few kilobytes per CRD", () => {
    expect(JSON.stringify(crd).length).toBeLessThan(64 * 1024);
  });
});

it("has every name once", () => {
  const names = controlPlaneKinds.flatMap(({ group, plural, shortNames }) => [
    `${plural}.${group}`,
    ...shortNames,
  ]);
  expect(new Set(names).size).toBe(names.length);
  expect(controlPlaneKinds).toHaveLength(19);
});

describe("types", () => {
  it("follow from the declarations", () => {
    expectTypeOf(clusters).toEqualTypeOf<Resource<Cluster>>();
    expectTypeOf<Cluster["metadata"]>().toEqualTypeOf<ObjectMeta>();
    expectTypeOf<Cluster["spec"]["syncMode"]>().toEqualTypeOf<"Push" | "Pull">();
    expectTypeOf<NonNullable<Cluster["status"]>["conditions"]>().toEqualTypeOf<
      readonly Condition[] | undefined
    >();
    type Failover = NonNullable<PropagationPolicy["spec"]["failover"]>;
    expectTypeOf<NonNullable<Failover["cluster"]>["purgeMode"]>().toEqualTypeOf<
      "Directly" | "Gracefully" | "Immediately" | "Graciously" | undefined
    >();
    type Task = NonNullable<ResourceBinding["spec"]["gracefulEvictionTasks"]>[number];
    expectTypeOf<Task["preservedLabelState"]>().toEqualTypeOf<
      Readonly<Record<string, string>> | undefined
    >();
    expectTypeOf<ClusterTaintPolicy["status"]>().toEqualTypeOf<undefined>();
    expectTypeOf<EvacuationSlice["spec"]["entries"][number]["lane"]>().toEqualTypeOf<
      "Workload" | "Passive"
    >();
  });

  it("refuse what the schema refuses", () => {
    const good: New<Cluster> = {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name: "eu-1" },
      spec: { syncMode: "Push", taints: [{ key: "a", effect: "PreferNoExecute" }] },
    };
    expect(good.spec.taints).toHaveLength(1);
    // @ts-expect-error syncMode is required
    const noMode: Cluster["spec"] = {};
    // @ts-expect-error not an effect
    const badEffect: Cluster["spec"] = { syncMode: "Push", taints: [{ key: "a", effect: "No" }] };
    // @ts-expect-error no such field
    const extra: Cluster["spec"] = { syncMode: "Push", mode: "Push" };
    // @ts-expect-error objects are never changed
    good.spec.syncMode = "Pull";
    expect([noMode, badEffect, extra]).toHaveLength(3);
  });
});
