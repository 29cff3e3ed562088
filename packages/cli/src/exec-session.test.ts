/** A session against the exec of a simulated pod, on a pair of streams: the real end of both sides, without a socket. */
import { Duplex, PassThrough, Readable, Writable } from "node:stream";
import { deepFreeze } from "@lifeboat/base";
import type { AskedStream } from "@lifeboat/apiserver";
import type { Client } from "@lifeboat/kit";
import { channelMessage, CHANNELS, webSocketFrame } from "@lifeboat/kit/streams";
import { createPodStreams } from "@lifeboat/plane";
import { describe, expect, it } from "vitest";
import { runExecSession } from "./exec-session.ts";

const POD = deepFreeze({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: { containers: [{ name: "web", image: "x" }] },
  status: { phase: "Running" },
});

const asked = (command: readonly string[], stdin = false): AskedStream => ({
  kind: "exec",
  namespace: "default",
  pod: "web",
  container: "",
  command,
  stdin,
  stdout: true,
  stderr: true,
  tty: false,
  upgrade: "websocket",
  protocols: ["v5.channel.k8s.io"],
});

/** Two ends of one connection. */
function connectionPair(): readonly [Duplex, Duplex] {
  const there = new PassThrough();
  const back = new PassThrough();
  const one = Duplex.from({ writable: there, readable: back });
  const other = Duplex.from({ writable: back, readable: there });
  return [one, other];
}

function collector(): { readonly stream: Writable; text(): Buffer } {
  const chunks: Buffer[] = [];
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    chunks.push(Buffer.from(chunk));
    setImmediate(done);
  };
  return {
    stream: new Writable({ write, highWaterMark: 1024 }),
    text: () => Buffer.concat(chunks),
  };
}

async function run(stream: AskedStream, input?: Readable) {
  const streams = createPodStreams(() => ({ get: async () => POD }) as unknown as Client);
  const { status, body } = await streams.open(stream);
  expect(status).toBe(101);
  const [ours, theirs] = connectionPair();
  if (!("take" in body)) throw new Error("no connection was taken over");
  body.take(theirs);
  const output = collector();
  const errors = collector();
  const session = runExecSession(ours, { input, output: output.stream, errors: errors.stream });
  const end = await session.ended;
  return { end, out: output.text(), err: errors.text().toString() };
}

describe("exec", () => {
  it("shows what a command writes, and its exit code", async () => {
    expect((await run(asked(["echo", "hello"]))).out.toString()).toBe("hello\n");
    const { end, err } = await run(asked(["reboot"]));
    expect(end).toEqual({ kind: "exited", code: 127 });
    expect(err).toMatch(/^reboot: not found/);
  });

  it("passes input on, larger than every buffer between, and its end", async () => {
    const bytes = Buffer.alloc(2_000_000, "lifeboat ");
    const { end, out } = await run(asked(["cat"], true), Readable.from([bytes]));
    expect(end).toEqual({ kind: "exited", code: 0 });
    expect(out.equals(bytes)).toBe(true);
  });

  it.each([
    ["ends without a Status", (to: Duplex) => void to.end()],
    [
      "is closed without a Status",
      (to: Duplex) => void to.end(webSocketFrame("close", new Uint8Array(0))),
    ],
    ["sends bytes that are no WebSocket", (to: Duplex) => void to.write("HTTP/1.1 200 OK")],
    ["is cut off", (to: Duplex) => void to.destroy(new Error("reset"))],
  ])("is a failure when the connection %s", async (_what, act) => {
    const [ours, theirs] = connectionPair();
    theirs.on("error", () => undefined);
    const { ended } = runExecSession(ours, {
      output: collector().stream,
      errors: collector().stream,
    });
    theirs.write(webSocketFrame("binary", channelMessage(CHANNELS.stdout, Buffer.from("half"))));
    act(theirs);
    await expect(ended).rejects.toThrow(/the session broke off/);
  });
});

describe("the exec of a simulated pod", () => {
  it.each([
    ["SPDY", { upgrade: "spdy/3.1" }, /WebSocket alone/],
    ["another subprotocol", { protocols: ["v1.channel.k8s.io"] }, /WebSocket alone/],
    ["a port", { kind: "portforward" }, /no ports/],
    ["another container", { container: "sidecar" }, /not valid for pod web/],
  ] as const)("refuses %s with a sentence", async (_what, change, message) => {
    const streams = createPodStreams(() => ({ get: async () => POD }) as unknown as Client);
    await expect(streams.open({ ...asked(["true"]), ...change })).rejects.toThrow(message);
  });

  it("refuses a pod that does not run", async () => {
    const pending = { ...POD, status: { phase: "Pending" } };
    const streams = createPodStreams(() => ({ get: async () => pending }) as unknown as Client);
    await expect(streams.open(asked(["true"]))).rejects.toThrow(/not running: Pending/);
  });
});
