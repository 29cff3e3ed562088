/**
 * A Pull cluster leaves from its own side: with the agent's identity, which may delete its own Cluster and nothing more.
 *
 *   delete the Cluster → wait until the control plane let it go → take the agent out of the member
 *
 * 1. The agent goes last: until its Works are gone, nothing else takes their objects out of the member.
 * 2. By force the agent goes although the control plane did not let the cluster go; what then stays is listed.
 */
import { clusters, isRefused, orNothing } from "@lifeboat/api";
import { type Clock, formatDuration } from "@lifeboat/base";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { type Client, NotSent, OutcomeUnknown } from "@lifeboat/kit";
import { removeAgent } from "./agent-in-member.ts";
import { ensureGone } from "./ensure.ts";
import { RegistrationRefused } from "./refusal.ts";
import { hasLeft } from "./unjoin.ts";

export interface UnregisterRequest {
  /** With the agent's identity. */
  readonly plane: Client;
  readonly member: Client;
  readonly name: string;
  readonly force: boolean;
  readonly waitMs: number;
  readonly dryRun: boolean;
}

export interface UnregisterOutcome {
  readonly leftInPlane: readonly string[];
  readonly leftInMember: readonly string[];
}

export async function unregisterFromMember(
  ports: { readonly clock: Clock },
  request: UnregisterRequest,
): Promise<UnregisterOutcome> {
  const leftInPlane = await leavePlane(ports, request);
  const leftInMember = request.dryRun ? [] : await removeAgent(request.member, request.name);
  const copies =
    leftInPlane.length === 0
      ? []
      : ["the objects that the control plane placed in it: they keep running, without an owner"];
  return { leftInPlane, leftInMember: [...leftInMember, ...copies] };
}

/** What stays in the control plane; throws where it must not stay. */
async function leavePlane(
  ports: { readonly clock: Clock },
  request: UnregisterRequest,
): Promise<readonly string[]> {
  const { plane, name, force, waitMs } = request;
  const everything = [
    `the Cluster ${name}, its Lease, Secrets and rights, and the Works in ${executionNamespace(name)}: take them away there with lifeboat unregister ${name} --force`,
  ];
  let isDeleted = false;
  try {
    const cluster = await orNothing(plane.get(clusters, { namespace: "", name }));
    if (cluster === undefined || request.dryRun) return [];
    const { uid } = cluster.metadata;
    await ensureGone(plane, clusters, { namespace: "", name }, { preconditions: { uid } });
    isDeleted = true;
    if (await hasLeft(ports, request, uid, waitMs)) return [];
    if (force) return everything;
    throw new RegistrationRefused(
      `the cluster ${name} is still leaving after ${formatDuration(waitMs)}: its workloads move first; run unregister again to go on waiting, or add --force`,
    );
  } catch (error) {
    const isAway = error instanceof NotSent || error instanceof OutcomeUnknown;
    // A tombstone refuses the agent: the control plane has let the cluster go.
    if (isRefused(error, "Unauthorized")) return [];
    // A kube-apiserver knows no tombstones. There the agent's rights go with its Cluster, and never before it.
    if (isRefused(error, "Forbidden")) {
      if (isDeleted) return [];
      if (force) return everything;
      throw new RegistrationRefused(
        `the control plane does not let the agent read its Cluster ${name}: it let the cluster go before, or a person took the agent's rights away. Look there with lifeboat get clusters; if ${name} is gone, add --force to take the agent away`,
      );
    }
    if (isAway && force) return everything;
    if (!isAway) throw error;
    throw new RegistrationRefused(
      `the control plane does not answer (${error.message}): try again later, or add --force to take the agent away all the same`,
    );
  }
}
