export { type Caller, type HeaderLines, PEER_HEADER_RULES } from "./headers.ts";
export { DEFAULT_PROXY_LIMITS, type ProxyLimits } from "./in-flight.ts";
export type { MemberRoutes, PeerAccess, PeerOf, PushAccess, Route } from "./routes.ts";
