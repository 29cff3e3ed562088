/** The flags of the DNS server, which `up`, `manager` and `dns serve` share. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { addressBytes, apexOf, hostNameOf, isLabel, type ZoneSettings } from "@lifeboat/core/names";
import { type NameServer, parseKey, type TsigKey } from "@lifeboat/dns";
import { decodeBase64, type Secondary } from "@lifeboat/dns/adapters";
import { UsageError } from "../failure.ts";
import { type Listen, parseListen } from "../listen.ts";
import type { OptionDefinition } from "../options.ts";
import type { Settings } from "../settings.ts";

/** Which names there are. */
export const zoneOptions: readonly OptionDefinition[] = [
  {
    name: "dns-zone",
    type: "text",
    value: "NAME",
    default: "cluster.local",
    help: "The domain of the members; the federation's names end in FEDERATION.svc.ZONE",
  },
  {
    name: "federation-name",
    type: "text",
    value: "NAME",
    default: "lifeboat",
    help: "The label that distinguishes the federation's names from those of one cluster",
  },
];

/** How they are served, but for where. */
const servingOptions: readonly OptionDefinition[] = [
  ...zoneOptions,
  {
    name: "dns-ttl",
    type: "duration",
    value: "TIME",
    default: "5s",
    min: 0,
    max: 86_400_000,
    help: "How long resolvers keep an answer",
  },
  {
    name: "dns-name-servers",
    type: "text",
    value: "NAME[=ADDRESS],…",
    help: "The servers of the zone, as its NS records name them; default ns.FEDERATION.svc.ZONE",
  },
  {
    name: "dns-tsig-key-file",
    type: "text",
    value: "FILE",
    help: "Keys as `dig -y` takes them, one a line: hmac-sha256:NAME:BASE64. Without one the zone is not transferred",
  },
  {
    name: "dns-secondaries",
    type: "text",
    value: "ADDRESS[:PORT],…",
    help: "Servers that are notified of every change (NOTIFY), so that they transfer the zone",
  },
  {
    name: "dns-rate-limit",
    type: "integer",
    value: "N",
    default: "1000",
    min: 0,
    help: "Answers per second and network by datagrams, against forged senders; 0: no limit",
  },
];

export const dnsOptions: readonly OptionDefinition[] = [
  {
    name: "dns-listen",
    type: "text",
    value: "HOST:PORT",
    help: "Serve the federation's names there by UDP and TCP; absent: nowhere",
  },
  ...servingOptions,
];

export const serveOptions: readonly OptionDefinition[] = [
  {
    name: "dns-listen",
    type: "text",
    value: "HOST:PORT",
    default: "127.0.0.1:5353",
    help: "Where the federation's names are served by UDP and TCP; port 0 takes a free one",
  },
  ...servingOptions,
];

export interface DnsSettings extends ZoneSettings {
  readonly listen: Listen;
  /** In seconds. */
  readonly ttl: number;
  readonly nameServers: readonly NameServer[];
  readonly keys: readonly TsigKey[];
  readonly secondaries: readonly Secondary[];
  readonly rateLimit: number;
}

/** What the flags ask for; undefined: no names are served. Throws UsageError. */
export function dnsFrom(settings: Settings): DnsSettings | undefined {
  const text = settings.text("dns-listen");
  if (text === undefined) return undefined;
  const listen = parseListen(text, "dns-listen");
  const names = zoneFromFlags(settings);
  return {
    ...names,
    listen,
    ttl: Math.round(settings.number("dns-ttl") / 1000),
    nameServers: nameServersFrom(settings.text("dns-name-servers"), names, listen),
    keys: keysFrom(settings.text("dns-tsig-key-file")),
    secondaries: listed(settings.text("dns-secondaries")).map(secondaryFrom),
    rateLimit: settings.number("dns-rate-limit"),
  };
}

export function zoneFromFlags(settings: Settings): ZoneSettings {
  const zone = hostNameOf(settings.requiredText("dns-zone"));
  if (zone === undefined)
    throw new UsageError(`--dns-zone: "${settings.requiredText("dns-zone")}" is not a domain name`);
  const federation = settings.requiredText("federation-name").toLowerCase();
  if (!isLabel(federation))
    throw new UsageError(`--federation-name: "${federation}" is not one label of a domain name`);
  return { zone, federation };
}

function nameServersFrom(
  text: string | undefined,
  names: ZoneSettings,
  { host }: Listen,
): readonly NameServer[] {
  if (text === undefined) {
    const isKnown = isIP(host) !== 0 && host !== "0.0.0.0" && host !== "::";
    return [{ name: `ns.${apexOf(names)}`, addresses: isKnown ? [host] : [] }];
  }
  return listed(text).map((entry) => {
    const [written = "", address] = entry.split("=");
    const name = hostNameOf(written);
    if (name === undefined || (address !== undefined && addressBytes(address) === undefined))
      throw new UsageError(
        `--dns-name-servers: "${entry}" is not valid: NAME or NAME=ADDRESS is needed`,
      );
    return { name, addresses: address === undefined ? [] : [address] };
  });
}

function keysFrom(path: string | undefined): readonly TsigKey[] {
  if (path === undefined) return [];
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--dns-tsig-key-file ${path} cannot be read: ${why}`);
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const keys = lines.map((line, index) => {
    const key = parseKey(line, decodeBase64);
    if (key !== undefined) return key;
    throw new UsageError(
      `--dns-tsig-key-file ${path}, key ${index + 1}: hmac-sha256:NAME:BASE64 of at least 16 bytes is needed`,
    );
  });
  if (keys.length === 0) throw new UsageError(`--dns-tsig-key-file ${path} holds no key`);
  return keys;
}

const DNS_PORT = 53;

function secondaryFrom(entry: string): Secondary {
  if (isIP(entry) !== 0) return { host: entry, port: DNS_PORT };
  const { host, port } = parseListen(entry, "dns-secondaries");
  if (isIP(host) === 0)
    throw new UsageError(`--dns-secondaries: "${entry}" is not valid: an address is needed`);
  return { host, port };
}

function listed(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
