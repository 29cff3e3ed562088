/**
 * Keeps the rules of aggregated ClusterRoles up to date: what they are is decided by the pure `aggregatedRules`, here it
 * is only written. A ClusterRole that no aggregated role selects wakes nothing.
 */
import { type AnyObject, type ObjectKey } from "@lifeboat/api";
import {
  type Client,
  type Controller,
  type ControllerPorts,
  createController,
  done,
  type Outcome,
} from "@lifeboat/kit";
import { aggregatedRules, gathers, isAggregated } from "../authorization/rbac/aggregation.ts";
import { RBAC_GROUP, rbacResource } from "../authorization/rbac/resources.ts";
import type { InformerSet } from "./informer-set.ts";

const TABLE = { table: `${RBAC_GROUP}/clusterroles` };
const CLUSTER_ROLES = rbacResource("ClusterRole");

export function createRoleAggregation(
  ports: ControllerPorts,
  client: Client,
  objects: InformerSet,
): Controller {
  const aggregated = new Map<string, AnyObject>();
  const concerned = (
    old: AnyObject | undefined,
    now: AnyObject | undefined,
  ): readonly ObjectKey[] => {
    const name = (now ?? old)?.metadata.name ?? "";
    if (now !== undefined && isAggregated(now)) aggregated.set(name, now);
    else aggregated.delete(name);
    return [...aggregated.values()]
      .filter((role) => role === now || gathers(role, old) || gathers(role, now))
      .map((role) => ({ namespace: "", name: role.metadata.name }));
  };
  return createController(ports, {
    name: "role-aggregation",
    concurrency: 1,
    watches: [
      objects.watching((resource, old, now) =>
        resource.table === TABLE.table ? concerned(old, now) : [],
      ),
    ],
    reconcile: async (key: ObjectKey): Promise<Outcome> => {
      const roles = objects.of(TABLE);
      const role = roles?.get(key);
      if (roles === undefined || role === undefined) return done;
      const rules = aggregatedRules(role, roles.list());
      if (rules !== undefined) await client.update(CLUSTER_ROLES, { ...role, rules });
      return done;
    },
  });
}
