/** One question by datagram, and what came back. */
import { createSocket } from "node:dgram";
import { setTimeout as wait } from "node:timers/promises";

/** `edns`: the size that is offered; absent: none. */
export function question(name: string, type: number, edns?: number): Buffer {
  const labels = name.split(".").map((label) => Buffer.from(`\0${label}`));
  for (const label of labels) label[0] = label.length - 1;
  const header = Buffer.from([18, 52, 1, 0, 0, 1, 0, 0, 0, 0, 0, edns === undefined ? 0 : 1]);
  const tail = Buffer.from([0, type >> 8, type & 255, 0, 1]);
  const option =
    edns === undefined ? [] : [Buffer.from([0, 0, 41, edns >> 8, edns & 255, 0, 0, 0, 0, 0, 0])];
  return Buffer.concat([header, ...labels, tail, ...option]);
}

export interface Exchanged {
  readonly milliseconds: number;
  readonly bytes: number;
}

/** Undefined: no answer came within a second. */
export async function exchange(port: number, message: Buffer): Promise<Exchanged | undefined> {
  const socket = createSocket("udp4");
  const began = performance.now();
  const answered = new Promise<Exchanged>((resolve) => {
    socket.once("message", ({ length: bytes }) =>
      resolve({ milliseconds: performance.now() - began, bytes }),
    );
  });
  socket.send(message, port, "127.0.0.1");
  const found = await Promise.race([answered, wait(1000).then(() => undefined)]);
  socket.close();
  return found;
}
