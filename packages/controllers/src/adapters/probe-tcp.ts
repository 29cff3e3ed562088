/**
 * A probe that opens a TCP connection and closes it: a server that accepts is there. Nothing is sent, so any protocol can be probed.
 */
import { connect } from "node:net";

export interface TcpTarget {
  readonly host: string;
  readonly port: number;
}

/** Each detection is a connection of its own; the signal ends one that is not accepted. */
export function tcpProbe({ host, port }: TcpTarget) {
  return (signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ host, port });
      const end = (success: boolean) => (): void => {
        signal.removeEventListener("abort", abort);
        socket.destroy();
        resolve(success);
      };
      const abort = end(false);
      socket.once("connect", end(true));
      socket.on("error", end(false));
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
    });
}
