export type { Caller, HeaderLines } from "./headers.ts";
export { DEFAULT_PROXY_LIMITS, type ProxyLimits } from "./in-flight.ts";
export type { MemberRoutes, PushAccess, Route } from "./routes.ts";
