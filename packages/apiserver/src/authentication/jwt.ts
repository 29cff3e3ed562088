/** JSON Web Tokens as texts: what they claim, before any signature is checked. */
import { isJsonObject, type JsonObject } from "@lifeboat/api";

/** The claims of a text in the form of a JWT; undefined for other texts. They prove nothing. */
export function unverifiedClaims(token: string): JsonObject | undefined {
  const parts = token.split(".", 4);
  if (parts.length !== 3) return undefined;
  try {
    const base64 = (parts[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isJsonObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** `aud` may be one text or a list. */
export function audiencesOf(claims: JsonObject): readonly string[] {
  const { aud } = claims;
  const all: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return all.filter((audience): audience is string => typeof audience === "string");
}

/** Clocks of issuers may be ahead of ours by so much. */
const SKEW_SECONDS = 60;

/** Whether the time is between `nbf` and `exp`. A token without an end does not count. */
export function isTimely(claims: JsonObject, nowMs: number): boolean {
  const { exp, nbf } = claims;
  const now = nowMs / 1000;
  if (typeof exp !== "number" || !(now < exp)) return false;
  return nbf === undefined || (typeof nbf === "number" && nbf <= now + SKEW_SECONDS);
}
