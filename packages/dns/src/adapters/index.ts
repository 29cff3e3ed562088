export { createDnsServer, type DnsServer, type DnsServerOptions } from "./create-server.ts";
export { decodeBase64, nodeHmac } from "./hmac.ts";
export type { Secondary } from "./notify.ts";
export { zoneFile } from "./zone-file.ts";
