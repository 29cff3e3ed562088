/**
 * An operator's hook reports that the application let a replica go: the annotation `lifeboat.dev/let-go` of the StatefulSet. What
 * it confirms, and when the replica goes, is decided in departure.ts.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { departureName, presentDeparture } from "./departure.ts";
import { podName } from "./names.ts";
import { readFederated } from "./record.ts";

export type LetGoPlan =
  /** `value` is what the annotation is to hold: former confirmations mean nothing any more. */
  | { readonly outcome: "confirm"; readonly value: string }
  | { readonly outcome: "refused"; readonly message: string };

/** What confirms that the application let this pod go. Only the pod that leaves now can be confirmed. */
export function decideLetGo(binding: ResourceBinding, pod: string): LetGoPlan {
  const record = readFederated(binding);
  const { name } = binding.spec.resource;
  if (record === undefined)
    return { outcome: "refused", message: `${name} is no federated StatefulSet` };
  const leaving = presentDeparture(record);
  if (leaving === undefined)
    return { outcome: "refused", message: `no replica of ${name} leaves now` };
  const present = podName(name, leaving.cluster, leaving.ordinal);
  if (present !== pod)
    return { outcome: "refused", message: `${pod} does not leave now; ${present} does` };
  return { outcome: "confirm", value: departureName(name, leaving) };
}
