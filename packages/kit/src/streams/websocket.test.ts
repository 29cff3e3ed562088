import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHANNELS, channelMessage, endStatus, readEndStatus } from "./channels.ts";
import { webSocketFrame, WebSocketProblem, WebSocketReader } from "./websocket.ts";

const MASK = new Uint8Array([1, 2, 3, 250]);

describe("WebSocket frames", () => {
  it("arrive as they were sent, masked or not, in whatever pieces", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 50 }),
        (payloads, isMasked, piece) => {
          const frames = payloads.map((bytes) =>
            webSocketFrame("binary", bytes, isMasked ? MASK : undefined),
          );
          const all = Buffer.concat(frames);
          const reader = new WebSocketReader(isMasked ? "client" : "server");
          const read: Uint8Array[] = [];
          for (let at = 0; at < all.length; at += piece)
            for (const message of reader.push(all.subarray(at, at + piece)))
              if (message.kind === "data") read.push(message.bytes);
          expect(read.map((one) => [...one])).toEqual(payloads.map((one) => [...one]));
        },
      ),
    );
  });

  it.each([0, 125, 126, 65_535, 65_536, 1_000_000])("has room for %i bytes", (length) => {
    const payload = new Uint8Array(length).fill(7);
    const [message] = new WebSocketReader("server").push(webSocketFrame("binary", payload));
    expect(message?.kind === "data" && Buffer.compare(message.bytes, payload)).toBe(0);
  });

  it("puts fragments together and reads control frames between them", () => {
    const reader = new WebSocketReader("server");
    const first = webSocketFrame("binary", new Uint8Array([1]));
    first[0] = 0x02;
    const last = webSocketFrame("binary", new Uint8Array([2]));
    last[0] = 0x80;
    const ping = webSocketFrame("ping", new Uint8Array([9]));
    expect(reader.push(Buffer.concat([first, ping, last]))).toEqual([
      { kind: "ping", bytes: new Uint8Array([9]) },
      { kind: "data", bytes: new Uint8Array([1, 2]) },
    ]);
    const ends = Buffer.concat([
      webSocketFrame("pong", new Uint8Array(0)),
      webSocketFrame("close", new Uint8Array(0)),
    ]);
    expect(reader.push(ends).map(({ kind }) => kind)).toEqual(["pong", "close"]);
  });

  it.each([
    ["an extension", [0xc2, 0x80, 0, 0, 0, 0]],
    ["an unmasked frame of a client", [0x82, 0x00]],
    ["a huge length", [0x82, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["a control frame in fragments", [0x09, 0x80, 0, 0, 0, 0]],
    ["a long control frame", [0x89, 0xfe, 0, 200, 0, 0, 0, 0]],
    ["a continuation of nothing", [0x80, 0x80, 0, 0, 0, 0]],
    ["an unknown opcode", [0x83, 0x80, 0, 0, 0, 0]],
    ["a message within a message", [0x02, 0x80, 0, 0, 0, 0, 0x82, 0x80, 0, 0, 0, 0]],
  ])("refuses %s", (_what, bytes) => {
    expect(() => new WebSocketReader("client").push(new Uint8Array(bytes))).toThrow(
      WebSocketProblem,
    );
  });
});

describe("channels", () => {
  it("begin each message with their number", () => {
    expect([...channelMessage(CHANNELS.stdout, new Uint8Array([5]))]).toEqual([1, 5]);
  });

  it.each([
    [{ kind: "exited", code: 0 }],
    [{ kind: "exited", code: 42 }],
    [{ kind: "failed", message: "no such container" }],
  ] as const)("report the end %o", (end) => {
    expect(readEndStatus(endStatus(end))).toEqual(end);
  });

  it.each([
    ["not JSON", { kind: "failed", message: "not JSON" }],
    ["[]", { kind: "failed", message: "[]" }],
    [
      '{"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"999"}]}}',
      { kind: "failed" },
    ],
    ['{"status":"Failure","message":"gone"}', { kind: "failed", message: "gone" }],
  ])("read %s", (text, end) => {
    expect(readEndStatus(new TextEncoder().encode(text))).toMatchObject(end);
  });
});
