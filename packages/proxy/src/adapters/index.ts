export { createMemberProxy, type Proxy, type ProxyOptions } from "./create-proxy.ts";
