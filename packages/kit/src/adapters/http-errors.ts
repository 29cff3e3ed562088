/**
 * What a refusal of a server means.
 *
 * An answer of 4xx or 5xx is Refused, except where a write may have taken effect all the same (502, 504, and a 500 that
 * reports a lost or slow etcd): that is OutcomeUnknown. A Retry-After header shows in `details`.
 *
 * What a server writes into a refusal ends in Events, conditions and terminals. So only a Status is quoted, as one line of
 * bounded length; of any other body nothing is.
 */
import type * as http from "node:http";
import {
  exceedsDepth,
  failure,
  isJsonObject,
  type Json,
  type JsonObject,
  type Status,
  type StatusDetails,
} from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import { isJsonType, isStatus } from "./http-codec.ts";

/** The Status of a refusal, made up where the server (or a proxy before it) sent none. */
export function statusOf(code: number, headers: http.IncomingHttpHeaders, text: string): Status {
  const sent = isJsonType(headers) ? tryParse(text) : undefined;
  const status =
    isJsonObject(sent) && isStatus(sent) ? cleanStatus(sent, code) : withoutStatus(code, text);
  const retryAfter = Number(headers["retry-after"]);
  if (!(retryAfter > 0) || status.details?.retryAfterSeconds !== undefined) return status;
  const retryAfterSeconds = Math.min(retryAfter, LONGEST_RETRY_S);
  return deepFreeze({ ...status, details: { ...status.details, retryAfterSeconds } });
}

/** A Status as it was sent, bounded: its words reach Events, conditions and terminals. Frozen. */
export function cleanStatus(sent: JsonObject, httpCode: number): Status {
  const { code, reason, message, details } = sent;
  const isCode = typeof code === "number" && Number.isInteger(code) && code >= 100 && code < 600;
  const isReason = typeof reason === "string" && /^[A-Za-z]{1,64}$/.test(reason);
  const known = isCode ? code : httpCode;
  return deepFreeze({
    ...failure(
      known,
      isReason ? reason : REASONS[known],
      (typeof message === "string" ? plainText(message) : "") || `HTTP ${httpCode}`,
    ),
    ...(isJsonObject(details) && { details: cleanDetails(details) }),
  });
}

function cleanDetails(details: JsonObject): StatusDetails {
  const { retryAfterSeconds: seconds, ...rest } = details;
  const isPlain =
    !exceedsDepth(rest, DETAILS_DEPTH) && JSON.stringify(rest).length <= LONGEST_DETAILS;
  const kept = isPlain ? (rest as StatusDetails) : {};
  const isTime = typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0;
  return isTime ? { ...kept, retryAfterSeconds: Math.min(seconds, LONGEST_RETRY_S) } : kept;
}

/** A body that is no Status is not quoted: it may be any page of any server on the way. */
function withoutStatus(code: number, text: string): Status {
  const isRedirect = code >= 300 && code < 400;
  const why = isRedirect ? "redirects are not followed" : "the answer is not a Status";
  // Only these words of a body are read: whether a write may have happened depends on them.
  const etcd = text.includes("etcdserver:")
    ? (/timed out|leader changed/.exec(text)?.[0] ?? "")
    : "";
  const message = etcd === "" ? `HTTP ${code}: ${why}` : `HTTP ${code}: etcdserver: ${etcd}`;
  return deepFreeze(failure(code, REASONS[code], message));
}

const LONGEST_MESSAGE = 4096;
const LONGEST_DETAILS = 16_384;
/** `causes` and their fields. */
const DETAILS_DEPTH = 4;
const LONGEST_RETRY_S = 3600;

/** One line of plain text: no control characters, no page, not too long. */
function plainText(text: string): string {
  const start = text.slice(0, 2 * LONGEST_MESSAGE);
  if (/<!doctype|<(html|head|body|script|style|iframe|svg|img)\b/i.test(start)) return "";
  const line = start.replace(UNPRINTABLE, " ").replace(/ {2,}/g, " ").trim();
  return line.length <= LONGEST_MESSAGE ? line : `${line.slice(0, LONGEST_MESSAGE - 1)}\u2026`;
}

/** Control characters, and those that change the direction of text or cannot be seen. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

function tryParse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Answers after which a write may have taken effect: the server that gave them had passed the write on. */
export function mayHaveHappened(status: Status): boolean {
  if (status.code === 502 || status.code === 504) return true;
  const message = status.message ?? "";
  return (
    status.code === 500 &&
    message.includes("etcdserver:") &&
    (message.includes("timed out") || message.includes("leader changed"))
  );
}
