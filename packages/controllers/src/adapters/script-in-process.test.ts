import { describe, expect, it } from "vitest";
import { createInProcessScriptEngine } from "./script-in-process.ts";
import { failureOf, testScriptEngine } from "./script-engine.suite.ts";

describe("scripts in process", () => {
  const engine = createInProcessScriptEngine({ instructions: 200_000, textBytes: 2 * 1024 * 1024 });
  testScriptEngine(() => engine);

  it("stop at the same instruction every time", async () => {
    const short = createInProcessScriptEngine({ instructions: 10_000 });
    const script = "function F() while true do end end";
    const expected = { kind: "timeout", message: "the script took more than 10000 instructions" };
    expect(await failureOf(short, script)).toMatchObject(expected);
    expect(await failureOf(short, script)).toMatchObject(expected);
  });
});
