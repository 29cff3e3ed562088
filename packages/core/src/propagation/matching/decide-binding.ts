/**
 * What becomes of a template's binding, once it is decided whose the template is.
 *
 * 1. A binding that is about another object is never written: two kinds of the same name in different groups share one
 *    binding name, and the first one keeps it.
 * 2. Neither is one on its way out, nor one that belongs to a former object of the same name: that one is collected, and
 *    a new one follows.
 * 3. A template without a policy keeps its binding, released: what runs keeps running, and nothing schedules it again.
 * 4. A lazy policy that waits leaves the binding to the policy that it names, as long as that one is still entitled to
 *    it: it exists under that id, is not being deleted, and selects the template.
 */
import type { New } from "@lifeboat/api";
import { type Fields, textAt } from "../../fields.ts";
import type { Replicas } from "../interpretation/interpreter.ts";
import type { PlannedEvent } from "../../plan.ts";
import { precision } from "../selectors/resource-selector.ts";
import { TEMPLATE_DIGEST } from "../../well-known.ts";
import {
  type Binding,
  bindingFor,
  isAbout,
  newBinding,
  ownerOf,
  releasedBinding,
} from "./binding-for.ts";
import { claimIdsOf, claimOf, isClaimOf } from "./claim.ts";
import { waitsForChange } from "./lazy.ts";
import { describePolicy, isActive, type Policy, selection } from "./policy.ts";
import type { BindingReason } from "./reasons.ts";

export interface BindingView {
  readonly template: Fields;
  readonly digest: string;
  /** The policy that the template belongs to; absent: none. */
  readonly policy?: Policy | undefined;
  /** What the template asks for; needed with a policy only. */
  readonly replicas: Replicas;
  /** The object that has the binding's name now. */
  readonly existing?: Binding | undefined;
  /** The policy that the existing binding's claim names, if there is one of that name. */
  readonly claimer?: Policy | undefined;
  /** Names of override policies that the policy depends on and that do not exist. */
  readonly missingOverrides: readonly string[];
}

export type BindingCommand =
  | { readonly kind: "createBinding"; readonly binding: New<Binding> }
  /** With the resourceVersion it was decided on. */
  | { readonly kind: "updateBinding"; readonly binding: Binding };

export interface BindingDecision {
  readonly reason: BindingReason;
  readonly command?: BindingCommand;
  /** Whether the template is to remember that it waits for its own next change. */
  readonly waits: boolean;
  /** Whether the answer can change only when the existing binding is gone. */
  readonly isBlocked: boolean;
  /** About the template; to be recorded once the command has succeeded. */
  readonly events: readonly PlannedEvent[];
}

const NOTHING = Object.freeze({ waits: false, isBlocked: false, events: [] } as const);

/** Decides what becomes of a template's binding. Pure; no input throws. */
export function decideBinding(view: BindingView): BindingDecision {
  const { template, existing, policy } = view;
  if (existing !== undefined && !isAbout(existing, template))
    return policy === undefined ? kept() : nameTaken(view, policy, existing);
  if (existing !== undefined && isLeaving(existing, template))
    return { ...NOTHING, reason: "AwaitsOldBinding", isBlocked: true };
  if (policy === undefined)
    return existing === undefined ? kept() : released(existing, "BindingKept");
  if (view.missingOverrides.length > 0) return awaitsOverrides(view, policy);
  if (waitsForChange({ ...view, policy })) return awaitsChange(view, policy);
  return applied(view, policy);
}

/** Whether this is the decision of a policy that has taken hold: the binding is as it wants it, or will be. */
function applied(view: BindingView, policy: Policy): BindingDecision {
  const { existing } = view;
  const parts = { ...view, policy };
  if (existing === undefined)
    return {
      ...NOTHING,
      reason: "BindingCreated",
      command: { kind: "createBinding", binding: newBinding(parts) },
      events: successes(view, policy),
    };
  const binding = bindingFor(parts, existing);
  if (binding === existing) return kept();
  return {
    ...NOTHING,
    reason: "BindingChanged",
    command: { kind: "updateBinding", binding },
    events: successes(view, policy),
  };
}

function awaitsChange(
  { template, existing, claimer }: BindingView,
  policy: Policy,
): BindingDecision {
  const remembers = textAt(existing, "metadata", "annotations", TEMPLATE_DIGEST) === "";
  if (existing === undefined || isEntitled(existing, template, claimer, policy))
    return { ...NOTHING, reason: "AwaitsTemplateChange", waits: remembers };
  return { ...released(existing, "AwaitsTemplateChange"), waits: remembers };
}

function awaitsOverrides(
  { template, existing, claimer, missingOverrides }: BindingView,
  policy: Policy,
): BindingDecision {
  const message = `Apply ${describePolicy(policy)} failed: dependent overrides ${missingOverrides.join(", ")} do not exist`;
  const events: readonly PlannedEvent[] = [
    { type: "Warning", reason: "ApplyPolicyFailed", message },
  ];
  if (existing === undefined || isEntitled(existing, template, claimer, policy))
    return { ...NOTHING, reason: "AwaitsOverrides", events };
  return { ...released(existing, "AwaitsOverrides"), events };
}

/** Whether the policy that the binding names may still keep it while another one waits for the template. */
function isEntitled(
  existing: Binding,
  template: Fields,
  claimer: Policy | undefined,
  policy: Policy,
): boolean {
  if (claimIdsOf(existing).length === 0 || isClaimOf(claimOf(existing), policy)) return true;
  return (
    claimer !== undefined &&
    isClaimOf(claimOf(existing), claimer) &&
    isActive(claimer) &&
    selection(claimer, template) > precision.none
  );
}

function released(existing: Binding, otherwise: BindingReason): BindingDecision {
  const binding = releasedBinding(existing);
  if (binding === existing) return { ...NOTHING, reason: otherwise };
  return { ...NOTHING, reason: "BindingReleased", command: { kind: "updateBinding", binding } };
}

function nameTaken(view: BindingView, policy: Policy, existing: Binding): BindingDecision {
  const { apiVersion, kind, name } = existing.spec.resource;
  const message = `Apply ${describePolicy(policy)} failed: the binding ${existing.metadata.name} belongs to ${kind}.${apiVersion} ${name}`;
  return {
    ...NOTHING,
    reason: "BindingNameTaken",
    isBlocked: true,
    events: [{ type: "Warning", reason: "ApplyPolicyFailed", message }],
  };
}

function isLeaving(existing: Binding, template: Fields): boolean {
  const owner = ownerOf(existing);
  const isOthers = owner !== undefined && owner !== textAt(template, "metadata", "uid");
  return isOthers || existing.metadata.deletionTimestamp !== undefined;
}

function successes({ replicas }: BindingView, policy: Policy): readonly PlannedEvent[] {
  const counted = replicas.replicas > 0 || replicas.requirements !== undefined;
  const message = `Get replicas(${replicas.replicas}) succeed`;
  return [
    ...(counted ? ([{ type: "Normal", reason: "GetReplicasSucceed", message }] as const) : []),
    {
      type: "Normal",
      reason: "ApplyPolicySucceed",
      message: `Apply ${describePolicy(policy)} succeed`,
    },
  ];
}

function kept(): BindingDecision {
  return { ...NOTHING, reason: "BindingKept" };
}
