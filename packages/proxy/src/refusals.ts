/** What a caller is answered when a member cannot be asked, or answers what is not passed on. */
import { failure, Refused } from "@lifeboat/api";

export function noSuchCluster(cluster: string): Refused {
  const details = { group: "cluster.karmada.io", kind: "clusters", name: cluster };
  const message = `clusters.cluster.karmada.io "${cluster}" not found`;
  return new Refused(failure(404, "NotFound", message, details));
}

/** There is no way into the member now. */
export function noWay(cluster: string, why: string): Refused {
  const message = `the cluster ${cluster} cannot be reached through the proxy: ${why}`;
  return new Refused(failure(503, "ServiceUnavailable", message));
}

/** The member was asked, and what came back is no answer. */
export function badAnswer(cluster: string, why: string): Refused {
  return new Refused(failure(502, "BadGateway", `the cluster ${cluster}: ${why}`));
}

export function noAnswerInTime(cluster: string, afterMs: number): Refused {
  const message = `the cluster ${cluster} did not answer within ${afterMs / 1000} s`;
  return new Refused(failure(504, "Timeout", message));
}
