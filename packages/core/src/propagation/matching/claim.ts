/**
 * The claim: the label and annotations by which a template, and then its binding, name their policy.
 *
 * 1. A claim is whole or void: without its label or one of its annotations it names no policy.
 * 2. An object bears at most one claim. Writing one takes the keys of the other scope away; a namespaced policy's claim
 *    is read first, so an object with both counts as that policy's.
 * 3. A claim names a policy by its id too: a policy that was deleted and created again under its name has to claim again.
 */
import { anew } from "@lifeboat/base";
import { compareText, textAt } from "../../fields.ts";
import {
  CLUSTER_POLICY_ID,
  CLUSTER_POLICY_NAME,
  LAZY_SINCE,
  ORIGIN,
  POLICY_ID,
  POLICY_NAME,
  POLICY_NAMESPACE,
} from "../../well-known.ts";
import { isClusterPolicy, type Policy, policyIdOf } from "./policy.ts";

export interface Claim {
  readonly id: string;
  /** "" for a ClusterPropagationPolicy. */
  readonly namespace: string;
  readonly name: string;
}

/** What is to be set and, where undefined, taken away; keys that are right already are absent. */
export interface ClaimChange {
  readonly labels: Readonly<Record<string, string | undefined>>;
  readonly annotations: Readonly<Record<string, string | undefined>>;
}

type Texts = Readonly<Record<string, string | undefined>>;

const LABELS = [CLUSTER_POLICY_ID, POLICY_ID];
const ANNOTATIONS = [CLUSTER_POLICY_NAME, POLICY_NAME, POLICY_NAMESPACE];

/** The keys that the control plane itself writes on templates: changing them is no change of the template. */
export const claimLabels: ReadonlySet<string> = new Set(LABELS);
export const claimAnnotations: ReadonlySet<string> = new Set([...ANNOTATIONS, LAZY_SINCE, ORIGIN]);

/** The policy that has claimed an object, by the object's own marks. */
export function claimOf(object: unknown): Claim | undefined {
  const id = label(object, POLICY_ID);
  const namespace = annotation(object, POLICY_NAMESPACE);
  const name = annotation(object, POLICY_NAME);
  if (id !== "" && namespace !== "" && name !== "") return { id, namespace, name };
  const clusterId = label(object, CLUSTER_POLICY_ID);
  const clusterName = annotation(object, CLUSTER_POLICY_NAME);
  if (clusterId === "" || clusterName === "") return undefined;
  return { id: clusterId, namespace: "", name: clusterName };
}

/** Every policy id that an object bears, even where the claim around it is void. */
export function claimIdsOf(object: unknown): readonly string[] {
  return LABELS.map((key) => label(object, key)).filter((id) => id !== "");
}

/** The claim of a policy. */
export function claimBy(policy: Policy): Claim {
  const { namespace = "", name } = policy.metadata;
  return { id: policyIdOf(policy), namespace, name };
}

/** Whether a claim names exactly this policy. */
export function isClaimOf(claim: Claim | undefined, policy: Policy): boolean {
  if (claim === undefined) return false;
  const own = claimBy(policy);
  return claim.id === own.id && claim.namespace === own.namespace && claim.name === own.name;
}

/** The labels and annotations of a claim; undefined: of an object without one, all taken away. */
export function claimTexts(policy: Policy | undefined): {
  readonly labels: Texts;
  readonly annotations: Texts;
} {
  const labels: Record<string, string | undefined> = {};
  const annotations: Record<string, string | undefined> = {};
  for (const key of LABELS) labels[key] = undefined;
  for (const key of ANNOTATIONS) annotations[key] = undefined;
  if (policy === undefined) return { labels, annotations };
  const { id, namespace, name } = claimBy(policy);
  if (isClusterPolicy(policy)) {
    labels[CLUSTER_POLICY_ID] = id;
    annotations[CLUSTER_POLICY_NAME] = name;
  } else {
    labels[POLICY_ID] = id;
    annotations[POLICY_NAMESPACE] = namespace;
    annotations[POLICY_NAME] = name;
  }
  return { labels, annotations };
}

/**
 * What makes a template bear this policy's claim (undefined: none), and remember that it waits for its own next change
 * (`waitsSince`: its digest; undefined: it does not wait). Undefined when it already does.
 */
export function changeOfClaim(
  template: unknown,
  policy: Policy | undefined,
  waitsSince: string | undefined,
): ClaimChange | undefined {
  const wanted = claimTexts(policy);
  const labels = differing(wanted.labels, (key) => label(template, key));
  const annotations = differing(
    { ...anew, ...wanted.annotations, [LAZY_SINCE]: waitsSince },
    (key) => annotation(template, key),
  );
  if (Object.keys(labels).length + Object.keys(annotations).length === 0) return undefined;
  return { labels, annotations };
}

/** Texts with some keys set and, where undefined, taken away; sorted, and the same object when nothing changes. */
export function withTexts(
  texts: Readonly<Record<string, string>>,
  changes: Texts,
): Readonly<Record<string, string>> {
  if (Object.entries(changes).every(([key, value]) => texts[key] === value)) return texts;
  const changed = Object.entries({ ...anew, ...texts, ...changes }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return Object.fromEntries(changed.sort(([a], [b]) => compareText(a, b)));
}

function differing(wanted: Texts, present: (key: string) => string): Texts {
  return Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => (value ?? "") !== present(key)),
  );
}

function label(object: unknown, key: string): string {
  return textAt(object, "metadata", "labels", key);
}

function annotation(object: unknown, key: string): string {
  return textAt(object, "metadata", "annotations", key);
}
