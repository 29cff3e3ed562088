/**
 * The Log port. A message is constant; what varies goes into fields. `info`: the state of the world changed. `debug`:
 * a loop ran. `warn`: degraded but coping. `error`: a person may be needed.
 */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose lines all carry these fields. */
  child(fields: LogFields): Log;
}

export const silentLog: Log = Object.freeze({
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
});
