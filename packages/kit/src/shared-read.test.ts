import { drainPromises } from "@lifeboat/base/adapters";
import { expect, test } from "vitest";
import { SharedRead } from "./shared-read.ts";

interface Sent {
  readonly answer: (value: string) => void;
  readonly fail: (error: Error) => void;
}

function setUp() {
  const sent: Sent[] = [];
  const read = new SharedRead<string>(
    () => new Promise((resolve, reject) => sent.push({ answer: resolve, fail: reject })),
  );
  const { signal } = new AbortController();
  return { sent, read: () => read.read(signal) };
}

test("a caller alone is answered by its own read, each time", async () => {
  const { sent, read } = setUp();
  for (const value of ["a", "b"]) {
    const answer = read();
    sent.at(-1)?.answer(value);
    expect(await answer).toBe(value);
  }
  expect(sent).toHaveLength(2);
});

test("who comes while a read is under way is answered by the next, which begins later and is one for all", async () => {
  const { sent, read } = setUp();
  const first = read();
  const others = [read(), read(), read()];
  expect(sent).toHaveLength(1);
  sent[0]?.answer("before");
  expect(await first).toBe("before");
  await drainPromises();
  expect(sent).toHaveLength(2);
  const later = read();
  sent[1]?.answer("after");
  expect(await Promise.all(others)).toEqual(["after", "after", "after"]);
  await drainPromises();
  expect(sent).toHaveLength(3);
  sent[2]?.answer("last");
  expect(await later).toBe("last");
});

test("a read that fails, fails for those that waited for it and for no other", async () => {
  const { sent, read } = setUp();
  const first = read();
  const others = [read(), read()];
  sent[0]?.fail(new Error("lost"));
  await expect(first).rejects.toThrow("lost");
  await drainPromises();
  sent[1]?.fail(new Error("lost again"));
  for (const other of others) await expect(other).rejects.toThrow("lost again");
  await drainPromises();
  const next = read();
  sent[2]?.answer("there");
  expect(await next).toBe("there");
});
