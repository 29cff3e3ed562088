/**
 * Which addresses the control plane never dials for a member (T6). A Cluster names its endpoint and its proxy, so a user with the
 * right to edit Clusters could otherwise reach what listens on the control plane's own machine, or the service that gives credentials to machines.
 *
 * 1. The address that is dialled is judged, after the name was resolved: a name that resolves to something else the second time
 *    is judged the second time.
 * 2. IPv4 inside IPv6 (mapped, compatible, NAT64, 6to4) counts as the IPv4 address. What is no address is refused.
 * 3. Loopback can be allowed; link-local addresses, metadata services and multicast cannot.
 */

export interface DialRules {
  /** Whether members may be on the loopback interface, as simulated ones are. */
  readonly allowsLoopback: boolean;
}

/** Why this address is not dialled, in words that follow "the address … "; undefined: it may be dialled. */
export type JudgeAddress = (address: string) => string | undefined;

export function judgeAddressBy({ allowsLoopback }: DialRules): JudgeAddress {
  return (address) => {
    const kind = kindOfAddress(address);
    if (kind === undefined || (kind === "loopback" && allowsLoopback)) return undefined;
    const hint = kind === "loopback" ? " (--allow-loopback-members allows it)" : "";
    return `is not dialled: it is ${WORDS[kind]}${hint}`;
  };
}

/** Whether a host as it stands in a URL leads to the machine that asks. */
export function isLoopbackHost(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return kindOfAddress(host.replace(/^\[|\]$/g, "")) === "loopback";
}

type RefusedKind = "loopback" | "linkLocal" | "metadata" | "multicast" | "none";

const WORDS: Readonly<Record<RefusedKind, string>> = {
  loopback: "a loopback address of the control plane's own machine",
  linkLocal: "a link-local address",
  metadata: "the address of a metadata service",
  multicast: "a multicast or reserved address",
  none: "no address",
};

/** Services that give credentials to machines, outside the link-local ranges. */
const METADATA: ReadonlySet<string> = new Set([
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2:0:0:0:0:0:254",
  "fd20:ce:0:0:0:0:0:254",
]);

function kindOfAddress(address: string): RefusedKind | undefined {
  const four = parseIpv4(address);
  if (four !== undefined) return kindOfIpv4(four);
  const six = parseIpv6(address);
  return six === undefined ? "none" : kindOfIpv6(six);
}

function kindOfIpv4(bytes: readonly number[]): RefusedKind | undefined {
  const [first = 0, second = 0] = bytes;
  if (METADATA.has(bytes.join("."))) return "metadata";
  // 0.0.0.0 leads to the own machine.
  if (first === 127 || first === 0) return "loopback";
  if (first === 169 && second === 254) return "linkLocal";
  return first >= 224 ? "multicast" : undefined;
}

function kindOfIpv6(words: readonly number[]): RefusedKind | undefined {
  const [first = 0] = words;
  if (METADATA.has(words.map((word) => word.toString(16)).join(":"))) return "metadata";
  const embedded = embeddedIpv4(words);
  if (embedded !== undefined) return kindOfIpv4(embedded);
  if ((first & 0xffc0) === 0xfe80) return "linkLocal";
  return (first & 0xff00) === 0xff00 ? "multicast" : undefined;
}

/** The IPv4 address to which an IPv6 address leads. */
function embeddedIpv4(words: readonly number[]): readonly number[] | undefined {
  const [first = 0, second = 0, third = 0] = words;
  if (first === 0x2002) return bytesOf([second, third]);
  const isZero = (from: number, to: number): boolean =>
    words.slice(from, to).every((word) => word === 0);
  const isMapped = isZero(0, 5) && (words[5] === 0xffff || words[5] === 0);
  const isTranslated = isZero(0, 4) && words[4] === 0xffff && words[5] === 0;
  const isNat64 = first === 0x64 && second === 0xff9b && isZero(2, 6);
  if (!isMapped && !isTranslated && !isNat64) return undefined;
  // `::1` is loopback, which 0.0.0.1 counts as too.
  return bytesOf(words.slice(6));
}

function bytesOf(words: readonly number[]): readonly number[] {
  return words.flatMap((word) => [word >> 8, word & 0xff]);
}

function parseIpv4(text: string): readonly number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part)))
    return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

/** Eight words; a zone (`%eth0`) is left out. */
function parseIpv6(given: string): readonly number[] | undefined {
  const [zoneless = ""] = given.split("%", 1);
  const text = withWords(zoneless);
  const halves = text?.split("::") ?? [];
  if (halves.length === 0 || halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const words = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  if (!words.every((word) => /^[0-9a-fA-F]{1,4}$/.test(word))) return undefined;
  return words.map((word) => Number.parseInt(word, 16));
}

/** The text with an IPv4 address at its end written as two words. */
function withWords(text: string): string | undefined {
  const at = text.lastIndexOf(":");
  const last = text.slice(at + 1);
  if (!last.includes(".")) return text;
  const bytes = parseIpv4(last);
  if (bytes === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  return `${text.slice(0, at + 1)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

/**
 * Which addresses of backends are never dialled (T6). Members report them, and clients of the load balancer get the answer: a
 * member that lies must not lead requests to what gives credentials to machines. Loopback is where simulated members serve.
 */
export const judgeBackend: JudgeAddress = judgeAddressBy({ allowsLoopback: true });
