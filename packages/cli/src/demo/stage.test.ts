import { instantOf, VirtualClock } from "@lifeboat/base";
import { expect, it } from "vitest";
import { Stage } from "./stage.ts";

function stage(isTerminal: boolean): { readonly stage: Stage; readonly text: () => string } {
  let written = "";
  const clock = new VirtualClock(instantOf(0), () => Promise.resolve());
  const screen = { isTerminal, write: (text: string): void => void (written += text) };
  return { stage: new Stage(clock, screen), text: () => written };
}

it("tells what happened with its time, and draws nothing where there is no terminal", () => {
  const { stage: one, text } = stage(false);
  one.draw(["a table"]);
  one.happened("the cluster dies");
  expect(text()).toBe("   0.0 s  the cluster dies\n");
  expect(one.timeline).toEqual([{ atMs: 0, text: "the cluster dies" }]);
});

it("puts what happens above the table, which is drawn anew only when it changed", () => {
  const { stage: one, text } = stage(true);
  one.draw(["a", "b"]);
  const before = text();
  one.draw(["a", "b"]);
  expect(text()).toBe(before);
  one.happened("x");
  const erased = "\u001b[A\r\u001b[2K".repeat(3);
  expect(text()).toBe(`\na\nb\n${erased}   0.0 s  x\n\na\nb\n`);
  one.clear();
  expect(text().endsWith(erased)).toBe(true);
});

it("forgets what happened when the clock starts again", () => {
  const { stage: one } = stage(false);
  one.happened("before");
  one.restartClock();
  one.happened("after");
  expect(one.timeline.map(({ text }) => text)).toEqual(["after"]);
});
