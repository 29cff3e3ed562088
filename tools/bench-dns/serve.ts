/** Our server over the benchmark's zone, in a process of its own: `serve.ts PORT NAMES`. */
import { createRealClock } from "@lifeboat/base/adapters";
import { createDnsMetrics } from "@lifeboat/dns";
import { createDnsServer } from "@lifeboat/dns/adapters";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { benchZone } from "./zone.ts";

const [port = "0", names = "10000"] = process.argv.slice(2);
const { zone } = benchZone(Number(names));
const ports = {
  clock: createRealClock(),
  log: silentLog,
  dnsMetrics: createDnsMetrics(silentMetrics),
};
const state = { zone, content: undefined, held: undefined, ageMs: 0 };
await createDnsServer(
  ports,
  { state: () => state, onPublished: () => undefined },
  { host: "127.0.0.1", port: Number(port), keys: [], secondaries: [], rateLimit: 0 },
);
console.log("ready");
