/** What the transport allows its clients, in size, number and time. */
export interface TlsServerLimits {
  readonly maxBodyBytes: number;
  /** For clients that are not authenticated: they may write nothing, so a small body is read only to be answered. */
  readonly maxUnauthenticatedBodyBytes: number;
  /** Of all requests of authenticated users together, until they are answered; one user may hold half of it. */
  readonly maxPendingBodyBytes: number;
  /** The same for clients that are not authenticated; one address may hold half of it. */
  readonly maxUnauthenticatedPendingBytes: number;
  readonly handshakeTimeoutMs: number;
  /** Until a request with its body has arrived. */
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** A connection on which nothing happens. */
  readonly idleTimeoutMs: number;
  /** A client that takes nothing of what is sent to it. */
  readonly stallTimeoutMs: number;
  readonly maxStreamsPerConnection: number;
  readonly maxConnections: number;
}

export const DEFAULT_TLS_SERVER_LIMITS: TlsServerLimits = Object.freeze({
  maxBodyBytes: 3 * 1024 * 1024,
  maxUnauthenticatedBodyBytes: 64 * 1024,
  maxPendingBodyBytes: 512 * 1024 * 1024,
  maxUnauthenticatedPendingBytes: 16 * 1024 * 1024,
  handshakeTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  headersTimeoutMs: 15_000,
  idleTimeoutMs: 180_000,
  stallTimeoutMs: 60_000,
  maxStreamsPerConnection: 1000,
  maxConnections: 10_000,
});
