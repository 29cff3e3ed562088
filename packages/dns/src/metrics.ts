/** What the DNS server counts. */
import type { Metrics } from "@lifeboat/kit";
import { FLAGS, RCODES } from "./wire/constants.ts";

export interface DnsMetrics {
  /** Undefined: the query got no answer. */
  answered(transport: Transport, answer: Uint8Array | undefined): void;
  /** Brings what was counted into the series; called now and then. */
  flush(): void;
  failed(transport: Transport): void;
  limited(verdict: "truncate" | "drop"): void;
  refusedConnection(): void;
  published(names: number, serial: number): void;
  held(isHeld: boolean): void;
  age(seconds: number): void;
}

type Transport = "udp" | "tcp";

const CODES: ReadonlyMap<number, string> = new Map(
  Object.entries(RCODES).map(([name, code]) => [code, name]),
);

export function createDnsMetrics(metrics: Metrics): DnsMetrics {
  const answers = metrics.counter<"transport" | "code">({
    name: "lifeboat_dns_answers_total",
    help: "Queries by transport and the code of their answer; none: there was no answer.",
    labels: ["transport", "code"],
  });
  const limited = metrics.counter<"verdict">({
    name: "lifeboat_dns_limited_total",
    help: "Datagrams above the rate limit of their network: truncated or dropped.",
    labels: ["verdict"],
  });
  const refused = metrics.counter({
    name: "lifeboat_dns_refused_connections_total",
    help: "Connections that were closed because there were too many.",
  });
  const names = metrics.gauge({
    name: "lifeboat_dns_zone_names",
    help: "Names in the zone that is served.",
  });
  const serial = metrics.gauge({
    name: "lifeboat_dns_zone_serial",
    help: "The serial of the zone that is served.",
  });
  const held = metrics.gauge({
    name: "lifeboat_dns_zone_held",
    help: "1 while a change of the zone waits for a person's confirmation.",
  });
  const age = metrics.gauge({
    name: "lifeboat_dns_zone_age_seconds",
    help: "How long ago the control plane was last reached: the zone is as old as that.",
  });
  // Counted for every packet, so only added up here; `flush` brings it into the series.
  const counts = {
    udp: Array.from({ length: NONE + 1 }, () => 0),
    tcp: Array.from({ length: NONE + 1 }, () => 0),
  };
  return {
    answered: (transport, answer) => {
      const code = answer === undefined ? NONE : (answer[3] as number) & FLAGS.RCODE;
      counts[transport][code] = (counts[transport][code] ?? 0) + 1;
    },
    flush: () => {
      for (const transport of ["udp", "tcp"] as const)
        for (const [code, count] of counts[transport].entries()) {
          if (count === 0) continue;
          counts[transport][code] = 0;
          answers.add(count, { transport, code: code === NONE ? "none" : codeName(code) });
        }
    },
    failed: (transport) => answers.add(1, { transport, code: "error" }),
    limited: (verdict) => limited.add(1, { verdict }),
    refusedConnection: () => refused.add(1, {}),
    published: (count, number) => {
      names.set(count, {});
      serial.set(number, {});
    },
    held: (isHeld) => held.set(isHeld ? 1 : 0, {}),
    age: (seconds) => age.set(seconds, {}),
  };
}

const NONE = 16;

function codeName(code: number): string {
  return CODES.get(code) ?? String(code);
}
