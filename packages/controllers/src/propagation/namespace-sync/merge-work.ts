/** A Work that exists, brought to what it is to be. */
import { equalJson, type New, type Work } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";

/**
 * The Work with what is wanted of it: the spec replaces, labels, annotations and finalizers are added to those it has,
 * and the record of an override that no longer applies goes. The same object when nothing changes.
 */
export function mergedWork(existing: Work, wanted: New<Work>): Work {
  const { metadata } = existing;
  const next: Work = {
    ...existing,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...wanted.metadata.labels },
      annotations: { ...withoutRecord(metadata.annotations), ...wanted.metadata.annotations },
      finalizers: [
        ...new Set([...(metadata.finalizers ?? []), ...(wanted.metadata.finalizers ?? [])]),
      ],
    },
    spec: wanted.spec,
  };
  return equalJson(existing, next) ? existing : next;
}

function withoutRecord(
  annotations: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const { [wellKnown.APPLIED_CLUSTER_OVERRIDES]: _record, ...rest } = annotations;
  return rest;
}
