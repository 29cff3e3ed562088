/** The log on a terminal: the story first, and nothing that a terminal would obey. */
import { expect, test } from "vitest";
import { humanLine } from "./human-log.ts";

const time = Date.UTC(2026, 0, 1, 12, 0, 5);

test.each([
  [
    {
      level: "warn",
      time,
      msg: "history",
      action: "NotReady",
      cluster: "m1",
      text: "m1 failed: x",
    },
    "12:00:05  m1 failed: x\n",
  ],
  [
    { level: "warn", time, msg: "trying again", cluster: "m1", error: { message: "no route" } },
    "12:00:05  trying again (cluster=m1, error=no route)\n",
  ],
  [{ level: "error", time, msg: "it broke", count: 3 }, "12:00:05  error: it broke (count=3)\n"],
  [{ level: "warn", time, msg: "a\u001b[2J" }, "12:00:05  a [2J\n"],
])("%j is %j", (entry, expected) => {
  expect(humanLine(JSON.stringify(entry))).toBe(expected);
});

test("what is no JSON is written as it is", () => {
  expect(humanLine("oops")).toBe("oops");
});
