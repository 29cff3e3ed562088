/** Which route a request takes. The load balancers of others follow the same rules, so requests do not depend on which one runs. */
import type { Route, RoutingTable } from "./table.ts";

export interface RouteIndex {
  find(host: string, path: string): Route | undefined;
}

/** Prepares a table for many questions. */
export function indexRoutes({ routes }: RoutingTable): RouteIndex {
  const byHost = new Map<string, Route[]>();
  const defaults = routes.filter(({ isDefault }) => isDefault);
  for (const route of routes) {
    if (route.isDefault) continue;
    const found = byHost.get(route.host);
    if (found === undefined) byHost.set(route.host, [route]);
    else found.push(route);
  }
  return {
    find: (host, path) => {
      const name = host.toLowerCase();
      const dot = name.indexOf(".");
      const wildcard = dot > 0 ? `*${name.slice(dot)}` : "";
      return (
        firstOf(byHost.get(name), path) ??
        (wildcard === "" ? undefined : firstOf(byHost.get(wildcard), path)) ??
        (name === "" ? undefined : firstOf(byHost.get(""), path)) ??
        defaults[0]
      );
    },
  };
}

function firstOf(routes: readonly Route[] | undefined, path: string): Route | undefined {
  return routes?.find((route) => matchesPath(route, path));
}

/** A prefix ends where a segment of the path ends: /a is no prefix of /ab. */
function matchesPath({ path, pathType }: Route, asked: string): boolean {
  if (pathType === "Exact") return asked === path;
  if (path === "/") return true;
  return asked === path || asked.startsWith(`${path}/`);
}
