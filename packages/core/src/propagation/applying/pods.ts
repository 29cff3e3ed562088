/**
 * Which pods of a member are those of a workload, by their labels: for kinds that make pods under a name of their own
 * choice the object's selector; for a Job whose selector the member made, the label that bears its name.
 */
import { formatLabelSelector, labelSelectorFrom } from "@lifeboat/api";
import { type Fields, fieldsAt, isFields, listAt, textAt, textsAt, valueAt } from "../../fields.ts";

const WITH_SELECTOR: ReadonlySet<string> = new Set([
  "apps/v1 Deployment",
  "apps/v1 ReplicaSet",
  "apps/v1 StatefulSet",
  "apps/v1 DaemonSet",
]);

export interface PodSelection {
  readonly namespace: string;
  readonly labelSelector: string;
}

/** The pods of a built-in workload; undefined for kinds whose pods are not known. */
export function podsOf(manifest: Fields): PodSelection | undefined {
  const kind = `${textAt(manifest, "apiVersion")} ${textAt(manifest, "kind")}`;
  const namespace = textAt(manifest, "metadata", "namespace");
  if (namespace === "") return undefined;
  if (kind === "batch/v1 Job" && valueAt(manifest, "spec", "manualSelector") !== true)
    return { namespace, labelSelector: `job-name=${textAt(manifest, "metadata", "name")}` };
  if (!WITH_SELECTOR.has(kind) && kind !== "batch/v1 Job") return undefined;
  const selector = fieldsAt(manifest, "spec", "selector");
  const matchExpressions = listAt(selector, "matchExpressions").flatMap((entry) =>
    isFields(entry) ? [expressionOf(entry)] : [],
  );
  const requirements = labelSelectorFrom({
    matchLabels: textsAt(selector, "matchLabels"),
    matchExpressions,
  });
  if (requirements.length === 0) return undefined;
  return { namespace, labelSelector: formatLabelSelector(requirements) };
}

function expressionOf(entry: Fields) {
  return {
    key: textAt(entry, "key"),
    operator: textAt(entry, "operator"),
    values: listAt(entry, "values").filter((value) => typeof value === "string"),
  };
}
