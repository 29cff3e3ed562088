/**
 * Lets a response be read as its server's intake allows: pauses it for as long as the intake asks, and gives back what it
 * took.
 */
import type * as http from "node:http";
import type { ExcessiveResponse } from "../client.ts";
import type { Intake } from "./intake.ts";
import { tooFast } from "./response-limits.ts";

export interface ValvePorts {
  readonly intake: Intake;
  /** Called when responses come too fast; they are read all the same. */
  readonly onExcess: (excess: ExcessiveResponse) => void;
}

export class Valve {
  readonly #ports: ValvePorts;
  readonly #response: http.IncomingMessage;
  /** Why it is paused: one each for the rate and for a place among the large ones. */
  #holds = 0;
  #isLarge = false;
  #isClosed = false;
  #leave: (() => void) | undefined;

  constructor(ports: ValvePorts, response: http.IncomingMessage) {
    this.#ports = ports;
    this.#response = response;
  }

  /** So much has come. Only what is large, or has no end, has to wait. */
  passed(bytes: number, mayWait: boolean): void {
    const { intake, onExcess } = this.#ports;
    const { pauseMs, sustained } = intake.take(bytes, performance.now());
    if (sustained) onExcess(tooFast(intake.bytesPerSecond));
    if (!mayWait || pauseMs === 0) return;
    this.#hold();
    setTimeout(() => this.#go(), pauseMs).unref();
  }

  /** The response is a large one: it is read on once there is a place for it. */
  awaitPlace(): void {
    if (this.#isLarge) return;
    this.#isLarge = true;
    this.#hold();
    void this.#ports.intake.enterLarge().then((leave) => {
      if (this.#isClosed) leave();
      else this.#leave = leave;
      this.#go();
    });
  }

  /** The response is not needed any more. */
  close(): void {
    this.#isClosed = true;
    this.#leave?.();
  }

  #hold(): void {
    this.#holds += 1;
    this.#response.pause();
  }

  #go(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#response.resume();
  }
}
