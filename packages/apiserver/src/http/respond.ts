/** How answers are put together: status, headers that every answer has, bodies as bytes. */
import { encodeYaml, type Json, type Status } from "@lifeboat/api";
import type { HttpResponse } from "./exchange.ts";
import type { Format } from "./media-type.ts";

/** Headers still to be completed by `finish`; they belong to one answer alone. */
export type Headers = Record<string, string | readonly string[]>;

export interface Draft {
  readonly status: number;
  readonly headers: Headers;
  readonly body: HttpResponse["body"];
}

export const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain; charset=utf-8";
const NO_CACHE = "no-cache, private";
const MAX_WARNING_LENGTH = 1024;
const MAX_WARNINGS = 32;
const NOTHING = new Uint8Array(0);

export function contentType(format: Format): string {
  return format.media === "json" ? JSON_TYPE : "application/yaml";
}

/** A value in the media type asked for. */
export function encodeValue(value: unknown, format: Format): Uint8Array {
  if (format.media === "yaml") return Buffer.from(encodeYaml(value as Json));
  return Buffer.from(`${format.pretty ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`);
}

export function valueDraft(status: number, value: unknown, format: Format): Draft {
  return bytesDraft(status, contentType(format), encodeValue(value, format));
}

export function bytesDraft(status: number, type: string, body: Uint8Array): Draft {
  return { status, headers: { "content-type": type }, body };
}

export function textDraft(status: number, text: string): Draft {
  return {
    status,
    headers: { "content-type": TEXT_TYPE, "x-content-type-options": "nosniff" },
    body: Buffer.from(text),
  };
}

export function emptyDraft(status: number, headers: Headers): Draft {
  return { status, headers, body: NOTHING };
}

/** What a path that leads nowhere answers. */
export function pageNotFound(): Draft {
  return textDraft(404, "404 page not found\n");
}

export function statusDraft(status: Status, format: Format): Draft {
  const draft = valueDraft(status.code, status, format);
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter !== undefined && retryAfter > 0)
    draft.headers["retry-after"] = String(Math.ceil(retryAfter));
  if (status.code === 403) draft.headers["x-content-type-options"] = "nosniff";
  return draft;
}

/** Adds what every answer carries. */
export function finish(draft: Draft, auditId: string, warnings: readonly string[]): HttpResponse {
  const { headers } = draft;
  headers["audit-id"] = auditId;
  headers["cache-control"] ??= NO_CACHE;
  if (warnings.length > 0) headers["warning"] = warnings.slice(0, MAX_WARNINGS).map(warningHeader);
  return draft;
}

/** A Warning header value: code 299, no agent, the text as a quoted string of printable ASCII. */
export function warningHeader(text: string): string {
  let quoted = "";
  for (const character of text.slice(0, MAX_WARNING_LENGTH)) {
    if (character === '"' || character === "\\") quoted += `\\${character}`;
    else if (character < " " || character === "\u007f") quoted += " ";
    else quoted += character > "~" ? "?" : character;
  }
  return `299 - "${quoted}"`;
}
