/** What every long-running command takes from its process: the level of logs and a seed. Light: the agent loads it. */
import { UsageError } from "./failure.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export function parseLogLevel(text: string): (typeof LOG_LEVELS)[number] {
  const level = LOG_LEVELS.find((name) => name === text);
  if (level === undefined) {
    throw new UsageError(
      `--log-level: "${text}" is not valid: one of ${LOG_LEVELS.join(", ")} is needed`,
    );
  }
  return level;
}

/** Jitter must differ from process to process; nothing secret comes from it. */
export function seedFromProcess(): number {
  return (process.pid * 2_654_435_761 + Math.floor(performance.timeOrigin)) >>> 0;
}
