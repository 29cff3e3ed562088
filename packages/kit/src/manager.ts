/**
 * Runs services side by side: starts them in order, starts one again when it ends too soon, stops them in reverse order.
 *
 * 1. A service is stopped only after every service that was listed after it has ended (or its time to end was up).
 * 2. A service that ends or fails before its signal aborts is started again after a pause: base 100 ms, cap 60 s,
 *    jitter from Random; the pause is short again once it ran for a minute.
 * 3. An InvariantError stops everything, and `run` rejects with it: the program is wrong and must not go on.
 */
import { InvariantError, sleep } from "@lifeboat/base";
import { Backoff } from "./backoff.ts";
import { serviceRestarts } from "./kit-metrics.ts";
import type { KitPorts, Service } from "./ports.ts";

export interface ManagerOptions {
  /** How long one service may take to end before the next is stopped. */
  readonly stopTimeoutMs: number;
}

const BACKOFF = { baseMs: 100, capMs: 60_000 };
const STEADY_MS = 60_000;

interface Running {
  readonly name: string;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** A service that is made of services. Rejects only with the InvariantError of one of them. */
export function createManager(
  ports: KitPorts,
  services: readonly Service[],
  options: ManagerOptions = { stopTimeoutMs: 30_000 },
): Service {
  return {
    name: "manager",
    run: (signal) => runAll(ports, services, options, signal),
  };
}

async function runAll(
  ports: KitPorts,
  services: readonly Service[],
  options: ManagerOptions,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const broken: unknown[] = [];
  const running: Running[] = [];
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    for (const service of services) {
      const stop = new AbortController();
      const ended = keepRunning(ports, service, stop.signal).catch((error: unknown) => {
        broken.push(error);
        resolve();
      });
      running.push({ name: service.name, stop, ended });
    }
  });
  for (const service of running.toReversed()) await stopOne(ports, service, options.stopTimeoutMs);
  if (broken.length > 0) throw broken[0];
}

async function keepRunning(ports: KitPorts, service: Service, signal: AbortSignal): Promise<void> {
  const { clock, log, metrics } = ports;
  const backoff = new Backoff(ports.random.fork(`manager ${service.name}`), BACKOFF);
  const restarts = metrics.counter(serviceRestarts);
  while (!signal.aborted) {
    const started = clock.monotonic();
    let error: unknown;
    try {
      await service.run(signal);
    } catch (caught) {
      if (caught instanceof InvariantError) throw caught;
      error = caught;
    }
    if (signal.aborted) {
      if (error !== undefined)
        log.debug("a service failed while stopping", { service: service.name, error });
      return;
    }
    if (clock.monotonic() - started >= STEADY_MS) backoff.reset();
    const pauseMs = backoff.next();
    log.error("a service ended too soon, starting it again", {
      service: service.name,
      pauseMs,
      ...(error === undefined ? {} : { error }),
    });
    restarts.add(1, { service: service.name });
    await sleep(clock, pauseMs, signal);
  }
}

async function stopOne(ports: KitPorts, service: Running, timeoutMs: number): Promise<void> {
  const inTime = new AbortController();
  service.stop.abort();
  const timeout = sleep(ports.clock, timeoutMs, inTime.signal).then((expired) => {
    if (expired)
      ports.log.error("a service does not stop, going on without it", { service: service.name });
  });
  await Promise.race([service.ended, timeout]);
  inTime.abort();
}
