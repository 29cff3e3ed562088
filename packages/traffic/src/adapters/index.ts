export { createGateway, type GatewayOptions } from "./gateway/gateway.ts";
export { createHaproxy, type HaproxyOptions } from "./haproxy/haproxy.ts";
