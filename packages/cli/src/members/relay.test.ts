import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openRelay, type Relay, type RelayTarget } from "./relay.ts";

let plane: Server;
let target: RelayTarget | undefined;
let accepted: Socket[];
let relay: Relay;
const clients: Socket[] = [];

beforeEach(async () => {
  accepted = [];
  plane = createServer((socket) => {
    accepted.push(socket);
    socket.on("error", () => undefined);
    // An echo, so that one look tells of both directions.
    socket.pipe(socket);
  });
  plane.listen(0, "127.0.0.1");
  await once(plane, "listening");
  target = { host: "127.0.0.1", port: portOf(plane) };
  relay = await openRelay(0, () => target);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const socket of accepted) socket.destroy();
  await relay.close();
  plane.close();
});

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function dial(): Promise<{ readonly socket: Socket; readonly text: () => string }> {
  const socket = connect({ host: "127.0.0.1", port: relay.port });
  clients.push(socket);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return { socket, text: () => text };
}

/** Some turns of the event loop in which sockets would have moved what can move. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
}

it("passes bytes both ways", async () => {
  const { socket, text } = await dial();
  socket.write("hello");
  await once(socket, "data");
  expect(text()).toBe("hello");
});

it("when cut, loses nothing and tells nothing; whole again, goes on where it was", async () => {
  const { socket, text } = await dial();
  socket.write("a");
  await once(socket, "data");
  relay.setCut(true);
  socket.write("b");
  await settle();
  expect(text()).toBe("a");
  expect(socket.destroyed).toBe(false);
  relay.setCut(false);
  await once(socket, "data");
  expect(text()).toBe("ab");
});

it("when cut, takes a new connection and leaves it without an answer until it is whole", async () => {
  relay.setCut(true);
  const { socket, text } = await dial();
  socket.write("hello");
  await settle();
  expect(text()).toBe("");
  expect(accepted).toEqual([]);
  relay.setCut(false);
  await once(socket, "data");
  expect(text()).toBe("hello");
});

it("when cut, hides that the other side is gone; whole again, closes", async () => {
  const { socket } = await dial();
  socket.write("a");
  await once(socket, "data");
  relay.setCut(true);
  accepted[0]?.resetAndDestroy();
  await settle();
  expect(socket.destroyed).toBe(false);
  relay.setCut(false);
  await once(socket, "close");
});

it("closes a connection when the control plane closes it, or is not there", async () => {
  const first = await dial();
  first.socket.write("a");
  await once(first.socket, "data");
  accepted[0]?.end();
  await once(first.socket, "close");
  target = undefined;
  const second = await dial();
  if (!second.socket.closed) await once(second.socket, "close");
  target = { host: "127.0.0.1", port: 1 };
  const third = await dial();
  if (!third.socket.closed) await once(third.socket, "close");
});

it("asks for each connection where the control plane is", async () => {
  const moved = createServer((socket) => socket.end("moved"));
  moved.listen(0, "127.0.0.1");
  await once(moved, "listening");
  target = { host: "127.0.0.1", port: portOf(moved) };
  const { socket, text } = await dial();
  await once(socket, "close");
  expect(text()).toBe("moved");
  moved.close();
});

it("takes a free port where the wanted one is taken", async () => {
  const other = await openRelay(relay.port, () => target);
  expect(other.port).not.toBe(relay.port);
  await other.close();
});
