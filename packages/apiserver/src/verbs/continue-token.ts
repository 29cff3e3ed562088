/**
 * The `continue` of a list in pieces: base64url of `{"v","rv","start"}`, as real servers write it. `rv` is the version
 * all pieces show, or -1 to go on with the present state. `start` is where the next piece begins, relative to the
 * namespace of the list.
 */
import { badRequest } from "@lifeboat/api";

export interface ContinueToken {
  /** -1: whatever the state is now. */
  readonly revision: number;
  /** The last key that was shown, relative to the prefix of the list. */
  readonly after: string;
}

const VERSION = "meta.k8s.io/v1";

export function encodeContinue({ revision, after }: ContinueToken): string {
  const text = JSON.stringify({ v: VERSION, rv: revision, start: `${after}\0` });
  return toBase64Url(new TextEncoder().encode(text));
}

/** Throws the 400 of a token that this server did not give out. */
export function decodeContinue(token: string): ContinueToken {
  const fields = parse(token);
  const { v, rv, start } = fields;
  if (v !== VERSION)
    throw invalidToken(`server does not recognize this encoded version ${showVersion(v)}`);
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv < -1 || rv === 0)
    throw invalidToken(`incorrect encoded start resourceVersion (version ${VERSION})`);
  if (typeof start !== "string" || start === "")
    throw invalidToken(`encoded start key empty (version ${VERSION})`);
  const after = start.endsWith("\0") ? start.slice(0, -1) : start;
  // Other servers begin the key with a slash; the keys of namespaced lists never do.
  return { revision: rv, after: after.startsWith("/") ? after.slice(1) : after };
}

function parse(token: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    const bytes = Uint8Array.from(atob(token.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
      char.charCodeAt(0),
    );
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalidToken("not a token of this server");
  }
  if (typeof parsed !== "object" || parsed === null)
    throw invalidToken("not a token of this server");
  return parsed as Readonly<Record<string, unknown>>;
}

function showVersion(version: unknown): string {
  return typeof version === "string" ? version : "";
}

function invalidToken(detail: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${detail}`);
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
