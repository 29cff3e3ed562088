/**
 * Whether a request may be sent to another backend after one failed. Only when that cannot happen twice: the backend was never
 * connected to, or the method is safe to repeat and no part of an answer has come.
 */
const IDEMPOTENT: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "OPTIONS",
  "PUT",
  "DELETE",
  "TRACE",
]);

export interface FailedAttempt {
  readonly method: string;
  readonly wasConnected: boolean;
  /** Whether the body is none, or is kept as a whole. */
  readonly isBodyKept: boolean;
  /** Whether some of the body was passed on and is gone. */
  readonly isBodySpent: boolean;
}

export function mayRepeat({
  method,
  wasConnected,
  isBodyKept,
  isBodySpent,
}: FailedAttempt): boolean {
  if (!wasConnected) return isBodyKept || !isBodySpent;
  return isBodyKept && IDEMPOTENT.has(method);
}
