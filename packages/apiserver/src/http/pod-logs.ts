/** The port by which a server has logs of pods; a control plane runs none, and has no such port. */
import { badRequest } from "@lifeboat/api";
import type { HttpResponse } from "./exchange.ts";
import type { ResourcePath } from "./path.ts";
import type { Query } from "./query.ts";

export interface AskedLog {
  readonly namespace: string;
  readonly pod: string;
  /** "": the only one. */
  readonly container: string;
  readonly follow: boolean;
  /** Undefined: all lines. */
  readonly tailLines: number | undefined;
  readonly timestamps: boolean;
}

export interface PodLogs {
  /** Throws `Refused` when there is no such pod or container. */
  read(asked: AskedLog): Promise<HttpResponse>;
}

export function isLogPath({ group, plural, namespace, subresource }: ResourcePath): boolean {
  return group === "" && plural === "pods" && namespace !== "" && subresource === "log";
}

export function askedLog({ namespace, name }: ResourcePath, query: Query): AskedLog {
  const tail = query.get("tailLines");
  if (tail !== undefined && !/^\d{1,9}$/.test(tail))
    throw badRequest(`tailLines: ${JSON.stringify(tail)} is not a number of lines`);
  return {
    namespace,
    pod: name,
    container: query.text("container"),
    follow: query.text("follow") === "true",
    tailLines: tail === undefined ? undefined : Number(tail),
    timestamps: query.text("timestamps") === "true",
  };
}
