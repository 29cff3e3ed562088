/** The server's datagrams: one in, at most one out. */
import { createSocket, type Socket } from "node:dgram";
import { createReceive, type DatagramPorts } from "../datagrams.ts";

export interface UdpOptions extends DatagramPorts {
  readonly host: string;
  readonly port: number;
}

export interface UdpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Datagrams that wait in the kernel while the process is busy. */
const RECEIVE_BYTES = 4 * 1024 * 1024;

export async function serveUdp(options: UdpOptions): Promise<UdpServer> {
  const { host, port, log } = options;
  const socket = createSocket({
    type: host.includes(":") ? "udp6" : "udp4",
    recvBufferSize: RECEIVE_BYTES,
    // Senders are addresses: there is nothing to look up, and no turn of the loop to lose by it.
    lookup: (name, _options, done) => done(null, name, host.includes(":") ? 6 : 4),
  });
  socket.on("message", receiver(socket, options));
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(port, host, () => {
      socket.off("error", reject);
      resolve();
    });
  });
  socket.on("error", (error) => log.error("the socket for datagrams failed", { error }));
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

type OnMessage = (
  message: Buffer,
  from: { readonly address: string; readonly port: number },
) => void;

function receiver(socket: Socket, options: UdpOptions): OnMessage {
  const receive = createReceive(options);
  // A datagram that cannot be sent is lost like any other.
  const sent = (): void => undefined;
  return (message, { address, port }) => {
    // Port 0 cannot be sent to; port 53 of a forged sender would be another server.
    if (port === 0) return;
    const answer = receive(message, address, performance.now());
    if (answer !== undefined) socket.send(answer, 0, answer.length, port, address, sent);
  };
}
