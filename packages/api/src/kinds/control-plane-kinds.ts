/**
 * All kinds of the control plane, and the functions that admission is made of, in the API server or behind a webhook:
 * `defaultKind` before an object is validated, `validateKind` and `kindWarnings` after its schema has accepted it.
 */
import type { FieldError } from "../field-error.ts";
import type { JsonObject } from "../json.ts";
import type { AnyObject } from "../object.ts";
import { apiVersionOf } from "../resource.ts";
import { clusterResourceBindingKind, resourceBindingKind } from "./binding.ts";
import type { KindDeclaration, KindSettings, WriteContext } from "./builder/kind-declaration.ts";
import { clusterTaintPolicyKind } from "./cluster-taint-policy.ts";
import { clusterKind } from "./cluster.ts";
import { evacuationBudgetKind, evacuationKind, evacuationSliceKind } from "./evacuation.ts";
import { ledgerSliceKind } from "./ledger-slice.ts";
import { multiClusterIngressKind } from "./multi-cluster-ingress.ts";
import { multiClusterServiceKind } from "./multi-cluster-service.ts";
import { clusterOverridePolicyKind, overridePolicyKind } from "./override-policy.ts";
import { clusterPropagationPolicyKind, propagationPolicyKind } from "./propagation-policy.ts";
import { remedyKind } from "./remedy.ts";
import { resourceInterpreterCustomizationKind } from "./resource-interpreter-customization.ts";
import { simulatedMemberKind } from "./simulated-member.ts";
import { workKind } from "./work.ts";
import { workloadRebalancerKind } from "./workload-rebalancer.ts";

/** In the order of the documentation. */
export const controlPlaneKinds: readonly KindDeclaration[] = Object.freeze([
  clusterKind,
  propagationPolicyKind,
  clusterPropagationPolicyKind,
  overridePolicyKind,
  clusterOverridePolicyKind,
  clusterTaintPolicyKind,
  resourceBindingKind,
  clusterResourceBindingKind,
  workKind,
  resourceInterpreterCustomizationKind,
  workloadRebalancerKind,
  remedyKind,
  multiClusterIngressKind,
  multiClusterServiceKind,
  evacuationKind,
  evacuationSliceKind,
  evacuationBudgetKind,
  ledgerSliceKind,
  simulatedMemberKind,
]);

const byKind: ReadonlyMap<string, KindDeclaration> = new Map(
  controlPlaneKinds.map((declaration) => [declaration.kind, declaration]),
);

/** The declaration of a kind of ours; undefined for any other. */
export function kindDeclaration(apiVersion: string, kind: string): KindDeclaration | undefined {
  // Asked for every write of any kind; no two kinds of ours share a name.
  const found = byKind.get(kind);
  return found !== undefined && apiVersionOf(found) === apiVersion ? found : undefined;
}

/**
 * The object with what its kind fills in beyond the defaults of its schema, which the server has applied. It takes any
 * JSON, throws nothing, and answers the object itself when there is nothing to fill in.
 */
export function defaultKind(object: AnyObject, context: WriteContext): AnyObject {
  const prepare = kindDeclaration(object.apiVersion, object.kind)?.prepare;
  return prepare === undefined
    ? object
    : (prepare(object as unknown as JsonObject, context) as unknown as AnyObject);
}

/** What is wrong with an object beyond its schema, which has accepted it. */
export function validateKind(object: AnyObject, old?: AnyObject): readonly FieldError[] {
  return kindDeclaration(object.apiVersion, object.kind)?.rules?.(object, old) ?? NO_ERRORS;
}

/** What a client should know about an object that is accepted: what of it has no effect. */
export function kindWarnings(object: AnyObject, settings: KindSettings): readonly string[] {
  return kindDeclaration(object.apiVersion, object.kind)?.warnings?.(object, settings) ?? NO_TEXTS;
}

const NO_ERRORS: readonly FieldError[] = [];
const NO_TEXTS: readonly string[] = [];
