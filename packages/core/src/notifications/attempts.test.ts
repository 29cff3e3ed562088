/** What becomes of a notice after an attempt. */
import { addMs, instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { type Answer, answerText, type Delivery, outcomeOf, withDelivery } from "./attempts.ts";
import { testNotice } from "./notice.ts";
import { formatStored, readStored } from "./stored.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1, 12));
const DAY = addMs(NOW, 24 * 60 * 60 * 1000);
const code = (status: number, text = ""): Answer => ({ kind: "answered", code: status, text });
const LOST: Answer = { kind: "failed", message: "connect ECONNREFUSED" };

it.each([
  [code(200), 1, NOW, "Delivered"],
  [code(204), 1, NOW, "Delivered"],
  [code(302), 1, NOW, "Retry"],
  // The body is at fault: the receiver may have been wrong twice.
  [code(400), 2, NOW, "Retry"],
  [code(400), 3, NOW, "Rejected"],
  [code(422), 3, NOW, "Rejected"],
  // The next notice would meet the same: it is kept until an operator has mended that.
  [code(401), 50, NOW, "Retry"],
  [code(404), 50, NOW, "Retry"],
  [code(429), 50, NOW, "Retry"],
  [code(503), 50, NOW, "Retry"],
  [LOST, 50, NOW, "Retry"],
  [LOST, 300, DAY, "Expired"],
  [code(503), 300, DAY, "Expired"],
  [code(200), 300, DAY, "Delivered"],
] as const)("%o at attempt %i", (answer, attempts, now, outcome) => {
  expect(outcomeOf(answer, attempts, NOW, now)).toBe(outcome);
});

it("an answer is told in the receiver's words", () => {
  expect(answerText(code(404, "no_service"))).toBe("HTTP 404: no_service");
  expect(answerText(code(503))).toBe("HTTP 503");
  expect(answerText(code(200, "ok"))).toBe("");
  expect(answerText(LOST)).toBe("connect ECONNREFUSED");
});

it("the log holds a line per notice, is bounded, and is read back as it was", () => {
  let log: readonly Delivery[] = [];
  for (let i = 0; i < 60; i++) {
    const notice = { ...testNotice(NOW), id: `n${i}`, summary: "x".repeat(1000) };
    log = withDelivery(log, notice, { at: NOW, outcome: "Retry", attempts: 1, message: "a" });
    log = withDelivery(log, notice, { at: NOW, outcome: "Delivered", attempts: 2, message: "" });
  }
  expect(log).toHaveLength(50);
  expect(log.at(-1)).toMatchObject({ id: "n59", outcome: "Delivered", attempts: 2 });
  const stored = formatStored(
    { number: 7, open: { "cluster a": { since: NOW, summary: "s" } } },
    log,
  );
  expect(JSON.stringify(stored).length).toBeLessThan(50_000);
  expect(readStored(stored)).toEqual({
    record: { number: 7, open: { "cluster a": { since: NOW, summary: "s" } } },
    deliveries: log,
  });
});

it.each([
  undefined,
  {},
  { record: "x" },
  { record: "[]", deliveries: "{}" },
  { deliveries: "[1]" },
])("what cannot be read is absent: %o", (data) => {
  expect(readStored(data)).toEqual({ record: undefined, deliveries: [] });
});
