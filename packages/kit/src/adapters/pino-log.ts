/**
 * The Log port on pino: one JSON line per entry, `time` in milliseconds, `level` as a word, `msg` the constant message.
 *
 * A field that holds an Error is written as `{type, message, stack, cause}` and an InvariantError's data with it,
 * whatever the field is called.
 */
import { type DestinationStream, type Logger, pino } from "pino";
import type { Log, LogFields } from "../log.ts";
import { humanLines } from "./human-log.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface PinoLogOptions {
  readonly level: LogLevel;
  /** Where lines go; absent: standard error, so that standard output stays free for answers. */
  readonly destination?: DestinationStream;
  /** Lines for people instead of JSON: standard error is a terminal. */
  readonly isHuman?: boolean;
}

/** A log whose lines below `level` cost next to nothing. */
export function createPinoLog(options: PinoLogOptions): Log {
  const settings = {
    level: options.level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const destination = options.destination ?? pino.destination({ fd: 2, sync: true });
  const isHuman = options.isHuman ?? false;
  return logOn(
    pino(settings, isHuman ? humanLines((text) => destination.write(text)) : destination),
  );
}

function logOn(logger: Logger): Log {
  return {
    debug: (message, fields) => {
      if (logger.isLevelEnabled("debug")) logger.debug(plain(fields), message);
    },
    info: (message, fields) => {
      if (logger.isLevelEnabled("info")) logger.info(plain(fields), message);
    },
    warn: (message, fields) => {
      logger.warn(plain(fields), message);
    },
    error: (message, fields) => {
      logger.error(plain(fields), message);
    },
    child: (fields) => logOn(logger.child(plain(fields))),
  };
}

function plain(fields: LogFields | undefined): Record<string, unknown> {
  if (fields === undefined) return {};
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    result[name] = value instanceof Error ? describeError(value, 0) : value;
  }
  return result;
}

/** Causes may point in a circle; a few suffice. */
const DEEPEST_CAUSE = 4;

function describeError(error: Error, depth: number): Record<string, unknown> {
  const { cause } = error;
  const fields: unknown = "fields" in error ? error.fields : undefined;
  return {
    type: error.name,
    message: error.message,
    ...(depth === 0 ? { stack: error.stack } : {}),
    ...(fields === undefined ? {} : { fields }),
    ...(cause instanceof Error && depth < DEEPEST_CAUSE
      ? { cause: describeError(cause, depth + 1) }
      : {}),
  };
}
