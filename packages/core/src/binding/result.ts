/** Writes where a workload is placed. */
import type { ResourceBinding } from "@lifeboat/api";
import { anew } from "@lifeboat/base";

type Result = NonNullable<ResourceBinding["spec"]["clusters"]>;

/** The binding with another result. An empty one is an absent field, as the API server keeps it. */
export function withResult<T extends Pick<ResourceBinding, "spec">>(
  binding: T,
  clusters: Result,
): T {
  const { clusters: _former, ...spec } = binding.spec;
  return {
    ...anew,
    ...binding,
    spec: clusters.length === 0 ? spec : { ...anew, ...spec, clusters },
  };
}
