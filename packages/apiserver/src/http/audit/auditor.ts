/**
 * The audit of requests: asks the policy, and hands lines to the log.
 *
 * 1. A request is recorded before it is answered; with the stage RequestReceived also before it is carried out.
 * 2. A log that fails changes no answer, but in the mode `blocking-strict`: there a request that cannot be recorded is refused before
 *    it is carried out, with 500. What was carried out is always answered as it ended.
 */
import { internalError } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import type { Counter, Metrics } from "@lifeboat/kit";
import type { HttpRequest, HttpResponse, HttpStream, TakeOver } from "../exchange.ts";
import type { ParsedPath } from "../path.ts";
import type { User } from "../../authentication/user.ts";
import { type AuditedResponse, auditLine } from "./event.ts";
import { type AuditAttributes, type AuditPolicy, type AuditStage, decideAudit } from "./policy.ts";

export const AUDIT_MODES = ["batch", "blocking", "blocking-strict"] as const;
export type AuditMode = (typeof AUDIT_MODES)[number];

/** Where lines go. */
export interface AuditLog {
  /** Resolves when the line is written, or with `batch` taken; rejects when it is lost. */
  append(line: string): Promise<void>;
}

/** What the audit has to know of a request that is being handled. */
export interface AuditedExchange {
  readonly http: HttpRequest;
  readonly user: User;
  /** The user that asked; another one than `user` when the request impersonates one. */
  readonly authenticated: User;
  readonly auditId: string;
}

/** Of one request: `undefined` when nothing of it is recorded. */
export interface AuditRecord {
  /** Before the answer is sent; answers what to send. The end of a stream is recorded when it comes. */
  answered(response: HttpResponse): Promise<HttpResponse>;
}

export interface Auditor {
  /** Called when the user is known, before anything is done. Rejects with a refusal where the request must not go on. */
  received(
    exchange: AuditedExchange,
    path: ParsedPath,
    verb: string,
  ): Promise<AuditRecord | undefined>;
}

export interface AuditorPorts {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: AuditLog;
}

export function createAuditor(ports: AuditorPorts, policy: AuditPolicy, mode: AuditMode): Auditor {
  const { clock, log } = ports;
  const events: Counter<"outcome"> = ports.metrics.counter({
    name: "lifeboat_audit_events_total",
    help: "Lines of the audit log, by outcome: written or lost.",
    labels: ["outcome"],
  });
  /** Answers whether the line was written. */
  const write = async (line: string): Promise<boolean> => {
    try {
      await log.append(line);
      events.add(1, { outcome: "written" });
      return true;
    } catch {
      // The log itself reports why, once in a while; the request goes on as the mode wants it.
      events.add(1, { outcome: "lost" });
      return false;
    }
  };
  return {
    received: async (exchange, path, verb) => {
      const attributes = attributesOf(exchange.user, path, verb);
      const decision = decideAudit(policy, attributes);
      if (decision.level === "None") return undefined;
      const receivedAt = clock.now();
      const apiVersion = "version" in path ? path.version : "";
      const base = { decision, attributes, apiVersion, receivedAt, ...partsOf(exchange) };
      const isStrict = mode === "blocking-strict";
      if (!decision.omitStages.has("RequestReceived") || isStrict) {
        const line = auditLine({ ...base, stage: "RequestReceived", now: receivedAt });
        const isWritten = await write(line);
        if (!isWritten && isStrict)
          throw internalError("the request cannot be recorded in the audit log");
      }
      const record = (stage: AuditStage, response: AuditedResponse): Promise<unknown> =>
        decision.omitStages.has(stage)
          ? Promise.resolve()
          : write(auditLine({ ...base, stage, now: clock.now(), response }));
      return { answered: (response) => recordAnswer(response, record) };
    },
  };
}

type Record = (stage: AuditStage, response: AuditedResponse) => Promise<unknown>;

async function recordAnswer(response: HttpResponse, record: Record): Promise<HttpResponse> {
  const { status, body } = response;
  if ("take" in body) {
    await record("ResponseStarted", { status });
    return {
      ...response,
      body: takenWith(body, () => void record("ResponseComplete", { status })),
    };
  }
  if (!("start" in body)) {
    await record("ResponseComplete", { status, body: wholeOf(body) });
    return response;
  }
  await record("ResponseStarted", { status });
  return { ...response, body: endingWith(body, () => void record("ResponseComplete", { status })) };
}

/** The same connection; `atEnd` is called when it closes. */
function takenWith(taken: TakeOver, atEnd: () => void): TakeOver {
  return {
    take: (connection) => {
      connection.once("close", atEnd);
      taken.take(connection);
    },
    drop: () => {
      atEnd();
      taken.drop();
    },
  };
}

/** The same stream; `atEnd` is called once, whichever side ends it. */
function endingWith(stream: HttpStream, atEnd: () => void): HttpStream {
  let isOpen = true;
  const end = (): void => {
    if (isOpen) atEnd();
    isOpen = false;
  };
  return {
    start: (out) =>
      stream.start({
        write: (chunk) => out.write(chunk),
        onDrain: (callback) => out.onDrain(callback),
        end: () => {
          end();
          out.end();
        },
        abort: () => {
          end();
          out.abort();
        },
      }),
    stop: () => {
      end();
      stream.stop();
    },
  };
}

function wholeOf(body: Uint8Array | readonly Uint8Array[]): Uint8Array {
  return body instanceof Uint8Array ? body : Buffer.concat(body);
}

function partsOf({ http, user, authenticated, auditId }: AuditedExchange) {
  const { url, headers, body, remoteAddress } = http;
  return {
    auditId,
    url,
    user: authenticated,
    ...(user !== authenticated && { impersonated: user }),
    remoteAddress,
    userAgent: headers["user-agent"] ?? "",
    requestBody: body,
  };
}

function attributesOf(user: User, path: ParsedPath, verb: string): AuditAttributes {
  const target: AuditAttributes["target"] =
    path.kind === "member"
      ? {
          kind: "resource",
          group: path.group,
          resource: "clusters",
          subresource: path.subresource,
          namespace: "",
          name: path.cluster,
        }
      : path.kind === "resource"
        ? {
            kind: "resource",
            group: path.group,
            resource: path.plural,
            subresource: path.subresource,
            namespace: path.namespace,
            name: path.name,
          }
        : { kind: "path", path: path.kind === "other" ? path.text : "" };
  return { user: user.name, groups: user.groups, verb, target };
}
