/**
 * The keys of encryption at rest, and what they do to the bytes of one row: AES-256-GCM.
 *
 *     | form u8 = 1 | id of the key, 8 bytes | nonce, 12 bytes | encrypted bytes | tag, 16 bytes |
 *
 * 1. Every row has a random nonce of its own. Key and revision of the row are authenticated with it: a row that was put in the
 *    place of another one is not opened.
 * 2. The first key encrypts, all of them decrypt. A row that no key opens is an error with a sentence, never an empty row.
 * 3. JSON begins with `{`: the form distinguishes encrypted rows from others.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** The key file, or a row, cannot be used; the message is a sentence. */
export class EncryptionRefused extends Error {
  override readonly name = "EncryptionRefused";
}

/** What a row is authenticated with. */
export interface RowIdentity {
  readonly key: string;
  readonly revision: number;
}

export interface Keyring {
  encrypt(row: RowIdentity, bytes: Uint8Array): Buffer;
  /** Throws EncryptionRefused when no key opens it. */
  decrypt(row: RowIdentity, bytes: Uint8Array): Buffer;
  /** Whether the first key encrypted it. */
  isCurrent(bytes: Uint8Array): boolean;
}

const FORM = 1;
const ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_AT = 1 + ID_BYTES;
const DATA_AT = NONCE_AT + NONCE_BYTES;
const KEY_BYTES = 32;
const CIPHER = "aes-256-gcm";

export function isEncrypted(bytes: Uint8Array): boolean {
  return bytes[0] === FORM;
}

/** One key a line, 32 bytes as base64 or hex; empty lines and lines that begin with `#` are passed over. */
export function parseKeys(text: string): readonly Buffer[] {
  const keys: Buffer[] = [];
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const key = parseKey(line);
    if (key === undefined)
      throw new EncryptionRefused(
        `line ${index + 1} is not a key: 32 random bytes are needed, as base64 or hex (head -c 32 /dev/urandom | base64)`,
      );
    keys.push(key);
  }
  if (keys.length === 0)
    throw new EncryptionRefused("it holds no key (head -c 32 /dev/urandom | base64)");
  return keys;
}

function parseKey(line: string): Buffer | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(line)) return Buffer.from(line, "hex");
  if (!/^[A-Za-z0-9+/]{43}=?$/.test(line)) return undefined;
  const key = Buffer.from(line, "base64");
  return key.length === KEY_BYTES ? key : undefined;
}

/** No keys: nothing is encrypted, and an encrypted row is refused. */
export function createKeyring(keys: readonly Buffer[]): Keyring {
  const known = keys.map((key) => ({ key, id: idOf(key) }));
  const first = known[0];
  return {
    isCurrent: (bytes) => first !== undefined && isEncrypted(bytes) && hasId(bytes, first.id),
    encrypt: (row, bytes) => {
      if (first === undefined) throw new EncryptionRefused("there is no key to encrypt with");
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, first.key, nonce);
      cipher.setAAD(identityOf(row));
      const parts = [Buffer.of(FORM), first.id, nonce, cipher.update(bytes), cipher.final()];
      return Buffer.concat([...parts, cipher.getAuthTag()]);
    },
    decrypt: (row, bytes) => {
      const one = known.find(({ id }) => hasId(bytes, id));
      if (one === undefined) throw new EncryptionRefused(noKey(row, bytes, keys.length));
      const end = bytes.length - TAG_BYTES;
      try {
        const nonce = bytes.subarray(NONCE_AT, DATA_AT);
        const decipher = createDecipheriv(CIPHER, one.key, nonce);
        decipher.setAAD(identityOf(row));
        decipher.setAuthTag(bytes.subarray(end));
        return Buffer.concat([decipher.update(bytes.subarray(DATA_AT, end)), decipher.final()]);
      } catch (cause) {
        throw new EncryptionRefused(
          `${row.key} was changed on the disk: its encryption does not match; restore the directory from a backup`,
          { cause },
        );
      }
    },
  };
}

function noKey({ key }: RowIdentity, bytes: Uint8Array, keys: number): string {
  const id = Buffer.from(bytes.subarray(1, NONCE_AT)).toString("hex");
  const given = keys === 0 ? "no key was given" : "none of the given keys is that one";
  return `${key} is encrypted with the key ${id}, and ${given}: give its file with --encryption-key-file`;
}

function hasId(bytes: Uint8Array, id: Buffer): boolean {
  return id.equals(bytes.subarray(1, NONCE_AT));
}

/** What names a key without telling anything of it. */
function idOf(key: Buffer): Buffer {
  return createHash("sha256")
    .update("lifeboat key id\n")
    .update(key)
    .digest()
    .subarray(0, ID_BYTES);
}

function identityOf({ key, revision }: RowIdentity): Buffer {
  return Buffer.from(`${revision} ${key}`);
}
