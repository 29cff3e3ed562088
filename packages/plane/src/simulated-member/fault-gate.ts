/**
 * A gate before an API server, in which the connection to it can go wrong.
 *
 * 1. Without faults it hands on every request and every answer as they are.
 * 2. `errors`: so many requests of a hundred are answered with 500 and reach nothing.
 * 3. `slow`: a request waits before it is handed on.
 * 4. `partition`: a request waits until the fault is over, and an open stream falls silent; then both go on, as they do
 *    over a network that comes back. A client that does not wait so long goes away, and nothing of its request is carried out.
 *    Connections that left HTTP (exec, attach) are cut, as by a timeout.
 * 5. `api-down`: a request is cut off without an answer. That no port is open at all is the transport's part: see
 *    `SimulatedMember.onServing`.
 *
 * What has been handed on is carried out whatever happens to the gate afterwards.
 */
import { failure, type SimulatedFault } from "@lifeboat/api";
import {
  Dropped,
  type Handle,
  type HttpRequest,
  type HttpResponse,
  type TakenConnection,
  type TakeOver,
} from "@lifeboat/apiserver";
import { type Clock, type Random, sleep } from "@lifeboat/base";
import { HeldStream } from "./held-stream.ts";

export interface FaultGatePorts {
  readonly clock: Clock;
  readonly random: Random;
}

export interface FaultGate {
  readonly handle: Handle;
  /** What goes wrong from now on, in the place of what went wrong before. */
  setFaults(faults: readonly SimulatedFault[]): void;
}

/** How long an answer takes when `slow` gives no delay. */
export const DEFAULT_DELAY_MS = 5000;
/** How many requests of a hundred fail when `errors` gives no number. */
export const DEFAULT_ERROR_PERCENT = 100;

/** Puts a gate before `handle`; it is open. */
export function createFaultGate(ports: FaultGatePorts, handle: Handle): FaultGate {
  const gate = new Gate(ports, handle);
  return { handle: (request) => gate.pass(request), setFaults: (faults) => gate.setFaults(faults) };
}

class Gate {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #handle: Handle;
  readonly #streams = new Set<HeldStream>();
  readonly #taken = new Set<TakenConnection>();
  readonly #waiting = new Set<() => void>();
  #faults: readonly SimulatedFault[] = [];

  constructor(ports: FaultGatePorts, handle: Handle) {
    this.#clock = ports.clock;
    this.#random = ports.random.fork("fault-gate");
    this.#handle = handle;
  }

  setFaults(faults: readonly SimulatedFault[]): void {
    this.#faults = faults;
    const isCut = this.#isPartitioned();
    for (const stream of this.#streams) stream.setHeld(isCut);
    if (isCut || this.#fault("api-down") !== undefined)
      for (const connection of this.#taken) connection.destroy();
    if (isCut) return;
    for (const goOn of this.#waiting) goOn();
    this.#waiting.clear();
  }

  async pass(request: HttpRequest): Promise<HttpResponse> {
    await this.#wayIn(request.signal);
    if (this.#fault("api-down") !== undefined) throw new Dropped("the API is down");
    if (this.#drawsError()) return simulatedError();
    const response = await this.#handle(request);
    if (!("start" in response.body)) {
      await this.#untilConnected(request.signal);
      const { body } = response;
      return "take" in body ? { ...response, body: this.#watched(body) } : response;
    }
    const stream = new HeldStream(response.body, (over) => this.#streams.delete(over));
    stream.setHeld(this.#isPartitioned());
    this.#streams.add(stream);
    return { ...response, body: stream };
  }

  #watched(body: TakeOver): TakeOver {
    return {
      take: (connection) => {
        this.#taken.add(connection);
        connection.once("close", () => this.#taken.delete(connection));
        body.take(connection);
      },
      drop: () => body.drop(),
    };
  }

  /** The way to the server, which may be slow and may be cut; a client that gives up meanwhile is cut off. */
  async #wayIn(signal: AbortSignal): Promise<void> {
    const slow = this.#fault("slow");
    if (slow !== undefined)
      await sleep(this.#clock, slow.delayMilliseconds ?? DEFAULT_DELAY_MS, signal);
    await this.#untilConnected(signal);
    if (signal.aborted) throw new Dropped("the client is gone");
  }

  async #untilConnected(signal: AbortSignal): Promise<void> {
    while (this.#isPartitioned() && !signal.aborted) await this.#nextChange(signal);
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        signal.removeEventListener("abort", goOn);
        this.#waiting.delete(goOn);
        resolve();
      };
      this.#waiting.add(goOn);
      signal.addEventListener("abort", goOn, { once: true });
    });
  }

  #drawsError(): boolean {
    const errors = this.#fault("errors");
    if (errors === undefined) return false;
    return this.#random.below(100) < (errors.errorPercent ?? DEFAULT_ERROR_PERCENT);
  }

  #isPartitioned(): boolean {
    return this.#fault("partition") !== undefined;
  }

  #fault(mode: SimulatedFault["mode"]): SimulatedFault | undefined {
    return this.#faults.find((fault) => fault.mode === mode);
  }
}

function simulatedError(): HttpResponse {
  const message = "Internal error occurred: simulated fault: errors";
  const status = failure(500, "InternalError", message);
  return {
    status: 500,
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(`${JSON.stringify(status)}\n`),
  };
}
