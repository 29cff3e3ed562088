import { expect, it } from "vitest";
import { createRealClock } from "./real-clock.ts";
import { createRealIds } from "./real-ids.ts";

it("fires a real timer once, and a cancelled one never", async () => {
  const clock = createRealClock();
  const started = clock.monotonic();
  const cancel = clock.after(1, () => expect.unreachable());
  cancel();
  await new Promise<void>((resolve) => {
    clock.after(5, resolve);
  });
  expect(clock.monotonic() - started).toBeGreaterThanOrEqual(4);
});

it("keeps a timer longer than Node's limit waiting instead of firing at once", async () => {
  const clock = createRealClock();
  const cancel = clock.after(2 ** 40, () => expect.unreachable());
  await new Promise<void>((resolve) => {
    clock.after(5, resolve);
  });
  cancel();
});

it("makes distinct ids", () => {
  const ids = createRealIds();
  expect(ids.uid()).not.toBe(ids.uid());
  expect(ids.nameSuffix()).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});
