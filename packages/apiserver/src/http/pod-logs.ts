/** The port by which a server has logs of pods; a control plane runs none, and has no such port. */
import type { HttpResponse } from "./exchange.ts";

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
