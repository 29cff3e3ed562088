/** IP addresses and networks, as far as validation looks at them. */

export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

export interface Network extends Address {
  readonly prefix: number;
}

export const IP_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
export const CIDR_TEXT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** Undefined when the text is not an address. */
export function parseIp(text: string): Address | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** `address/prefix`; undefined when the text is not one. */
export function parseCidr(text: string): Network | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash));
  const prefix = decimal(text.slice(slash + 1), 3);
  if (address === undefined || prefix === undefined) return undefined;
  return prefix > (address.family === 4 ? 32 : 128) ? undefined : { ...address, prefix };
}

/** Whether `inner` lies in `outer` and is smaller than it. */
export function isStrictSubset(inner: Network, outer: Network): boolean {
  if (inner.family !== outer.family || inner.prefix <= outer.prefix) return false;
  const shift = BigInt((outer.family === 4 ? 32 : 128) - outer.prefix);
  return inner.bits >> shift === outer.bits >> shift;
}

/** Why this address may not be where traffic from elsewhere is sent: special ranges only mean something locally. */
export function specialAddressProblems(address: Address): readonly string[] {
  const { family, bits } = address;
  const problems: string[] = [];
  if (bits === 0n) problems.push(`may not be unspecified (${family === 4 ? "0.0.0.0" : "::"})`);
  if (family === 4 ? bits >> 24n === 127n : bits === 1n) {
    problems.push("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (family === 4 ? bits >> 16n === 0xa9fen : bits >> 118n === 0x3fan) {
    problems.push("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (family === 4 ? bits >> 8n === 0xe00000n : bits >> 112n === 0xff02n) {
    problems.push("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
  return problems;
}

function decimal(text: string, digits: number): number | undefined {
  return text.length > 0 && text.length <= digits && /^\d+$/.test(text) ? Number(text) : undefined;
}

function parseIpv4(text: string): Address | undefined {
  const parts = text.split(".", 5);
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    const value = decimal(part, 3);
    if (value === undefined || value > 255) return undefined;
    bits = (bits << 8n) | BigInt(value);
  }
  return { family: 4, bits };
}

function parseIpv6(text: string): Address | undefined {
  if (text.length > 45) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? "");
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? "") : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<number>(missing).fill(0), ...tail];
  return { family: 6, bits: groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n) };
}

function groupsOf(text: string): readonly number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":", 9);
  for (const [index, part] of parts.entries()) {
    if (part.includes(".") && index === parts.length - 1) {
      const v4 = parseIpv4(part);
      if (v4 === undefined) return undefined;
      groups.push(Number(v4.bits >> 16n), Number(v4.bits & 0xffffn));
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return undefined;
    }
  }
  return groups;
}
