/** One stretch of leading, or of acting for a member: from when the right was got until it is given up or has lapsed. */
export interface Term {
  /** Whether no other process may act at this moment. Once false it stays false. */
  isHeld(): boolean;
  /** Aborts when the term is over and this process has noticed; `isHeld` may be false before. */
  readonly signal: AbortSignal;
}
