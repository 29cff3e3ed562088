/**
 * What is refused of federated StatefulSets, and of clusters and bindings for their sake (D15).
 *
 * 1. Only what a write changes is judged, so that an object stored before can always be edited otherwise.
 * 2. Names are judged with every cluster of the fleet, not only with those that a policy means now: policies change, names
 *    do not.
 * 3. Two writes at the same moment may both pass; then the scheduler gives no share where the name does not fit.
 */
import { type FieldError, forbidden, invalid, type ResourceBinding } from "@lifeboat/api";
import { resultOf } from "../../binding/index.ts";
import { integerAt, textAt } from "../../fields.ts";
import {
  FEDERATED,
  FEDERATED_ACKNOWLEDGED,
  FEDERATED_QUORUM,
  FEDERATED_RECORD,
  FEDERATED_SERVICE_TYPE,
  FEDERATED_SERVICES,
  FEDERATED_SHARES,
} from "../../well-known.ts";
import { MOST_REPLICAS, nameCollision, nameProblem } from "../names.ts";

export interface SetView {
  readonly object: object;
  /** Absent: it is new. */
  readonly old?: object | undefined;
  /** Its binding, as the server has it. */
  readonly binding?: ResourceBinding | undefined;
  /** The names of all clusters. */
  readonly clusters: readonly string[];
  /** The names of the federated StatefulSets in its namespace. */
  readonly sets: readonly string[];
}

const ALLOWED: ReadonlyMap<string, readonly string[]> = new Map([
  [FEDERATED, ["true", "false"]],
  [FEDERATED_SERVICES, ["true", "false"]],
  [FEDERATED_QUORUM, ["true", "false"]],
  [FEDERATED_SERVICE_TYPE, ["LoadBalancer", "ClusterIP"]],
]);

/** Whether a write of a StatefulSet can be refused at all: it is federated, or was. */
export function concernsFederation(object: object, old: object | undefined): boolean {
  return [object, old ?? {}].some((one) =>
    [...ALLOWED.keys()].some((key) => annotation(one, key) !== ""),
  );
}

/** Why a StatefulSet is refused; empty: it is not. */
export function setProblems(view: SetView): readonly FieldError[] {
  const { object, old = {} } = view;
  const errors: FieldError[] = [];
  for (const [key, values] of ALLOWED) {
    const value = annotation(object, key);
    if (value === annotation(old, key) || value === "" || values.includes(value)) continue;
    errors.push(invalid(field(key), value, `must be ${values.join(" or ")}`));
  }
  if (givesUpNames(object, old) && !acknowledges(object, old))
    errors.push(
      forbidden(
        field(FEDERATED_SERVICES),
        `the pods of a quorum find each other by their Services and names, which would go. If that is meant: lifeboat statefulset give-up-names, or write another value of ${FEDERATED_ACKNOWLEDGED} with it`,
      ),
    );
  const is = annotation(object, FEDERATED) === "true";
  const was = annotation(old, FEDERATED) === "true";
  if (view.old !== undefined && is !== was && isPlaced(view.binding))
    errors.push(
      forbidden(
        field(FEDERATED),
        "the set is placed: whether it is federated is decided before that. Delete it and create it again",
      ),
    );
  if (!is) return errors;
  const replicas = integerAt(object, "spec", "replicas") ?? 1;
  if (replicas > MOST_REPLICAS && replicas !== integerAt(old, "spec", "replicas"))
    errors.push(
      invalid("spec.replicas", replicas, `a federated StatefulSet has at most ${MOST_REPLICAS}`),
    );
  return was ? errors : [...errors, ...nameErrors(view)];
}

/** Whether the Services and the global names of a quorum would go. */
function givesUpNames(object: object, old: object): boolean {
  const isQuorum = [object, old].some((one) => annotation(one, FEDERATED_QUORUM) === "true");
  const [had, has] = [old, object].map((one) => annotation(one, FEDERATED_SERVICES) === "true");
  return isQuorum && had === true && has === false && annotation(old, FEDERATED) === "true";
}

/** A person acknowledges in the same write: a value that was left behind by a former one does not count. */
function acknowledges(object: object, old: object): boolean {
  const value = annotation(object, FEDERATED_ACKNOWLEDGED);
  return value !== "" && value !== annotation(old, FEDERATED_ACKNOWLEDGED);
}

function nameErrors({ object, clusters, sets }: SetView): readonly FieldError[] {
  const name = textAt(object, "metadata", "name");
  const problems = clusters.flatMap((cluster) => nameProblem(name, cluster) ?? []).slice(0, 3);
  const collision = collisionOf([name, ...sets], clusters);
  return [...problems, ...(collision === undefined ? [] : [collision])].map((problem) =>
    invalid("metadata.name", name, problem),
  );
}

/** Why a cluster cannot join under its name. `sets`: the federated StatefulSets, by namespace. */
export function clusterProblems(
  cluster: string,
  clusters: readonly string[],
  sets: ReadonlyMap<string, readonly string[]>,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [namespace, names] of sets) {
    const problems = names.flatMap((set) => nameProblem(set, cluster) ?? []).slice(0, 1);
    const collision = collisionOf(names, [...new Set([...clusters, cluster])]);
    for (const problem of [...problems, ...(collision === undefined ? [] : [collision])])
      errors.push(
        invalid(
          "metadata.name",
          cluster,
          `the federated StatefulSets of namespace ${namespace} do not allow it: ${problem}`,
        ),
      );
  }
  return errors.slice(0, 5);
}

/** Why a binding is refused: what must not be lost is taken off it. */
export function bindingProblems(object: object, old: object): readonly FieldError[] {
  if (annotation(old, FEDERATED_RECORD) === "") return [];
  const lost = [FEDERATED_SHARES, FEDERATED_RECORD].filter((key) => annotation(object, key) === "");
  const why =
    "the shares of a federated StatefulSet would be lost; give one up with `lifeboat statefulset forget`";
  return lost.map((key) => forbidden(field(key), why));
}

function collisionOf(sets: readonly string[], clusters: readonly string[]): string | undefined {
  const found = nameCollision(sets, clusters);
  if (found === undefined) return undefined;
  const [a, b] = found.map(({ set, cluster }) => `${set} in cluster ${cluster}`);
  return `the pods of ${a} and of ${b} would have the same names`;
}

function isPlaced(binding: ResourceBinding | undefined): boolean {
  if (binding === undefined) return false;
  return resultOf(binding).length > 0 || annotation(binding, FEDERATED_RECORD) !== "";
}

function field(key: string): string {
  return `metadata.annotations[${key}]`;
}

function annotation(object: object, key: string): string {
  return textAt(object, "metadata", "annotations", key);
}
