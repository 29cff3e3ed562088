import { expect, test, vi } from "vitest";
import { GatheredWrites } from "./gathered-writes.ts";

function connection() {
  const sent: string[] = [];
  const state = { hasRoom: true };
  const writes = new GatheredWrites((chunk) => {
    sent.push(Buffer.from(chunk).toString());
    return state.hasRoom;
  });
  const write = (text: string): boolean => writes.write(Buffer.from(text));
  return { sent, state, writes, write };
}

test("the first write goes out at once, those of the next moment together", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const { sent, write } = connection();
    write("a");
    expect(sent).toEqual(["a"]);
    write("b");
    write("c");
    expect(sent).toEqual(["a"]);
    vi.advanceTimersByTime(10);
    expect(sent).toEqual(["a", "bc"]);
    vi.advanceTimersByTime(10);
    write("d");
    expect(sent).toEqual(["a", "bc", "d"]);
  } finally {
    vi.useRealTimers();
  }
});

test("many bytes do not wait", () => {
  const { sent, write } = connection();
  write("a");
  write("b");
  write("c".repeat(256 * 1024));
  expect(sent.map((text) => text.length)).toEqual([1, 256 * 1024 + 1]);
});

test("a connection that takes no more is told of nothing until it does, and then of everything", () => {
  const { sent, state, writes, write } = connection();
  state.hasRoom = false;
  expect(write("a")).toBe(false);
  expect(write("b")).toBe(false);
  expect(write("c")).toBe(false);
  expect(sent).toEqual(["a"]);
  expect(writes.drained()).toBe(false);
  expect(sent).toEqual(["a", "bc"]);
  state.hasRoom = true;
  write("d");
  expect(writes.drained()).toBe(true);
  expect(sent).toEqual(["a", "bc", "d"]);
});

test("what waits goes out when the stream ends, and is dropped when its reader is gone", () => {
  const { sent, writes, write } = connection();
  write("a");
  write("b");
  writes.flush();
  expect(sent).toEqual(["a", "b"]);
  write("c");
  writes.stop();
  writes.flush();
  expect(sent).toEqual(["a", "b"]);
});
