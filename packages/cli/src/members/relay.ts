/**
 * The line between the agent of a simulated member and the control plane: a TCP relay on loopback that can be cut.
 *
 * 1. While it is cut, nothing passes and nothing is closed: bytes, ends and resets of one side do not reach the other, as over a
 *    network that loses every packet. A new connection is accepted by the kernel and gets no further.
 * 2. When it is whole again, connections whose other side still lives go on where they were; the others are closed.
 * 3. Where the control plane is, is asked for each connection: it may have moved.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface RelayTarget {
  readonly host: string;
  readonly port: number;
}

export interface Relay {
  readonly port: number;
  setCut(isCut: boolean): void;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";

/** Listens on the port, or on a free one where that is 0 or taken. */
export async function openRelay(
  port: number,
  target: () => RelayTarget | undefined,
): Promise<Relay> {
  const lines = new Set<Line>();
  let isCut = false;
  const server = createServer({ pauseOnConnect: true }, (client) => {
    const line = new Line(client, target, () => lines.delete(line));
    lines.add(line);
    line.setCut(isCut);
  });
  const bound = await listenNear(server, port);
  return {
    port: bound,
    setCut: (wanted) => {
      isCut = wanted;
      for (const line of lines) line.setCut(isCut);
    },
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const line of lines) line.destroy();
      await closed;
    },
  };
}

async function listenNear(server: Server, port: number): Promise<number> {
  try {
    return await listen(server, port);
  } catch (error) {
    if (port === 0) throw error;
    return listen(server, 0);
  }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, HOST);
  // Rejects with the error when that comes first.
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

/** One connection of the agent, and the one to the control plane that belongs to it. */
class Line {
  readonly #client: Socket;
  readonly #target: () => RelayTarget | undefined;
  readonly #over: () => void;
  #plane: Socket | undefined;
  #isCut = true;

  constructor(client: Socket, target: () => RelayTarget | undefined, over: () => void) {
    this.#client = client;
    this.#target = target;
    this.#over = over;
    this.#follow(client);
  }

  setCut(isCut: boolean): void {
    if (this.#isCut === isCut) return;
    this.#isCut = isCut;
    if (isCut) this.#hold();
    else this.#goOn();
  }

  destroy(): void {
    this.#client.destroy();
    this.#plane?.destroy();
    this.#over();
  }

  #hold(): void {
    for (const socket of [this.#client, this.#plane]) socket?.unpipe().pause();
  }

  #goOn(): void {
    if (this.#client.destroyed || this.#plane?.destroyed === true) return this.destroy();
    this.#plane ??= this.#dial();
    if (this.#plane === undefined) return this.destroy();
    this.#client.pipe(this.#plane);
    this.#plane.pipe(this.#client);
  }

  #dial(): Socket | undefined {
    const target = this.#target();
    if (target === undefined) return undefined;
    const plane = connect(target);
    this.#follow(plane);
    return plane;
  }

  /** The end of one side is the end of the other, unless the line is cut: then it is not known there. */
  #follow(socket: Socket): void {
    // What went wrong is told by `close`.
    socket.on("error", () => undefined);
    socket.once("close", (hadError) => {
      if (this.#isCut) return;
      const other = socket === this.#client ? this.#plane : this.#client;
      if (hadError || other === undefined) other?.destroy();
      else other.end();
      if (this.#client.destroyed && this.#plane?.destroyed !== false) this.#over();
    });
  }
}
