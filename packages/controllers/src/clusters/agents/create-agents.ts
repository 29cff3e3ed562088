/**
 * Looks after what registered agents have in the control plane while their clusters come and go.
 *
 *   the Cluster appears                  the registration notes its uid; rights in the execution namespace are made
 *   the Cluster is gone                  a tombstone refuses the agent's identity of before, and its rights go
 *
 * A registration without a Cluster is left alone: its agent has not made the Cluster yet. Before a tombstone is written the
 * server is asked once more.
 */
import { type AnyObject, clusters, type ObjectKey, orNothing, type Resource } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { AGENT_OF, agentRoleName, CLUSTER_UID } from "@lifeboat/core/clusters/rights";
import { clusterOfExecutionNamespace } from "@lifeboat/core/propagation/rendering";
import {
  createController,
  done,
  Informer,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import {
  adoptRegistration,
  CLUSTER_ROLES,
  endRegistration,
  ensureAgentRights,
} from "../../context/agent-registration.ts";
import type { PlaneContext } from "../../context/context.ts";

const NAMESPACES: Resource = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
const CONCURRENCY = 4;

/** Builds the controller and the informers that it needs. */
export function createAgents(context: PlaneContext): readonly Service[] {
  const { plane, informers } = context;
  const roles = new Informer<AnyObject>(context, plane, CLUSTER_ROLES, { labelSelector: AGENT_OF });
  const namespaces = new Informer<AnyObject>(context, plane, NAMESPACES, {
    labelSelector: `${wellKnown.SYSTEM}=true`,
  });
  const controller = createController(context, {
    name: "agents",
    concurrency: CONCURRENCY,
    watches: [
      watching(informers.clusters, ownKey),
      watching(roles, (old, now) => clusterKeys((now ?? old)?.metadata.labels?.[AGENT_OF])),
      watching(namespaces, (old, now) =>
        clusterKeys(clusterOfExecutionNamespace((now ?? old)?.metadata.name ?? "")),
      ),
    ],
    reconcile: ({ name }) =>
      look(context, name, roles.get({ namespace: "", name: agentRoleName(name) })),
  });
  return [roles, namespaces, controller];
}

function clusterKeys(name: string | undefined): readonly ObjectKey[] {
  return name === undefined ? [] : [{ namespace: "", name }];
}

async function look(
  { plane, informers, clock }: PlaneContext,
  name: string,
  role: AnyObject | undefined,
): Promise<Outcome> {
  if (role === undefined) return done;
  const known = role.metadata.annotations?.[CLUSTER_UID];
  const key = { namespace: "", name };
  const cluster = informers.clusters.get(key);
  if (cluster !== undefined) {
    if (cluster.spec.syncMode !== "Pull") return done;
    const { uid } = cluster.metadata;
    if (known === undefined) await adoptRegistration(plane, role, uid);
    // The Cluster was deleted, and made again before this was seen: what its agent was issued until then is void all the same.
    if (known !== undefined && known !== uid) await endRegistration(plane, name, role, clock.now());
    else await ensureAgentRights(plane, name);
    return done;
  }
  if (known === undefined) return done;
  if ((await orNothing(plane.get(clusters, key))) === undefined)
    await endRegistration(plane, name, role, clock.now());
  return done;
}
