/** The store's child process as a killable plane. The next child is started ahead, because starting Node takes longest. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { bundleChild } from "../durability/bundle-child.ts";
import type { ListedItem, SeenEvent } from "./history-checker.ts";
import type { KillablePlane, StartPlane } from "./plane.ts";

interface Message {
  readonly id: number;
  readonly answer?: unknown;
  readonly refused?: string;
  readonly event?: SeenEvent;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

export function storePlanes(directory: string): { start: StartPlane; dispose(): void } {
  const script = bundleChild(new URL("store-child.ts", import.meta.url));
  let next = spawnChild(script);
  return {
    start: async () => {
      const plane = new StorePlane(next);
      next = spawnChild(script);
      await plane.open(directory);
      return plane;
    },
    dispose: () => void next.kill("SIGKILL"),
  };
}

function spawnChild(script: string): Child {
  return spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
}

class StorePlane implements KillablePlane {
  readonly #child: Child;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #sinks = new Map<number, (event: SeenEvent) => void>();
  readonly #gone: Promise<unknown>;
  #calls = 0;

  constructor(child: Child) {
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => this.#hear(line));
    this.#gone = Promise.all([once(lines, "close"), once(child, "exit")]);
    // Writing to a child that was just killed fails; the writes are in doubt, which is the point.
    child.stdin.on("error", () => undefined);
  }

  async open(directory: string): Promise<void> {
    const { refused } = await this.#call({ do: "open", directory });
    if (refused !== undefined) throw new Error(`the child cannot open its store: ${refused}`);
  }

  async put(key: string, value: string): Promise<number | "refused"> {
    const { answer, refused } = await this.#call({ do: "put", key, value });
    return refused === undefined ? (answer as number) : "refused";
  }

  async remove(key: string): Promise<"done" | "refused"> {
    const { refused } = await this.#call({ do: "remove", key });
    return refused === undefined ? "done" : "refused";
  }

  async list(prefix: string): Promise<{ revision: number; items: readonly ListedItem[] }> {
    const { answer } = await this.#call({ do: "list", prefix });
    return answer as { revision: number; items: readonly ListedItem[] };
  }

  async watch(prefix: string, from: number, sink: (event: SeenEvent) => void): Promise<void> {
    this.#sinks.set(this.#calls, sink);
    const { refused } = await this.#call({ do: "watch", prefix, from });
    if (refused !== undefined) throw new Error(`a watch from ${from} was refused: ${refused}`);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#gone;
  }

  #call(command: Record<string, unknown>): Promise<Message> {
    const id = this.#calls++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    });
  }

  /** A line that the kill cut short was not received. */
  #hear(line: string): void {
    if (!line.endsWith("}")) return;
    const message = parse(line);
    if (message === undefined) return;
    if (message.event !== undefined) return this.#sinks.get(message.id)?.(message.event);
    this.#waiting.get(message.id)?.(message);
    this.#waiting.delete(message.id);
    return undefined;
  }
}

function parse(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}
