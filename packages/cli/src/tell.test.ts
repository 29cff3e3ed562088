import { afterEach, expect, it, vi } from "vitest";
import { tell } from "./tell.ts";

const { isTTY } = process.stderr;
afterEach(() => {
  process.stderr.isTTY = isTTY;
  vi.restoreAllMocks();
});

function told(isTerminal: boolean): string {
  let said = "";
  process.stderr.isTTY = isTerminal;
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += String(text);
    return true;
  });
  tell(`${"word ".repeat(20)}\u001b[2Jend\n  of it`);
  return said;
}

it("fits a terminal, and is one line for a log", () => {
  expect(told(true)).toBe(
    `lifeboat: ${"word ".repeat(14).trim()}\n          ${"word ".repeat(6)} [2Jend\n  of it\n`,
  );
  expect(told(false)).toBe(`lifeboat: ${"word ".repeat(20)} [2Jend\n  of it\n`);
});
