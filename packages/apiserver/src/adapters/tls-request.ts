/** One request as `handle` sees it, and whether its client still waits. The signal is made only when it is asked for. */
import type { HttpRequest } from "../http/exchange.ts";
import { type ClientIdentity, NO_IDENTITY } from "./tls-server-identity.ts";

const NOTHING = new Uint8Array(0);

export class Request implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HttpRequest["headers"];
  readonly remoteAddress: string | undefined;
  rawHeaders: HttpRequest["rawHeaders"];
  body: Uint8Array = NOTHING;
  bodyTooLarge = false;
  incoming: HttpRequest["incoming"];
  canBeTakenOver = false;
  /** Whether part of the body has not been received: set where the transport does not read it first. */
  hasUnreadBody: (() => boolean) | undefined;
  isAbandoned = false;
  /** The whole answer is on its way: the end of the connection is no news any more. */
  isAnswered = false;
  readonly #identity: ClientIdentity;
  #controller: AbortController | undefined;
  #listeners: (() => void)[] = [];

  constructor(
    method: string,
    url: string,
    headers: HttpRequest["headers"],
    identity: ClientIdentity,
    remoteAddress?: string,
  ) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.#identity = identity;
    this.remoteAddress = remoteAddress;
  }

  get certificateUser(): HttpRequest["certificateUser"] {
    return this.#current().user;
  }

  get certificateRefused(): boolean {
    return this.#current().isRefused;
  }

  get certificateRefusal(): string | undefined {
    return this.#identity.refusal();
  }

  get certificateIssuer(): string {
    return this.#identity.issuer();
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isAbandoned && !this.isAnswered) this.#controller.abort();
    return this.#controller.signal;
  }

  /** No client waits for this request any more: everything was sent, or the client is gone, which aborts the signal. */
  abandon(): void {
    if (this.isAbandoned) return;
    this.isAbandoned = true;
    if (!this.isAnswered) this.#controller?.abort();
    for (const listener of this.#listeners) listener();
    this.#listeners = [];
  }

  onAbandon(listener: () => void): void {
    if (this.isAbandoned) listener();
    else this.#listeners.push(listener);
  }

  #current(): ClientIdentity {
    const identity = this.#identity;
    if (identity === NO_IDENTITY) return identity;
    // seed: revoked-request
    if (Date.now() <= identity.validUntil && identity.refusal() === undefined) return identity;
    return { ...identity, user: undefined, isRefused: true };
  }
}
