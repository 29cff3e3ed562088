/**
 * A command socket of HAProxy, of its newest worker or of its master: one connection at a time, as its backlog is small; commands go
 * in one line, by `;`. A command of its own that fails is an error, with HAProxy's sentence.
 *
 * The side of this process is closed with the command: a master ends a connection only then.
 */
import { connect } from "node:net";
import type { Clock } from "@lifeboat/base";

const TIMEOUT_MS = 5000;
/** The length of a line that HAProxy takes is bounded by its buffer of 16 KiB. */
const MAX_LINE = 8000;

export class RuntimeSocket {
  readonly #clock: Clock;
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, path: string) {
    this.#clock = clock;
    this.#path = path;
  }

  /** Carries one command out; answers what HAProxy prints. */
  ask(command: string): Promise<string> {
    const asked = this.#last.then(() => this.#send(command));
    this.#last = asked.catch(() => {
      // The next command has its own connection: an error of this one is its caller's alone.
    });
    return asked;
  }

  /** Carries out commands that print nothing when they succeed, in batches. */
  async tell(commands: readonly string[]): Promise<void> {
    for (let i = 0; i < commands.length;) {
      const batch: string[] = [];
      let length = 0;
      while (i < commands.length && length < MAX_LINE) {
        batch.push(commands[i] ?? "");
        length += batch.at(-1)?.length ?? 0;
        i += 1;
      }
      const answer = (await this.ask(batch.join(";"))).trim();
      if (answer !== "") throw new Error(`HAProxy answers: ${answer.slice(0, 300)}`);
    }
  }

  #send(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ path: this.#path });
      const chunks: Buffer[] = [];
      const cancel = this.#clock.after(TIMEOUT_MS, () =>
        socket.destroy(new Error("HAProxy's runtime socket does not answer")),
      );
      socket.on("data", (chunk) => chunks.push(chunk));
      socket.once("error", (error) => {
        cancel();
        reject(error);
      });
      socket.once("end", () => {
        cancel();
        resolve(Buffer.concat(chunks).toString("utf8"));
      });
      socket.end(`${line}\n`);
    });
  }
}
