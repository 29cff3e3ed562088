/**
 * What a refusal of a server means.
 *
 * An answer of 4xx or 5xx is Refused, except where a write may have taken effect all the same (502, 504, and a 500 that
 * reports a lost or slow etcd): that is OutcomeUnknown. A Retry-After header shows in `details`.
 */
import type * as http from "node:http";
import { failure, isJsonObject, type Json, type Status } from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import { isJsonType, isStatus } from "./http-codec.ts";

/** The Status of a refusal, made up where the server (or a proxy before it) sent none. */
export function statusOf(code: number, headers: http.IncomingHttpHeaders, text: string): Status {
  const sent = isJsonType(headers) ? tryParse(text) : undefined;
  const status =
    isJsonObject(sent) && isStatus(sent)
      ? ({
          ...sent,
          code: typeof sent["code"] === "number" ? sent["code"] : code,
        } as unknown as Status)
      : failure(code, REASONS[code], text.trim().slice(0, 1024) || `HTTP ${code}`);
  const retryAfter = Number(headers["retry-after"]);
  if (!(retryAfter > 0) || status.details?.retryAfterSeconds !== undefined)
    return deepFreeze(status);
  return deepFreeze({ ...status, details: { ...status.details, retryAfterSeconds: retryAfter } });
}

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

/** Answers after which a write may have taken effect: whoever gave them had passed the write on. */
export function mayHaveHappened(status: Status): boolean {
  if (status.code === 502 || status.code === 504) return true;
  const message = status.message ?? "";
  return (
    status.code === 500 &&
    message.includes("etcdserver:") &&
    (message.includes("timed out") || message.includes("leader changed"))
  );
}
