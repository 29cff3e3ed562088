/** Numbers of the DNS protocol. */

/** Types of records that are known by name. */
export const TYPES = Object.freeze({
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
});

export type TypeName = keyof typeof TYPES;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(TYPES).map(([name, type]) => [type, name]),
);

/** The name of a type, or the form of RFC 3597. */
export function typeName(type: number): string {
  return NAMES.get(type) ?? `TYPE${type}`;
}

export const CLASS_IN = 1;
export const CLASS_ANY = 255;

export const RCODES = Object.freeze({
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADVERS: 16,
});

/** Errors of TSIG (RFC 8945). */
export const TSIG_ERRORS = Object.freeze({ BADSIG: 16, BADKEY: 17, BADTIME: 18 });

export const OPCODES = Object.freeze({ QUERY: 0, NOTIFY: 4 });

export const HEADER_BYTES = 12;
/** Bits of the third and fourth byte of a message, as one number. */
export const FLAGS = Object.freeze({
  QR: 0x8000,
  AA: 0x0400,
  TC: 0x0200,
  RD: 0x0100,
  OPCODE: 0x7800,
  RCODE: 0x000f,
});

export const MAX_LABEL = 63;
/** Of a name on the wire, with lengths and the root's zero. */
export const MAX_NAME_BYTES = 255;
