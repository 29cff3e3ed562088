/** The hash that names and tie-breaks are made of: FNV-1a with 32 bits over the UTF-8 bytes of a text. */
const utf8 = new TextEncoder();

export function hashBytes(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** The hash as a part of a name: its decimal digits, each written as a letter or digit that cannot spell a word. */
export function safeHash(text: string): string {
  let encoded = "";
  for (const digit of String(hashBytes(text)))
    encoded += ALPHABET.charAt(digit.charCodeAt(0) % ALPHABET.length);
  return encoded;
}
