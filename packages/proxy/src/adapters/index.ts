export { createMemberProxy, type Proxy, type ProxyOptions } from "./create-proxy.ts";
export { sendOverHttp, type Sent } from "./send-http.ts";
