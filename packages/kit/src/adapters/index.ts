export { createPinoLog, type LogLevel, type PinoLogOptions } from "./pino-log.ts";
export { createPromMetrics } from "./prom-metrics.ts";
