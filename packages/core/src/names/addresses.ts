/** Addresses and host names as objects write them: texts of which nothing is certain. */

/** The bytes of an IPv4 (4) or IPv6 (16) address; undefined for any other text. */
export function addressBytes(text: string): Uint8Array | undefined {
  return text.includes(":") ? sixBytes(text) : fourBytes(text);
}

const OCTET = /^(?:0|[1-9]\d{0,2})$/;

function fourBytes(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [at, part] of parts.entries()) {
    if (!OCTET.test(part) || Number(part) > 255) return undefined;
    bytes[at] = Number(part);
  }
  return bytes;
}

/** Longest text of an IPv6 address: with an IPv4 tail. */
const MAX_SIX = 45;

function sixBytes(text: string): Uint8Array | undefined {
  if (text.length > MAX_SIX) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = "", tail] = halves;
  const first = groupsOf(head);
  const last = tail === undefined ? [] : groupsOf(tail);
  if (first === undefined || last === undefined) return undefined;
  const missing = 8 - first.length - last.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...first, ...Array.from({ length: missing }, () => 0), ...last];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(text: string): readonly number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [at, part] of parts.entries()) {
    const four = at === parts.length - 1 && part.includes(".") ? fourBytes(part) : undefined;
    if (four !== undefined) {
      const [a = 0, b = 0, c = 0, d = 0] = four;
      groups.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

/** Whether a text is a network: an address, a slash, and how many bits of it count. */
export function isNetwork(text: string): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  const bytes = addressBytes(address);
  const isCount = /^(?:0|[1-9]\d{0,2})$/.test(bits);
  return bytes !== undefined && more.length === 0 && isCount && Number(bits) <= bytes.length * 8;
}

/** The name under which an address is looked up; undefined for any other text. */
export function reverseName(address: string): string | undefined {
  const bytes = addressBytes(address);
  if (bytes === undefined) return undefined;
  if (bytes.length === 4) return `${[...bytes].toReversed().join(".")}.in-addr.arpa`;
  const digits = [...bytes].flatMap((byte) => [byte >> 4, byte & 15]);
  return `${digits
    .toReversed()
    .map((digit) => digit.toString(16))
    .join(".")}.ip6.arpa`;
}

const LABEL = /^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?$/;

/** Whether a text is one label of a name, in lower case. */
export function isLabel(text: string): boolean {
  return text.length <= 63 && LABEL.test(text);
}

/** The longest name that fits into 255 bytes on the wire. */
export const MAX_NAME = 253;

/** A host name in lower case without a dot at its end; undefined when it is none. */
export function hostNameOf(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, "");
  return name.length <= MAX_NAME && name.split(".").every(isLabel) ? name : undefined;
}
