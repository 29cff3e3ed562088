/**
 * The way into members, as the server sees it: a port. `handle` has parsed and authorized a request before it comes here;
 * what answers is composed outside (`@lifeboat/proxy`), because it dials.
 */
import type { User } from "../authentication/user.ts";
import type { HttpRequest, HttpResponse } from "./exchange.ts";

export interface MemberRequest extends Pick<HttpRequest, "method" | "headers" | "signal"> {
  readonly cluster: string;
  /** The path in the member: percent-encoded segments, below its root. */
  readonly path: string;
  /** What follows the `?`, as it was sent; "" for none. Printable ASCII. */
  readonly query: string;
  /** The caller: the member is asked in this name. */
  readonly user: User;
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** Whether the answer may be 101 with a `TakeOver`. */
  readonly canBeTakenOver: boolean;
  /** Another replica has passed it on already: it ends here, one way or the other. */
  readonly isForwarded: boolean;
}

export interface MemberProxy {
  /** Passes a request on to a member. Throws `Refused` with a sentence when it cannot. */
  forward(request: MemberRequest): Promise<HttpResponse>;
  /** Takes the connection that the agent of a member has opened. */
  openTunnel(request: MemberRequest): Promise<HttpResponse>;
  /** Why neither works; undefined: both do. Whether agents are there does not count. Absent: it is not checked. */
  problem?(): string | undefined;
}
