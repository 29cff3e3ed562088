/**
 * exec and attach in simulated pods, over WebSocket (`v5.channel.k8s.io`).
 *
 * 1. Input is read no faster than output is taken, so a client that does not read costs a bounded amount of memory.
 * 2. The last message is how the command ended; then the connection is closed.
 * 3. What a client sends that is no WebSocket ends its own connection, and nothing else.
 */
import {
  type AnyObject,
  badRequest,
  failure,
  isJsonObject,
  type Json,
  pods,
  Refused,
} from "@lifeboat/api";
import type { AskedStream, PodStreams, TakenConnection } from "@lifeboat/apiserver";
import type { Client } from "@lifeboat/kit";
import {
  CHANNEL_PROTOCOL,
  channelMessage,
  CHANNELS,
  endStatus,
  NORMAL_CLOSURE,
  webSocketFrame,
  type WebSocketMessage,
  WebSocketReader,
} from "@lifeboat/kit/streams";
import { containerOf } from "./pod-logs.ts";
import { attachedProgram, type Output, type Place, type Program, programOf } from "./programs.ts";

const encoder = new TextEncoder();

/** Commands in the pods that this client sees. */
export function createPodStreams(client: () => Client): PodStreams {
  return {
    open: async (asked) => {
      const { namespace, pod: name } = asked;
      const pod: AnyObject = await client().get(pods, { namespace, name });
      const container = containerOf(pod, asked.container);
      if (phaseOf(pod) !== "Running")
        throw badRequest(`container ${container} of pod ${name} is not running: ${phaseOf(pod)}`);
      if (asked.kind === "portforward") throw notPlayed("simulated pods have no ports");
      if (asked.upgrade !== "websocket" || !asked.protocols.includes(CHANNEL_PROTOCOL))
        throw notPlayed(`simulated pods speak ${CHANNEL_PROTOCOL} over WebSocket alone`);
      const place = { pod: name, namespace, container, hasTty: asked.tty };
      return {
        status: 101,
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-protocol": CHANNEL_PROTOCOL,
        },
        body: {
          take: (connection) => void new Session(connection, asked, place).run(),
          drop: () => undefined,
        },
      };
    },
  };
}

function notPlayed(message: string): Refused {
  return new Refused(failure(400, "BadRequest", message));
}

function phaseOf(pod: AnyObject): string {
  const { status } = pod as unknown as { readonly status?: Json };
  const phase = status !== undefined && isJsonObject(status) ? status["phase"] : undefined;
  return typeof phase === "string" ? phase : "Unknown";
}

class Session {
  readonly #connection: TakenConnection;
  readonly #asked: AskedStream;
  readonly #program: Program;
  readonly #reader = new WebSocketReader("client");
  #isOver = false;
  #goOn: () => void = () => undefined;

  constructor(connection: TakenConnection, asked: AskedStream, place: Place) {
    this.#connection = connection;
    this.#asked = asked;
    this.#program =
      asked.kind === "attach" ? attachedProgram(place) : programOf(asked.command, place);
    connection.once("close", () => {
      this.#isOver = true;
      this.#goOn();
    });
  }

  async run(): Promise<void> {
    try {
      await this.#write(this.#program.start());
      // A command without input reads its end at once; what a client is attached to goes on.
      if (!this.#asked.stdin && this.#asked.kind === "exec")
        await this.#write(this.#program.inputEnded());
      // To its end also after the command's: leaving the loop would cut off what is still on its way out.
      for await (const chunk of this.#connection)
        for (const message of this.#isOver ? [] : this.#reader.push(chunk))
          await this.#read(message);
    } catch {
      // Bytes that are no WebSocket, or a connection that broke: nothing is left to answer.
      this.#connection.destroy();
    }
  }

  async #read(message: WebSocketMessage): Promise<void> {
    if (this.#isOver) return;
    switch (message.kind) {
      case "ping":
        return this.#send("pong", message.bytes);
      case "pong":
        return;
      case "close":
        await this.#send("close", NORMAL_CLOSURE);
        this.#end();
        return;
      case "data": {
        const [channel] = message.bytes;
        const bytes = message.bytes.subarray(1);
        if (!this.#asked.stdin) return;
        if (channel === CHANNELS.stdin) await this.#write(this.#program.input(bytes));
        if (channel === CHANNELS.close && bytes[0] === CHANNELS.stdin)
          await this.#write(this.#program.inputEnded());
      }
    }
  }

  async #write({ out, err, exit }: Output): Promise<void> {
    const { stdout, stderr, tty } = this.#asked;
    const written = typeof out === "string" ? encoder.encode(out) : out;
    if (stdout) await this.#channel(CHANNELS.stdout, written);
    // A terminal has one stream.
    if (tty ? stdout : stderr)
      await this.#channel(tty ? CHANNELS.stdout : CHANNELS.stderr, encoder.encode(err));
    if (exit === undefined || this.#isOver) return;
    await this.#channel(CHANNELS.error, endStatus({ kind: "exited", code: exit }));
    await this.#send("close", NORMAL_CLOSURE);
    this.#end();
  }

  async #channel(channel: number, bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#send("binary", channelMessage(channel, bytes));
  }

  async #send(kind: "binary" | "pong" | "close", payload: Uint8Array): Promise<void> {
    if (this.#isOver || this.#connection.write(webSocketFrame(kind, payload))) return;
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
      this.#connection.once("drain", resolve);
    });
  }

  #end(): void {
    this.#isOver = true;
    this.#connection.end();
  }
}
