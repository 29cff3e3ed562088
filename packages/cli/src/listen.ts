/** `HOST:PORT` as commands take it. */
import { UsageError } from "./failure.ts";

export interface Listen {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:7443`, `[::1]:7443`, `:7443` (every interface). */
export function parseListen(text: string, flag = "listen"): Listen {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new UsageError(
      `--${flag}: "${text}" is not valid: HOST:PORT is needed, such as 127.0.0.1:7443`,
    );
  }
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port };
}

/** Where others find what listens here: a name or address and a port, none of them open. */
export function parseAdvertise(text: string): Listen {
  const advertised = parseListen(text, "advertise");
  if (advertised.port === 0 || ["0.0.0.0", "::"].includes(advertised.host))
    throw new UsageError(
      `--advertise: "${text}" is not valid: the name or address and the port are needed that others use`,
    );
  return advertised;
}

/** The host as a URL on this machine has it. */
export function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** Whether only this machine reaches what listens on this host. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
