/** How the proxy reaches members, by what the connections of the control plane know. */
import type { PlaneContext } from "@lifeboat/controllers/context";
import type { MemberRoutes, Route } from "@lifeboat/proxy";

/** Routes that follow `connections`, once there are any. */
export function memberRoutes(
  connections: () => PlaneContext["connections"] | undefined,
): MemberRoutes {
  return { of: (cluster) => routeOf(connections(), cluster) };
}

function routeOf(connections: PlaneContext["connections"] | undefined, cluster: string): Route {
  if (connections === undefined)
    return { kind: "closed", message: "the control plane is starting" };
  const found = connections.impersonatorOf(cluster);
  switch (found.kind) {
    case "usable":
      return { kind: "push", access: found.access };
    case "unusable":
      return { kind: "closed", message: found.message };
    case "pull":
      return { kind: "tunnel" };
    case "none":
      return { kind: "absent" };
  }
}
