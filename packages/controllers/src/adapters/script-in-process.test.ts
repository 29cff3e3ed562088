import { describe, expect, it } from "vitest";
import { createInProcessScriptEngine } from "./script-in-process.ts";
import * as runtime from "./script-lua-runtime.ts";
import { failureOf, testScriptEngine } from "./script-engine.suite.ts";

describe("scripts in process", () => {
  const engine = createInProcessScriptEngine({ instructions: 200_000, textBytes: 2 * 1024 * 1024 });
  testScriptEngine(() => engine);

  it("are metered in every machine of the process, not in the one that was loaded last", async () => {
    // The query makes it another copy of the module, as that of another package version would be.
    const path = "./script-lua-runtime.ts?another-copy";
    const another = (await import(path)) as typeof runtime;
    for (const machine of [another.luaMachine(), runtime.luaMachine()]) {
      const { auxiliary, lua } = machine;
      const meter = { stopped: undefined, textBytes: 10_000, instructions: 0 };
      const state = auxiliary.luaL_newstate();
      machine.metered(meter, () => lua.lua_pushstring(state, runtime.bytesOf("x".repeat(5_000))));
      expect(meter.textBytes).toBeLessThanOrEqual(5_000);
    }
  });

  it("stop at the same instruction every time", async () => {
    const short = createInProcessScriptEngine({ instructions: 10_000 });
    const script = "function F() while true do end end";
    const expected = { kind: "timeout", message: "the script took more than 10000 instructions" };
    expect(await failureOf(short, script)).toMatchObject(expected);
    expect(await failureOf(short, script)).toMatchObject(expected);
  });
});
