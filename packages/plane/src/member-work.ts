/**
 * What every replica runs where replicas share out members: status collection and execution for the members that are its own.
 *
 * 1. Only Clusters, Works, scripts and Secrets are watched: decisions, and what they need, are the leader's.
 * 2. It does not begin again with each term of a leader: each write is fenced by the replica's own Lease and by whose the member is
 *    (core/clusters/shares/claim.ts), so a replica that loses its Lease and gets it back goes on in the same process.
 */
import {
  createMemberShares,
  type MemberSharesOptions,
  type RunningShares,
} from "@lifeboat/controllers/clusters";
import type { PlaneContext } from "@lifeboat/controllers/context";
import type { Client, KitPorts, Service } from "@lifeboat/kit";
import { createControllers } from "./controllers.ts";
import { createPlaneContext, type PlaneContextPorts } from "./plane-context.ts";
import type { PlaneWork } from "./plane-work.ts";

export type ShareTimes = Pick<
  MemberSharesOptions,
  "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs"
>;

export interface MemberWork {
  readonly shares: RunningShares;
  /** In this order: what controllers need comes before them. */
  readonly services: readonly Service[];
}

/** Builds the work on this replica's members. Constructing starts nothing. */
export function createMemberWork(
  ports: KitPorts & Pick<PlaneContextPorts, "ids">,
  plane: Client,
  { controllers, connect, interpretation, instance, reading }: PlaneWork,
  options: ShareTimes & { readonly namespace: string },
): MemberWork {
  const shared = createPlaneContext(
    {
      ...ports,
      connect,
      instance,
      // The leader does, which has connections of its own.
      bindsSecrets: false,
      ...(interpretation === undefined ? {} : { interpretation }),
      ...(reading === undefined ? {} : { reading }),
    },
    plane,
  );
  const { informers, events, connections } = shared.context;
  const shares = createMemberShares(ports, plane, informers.clusters, {
    ...options,
    failureThresholdMs: controllers.clusterFailureThresholdMs,
    instance,
  });
  const context: PlaneContext = { ...shared.context, shares };
  return {
    shares,
    services: [
      informers.clusters,
      informers.works,
      informers.customizations,
      events,
      shares,
      connections,
      ...shared.scripts,
      ...createControllers(context, controllers, "members"),
    ],
  };
}
