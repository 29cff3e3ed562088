export { createMemberProxy, type Proxy, type ProxyOptions } from "./create-proxy.ts";
export { sendOverHttp } from "./send-http.ts";
