/** What every engine for scripts does, whatever thread it runs them in. */
import type { Json } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { expect, it } from "vitest";
import {
  type ScriptEngine,
  ScriptFailed,
  type ScriptFailure,
} from "../context/scripts/script-engine.ts";

/** Monday, 2 January 2023, 03:04:05. */
const NOW = Date.UTC(2023, 0, 2, 3, 4, 5) as Instant;

/** The results of the function F of a script. */
export function resultsOf(
  engine: ScriptEngine,
  script: string,
  given: readonly Json[] = [],
  results = 1,
): Promise<readonly Json[]> {
  return engine.run({ script, function: "F", arguments: given, results, now: NOW });
}

/** How the function F of a script fails. */
export async function failureOf(
  engine: ScriptEngine,
  script: string,
  given: readonly Json[] = [],
): Promise<ScriptFailed> {
  const failure = await resultsOf(engine, script, given).then(
    (results) => new Error(`it answered ${JSON.stringify(results)}`),
    (error: unknown) => error,
  );
  if (failure instanceof ScriptFailed) return failure;
  throw failure;
}

const expression = (text: string): string => `function F(a, b) return ${text} end`;

/** Expressions of Lua 5.1, and what they are. */
const EXPRESSIONS: readonly (readonly [string, Json])[] = [
  ["1 + 1", 2],
  ["10 / 4", 2.5],
  ["10 / 5", 2],
  ["4 * 1024 * 1024 * 1024", 2 ** 32],
  ["2147483647 + 1", 2 ** 31],
  ["tonumber('2147483647') + tonumber('1')", 2 ** 31],
  ["'2147483647' + '1'", 2 ** 31],
  ["math.floor(2147483648.5) * 4", 2 ** 33],
  ["math.ceil(1.2)", 2],
  ["0xffffffff", 2 ** 32 - 1],
  ["-7 % 3", 2],
  ["2 ^ 10", 1024],
  ["-0", 0],
  ["tostring(3)", "3"],
  ["tostring(10 / 2)", "5"],
  ["3 .. ''", "3"],
  ["(10 / 2) .. '/' .. 2.5", "5/2.5"],
  ["tostring(9007199254740991)", "9007199254740991"],
  ["string.format('%d %s %5.2f %q', 3, 1, 1.005, 'x')", '3 1  1.00 "x"'],
  ["string.format('%d', 2 ^ 40)", "1099511627776"],
  ["string.format('%d', 2.5)", "2"],
  ["('abcdef'):sub(1, 2.7)", "ab"],
  ["('abc'):sub(1, 1e10)", "abc"],
  ["('abc'):sub(-1e10)", "abc"],
  ["('ab'):rep(2.5)", "abab"],
  ["pcall(string.rep, 'x', 0 / 0)", false],
  ["pcall(string.sub, 'x', 1 / 0)", false],
  ["pcall(unpack, {}, 1, 1e9)", false],
  ["pcall(table.concat, {}, '', 1, 1e15)", false],
  ["#table.concat({ 1, 2, 3 }, ',', 2)", 3],
  ["#'abc' + #{ 1, 2 }", 5],
  ["('abc'):upper():sub(2, 3)", "BC"],
  ["('a,b'):gsub(',', '%%') ", "a%b"],
  ["string.match('key=value', '(%w+)=')", "key"],
  ["select('#', unpack({ 1, 2, 3 }))", 3],
  ["table.getn({ 1, 2 })", 2],
  ["table.concat({ 1, 2, 'x' }, '-')", "1-2-x"],
  ["math.pow(2, 3)", 8],
  ["math.max(1, 3, 2)", 3],
  ["type(nil) .. type({}) .. type(1) .. type(print)", "niltablenumberfunction"],
  ["nil == false", false],
  ["pcall(error, 'x')", false],
  ["select(2, pcall(error, 'x'))", "x"],
  ["{ 1, 2, { a = 'b' } }", [1, 2, { a: "b" }]],
  ["{ [1] = 'a', [2] = 'b' }", ["a", "b"]],
  ["{ ['1'] = 'a' }", { "1": "a" }],
  ["{ a = {}, b = 1 }", { b: 1 }],
  ["{ a = { b = {} } }", { a: {} }],
  ["{}", {}],
  ["nil", null],
  ["'\\195\\169'", "é"],
  ["'\\255'", "\ufffd"],
  ["os.time()", NOW / 1000],
  ["os.time({ year = 2023, month = 1, day = 2, hour = 0 })", Date.UTC(2023, 0, 2) / 1000],
  ["os.date('!%Y-%m-%dT%H:%M:%SZ')", "2023-01-02T03:04:05Z"],
  ["os.date('%A %j', 0)", "Thursday 001"],
  ["os.date('*t').year", 2023],
  ["require('kube').getResourceQuantity('100m')", 0.1],
  ["require('kube').getResourceQuantity('2Gi')", 2 ** 31],
  ["require('kube').getResourceQuantity(nil)", 0],
  ["require('kube').resourceAdd('1', '500m', nil)", "1500m"],
  ["pcall(require('kube').resourceAdd, 'much')", false],
  ["pcall(require('kube').accuratePodRequirements, 1)", false],
];

/** What is not there, or refuses to be called. */
const OUT_OF_REACH = [
  "os.exit(1)",
  "os.execute('true')",
  "os.getenv('PATH')",
  "os.remove('x')",
  "io.open('/etc/passwd')",
  "io.write('x')",
  "debug.getinfo(1)",
  "debug.sethook()",
  "package.loadlib('x', 'y')",
  "require('os')",
  "require('fs')",
  "load('return 1')()",
  "loadstring('return 1')()",
  "loadfile('/etc/passwd')",
  "dofile('/etc/passwd')",
  "string.dump(F)",
  "coroutine.wrap(F)()",
  "setmetatable({}, { __index = F })",
  "getmetatable('').__index",
  "rawset({}, 1, 2)",
  "collectgarbage('count')",
  "math.random()",
  "fengari.version",
  "js.global",
];

/** Scripts that do harm, and what stops them where only instructions and texts are counted. */
const HOSTILE: readonly (readonly [string, string, readonly ScriptFailure[]])[] = [
  ["loops for ever", "function F() while true do end end", ["timeout"]],
  ["loops for ever while it is loaded", "while true do end", ["timeout"]],
  [
    "catches what stops it",
    "function F() while true do pcall(function() while true do end end) end end",
    ["timeout"],
  ],
  [
    "handles what stops it",
    "function F() while true do xpcall(function() while true do end end, function() while true do end end) end end",
    ["timeout"],
  ],
  ["repeats a text", "function F() return ('x'):rep(1e9) end", ["memory"]],
  ["repeats nothing", "function F() return (''):rep(1e15) end", ["memory"]],
  ["doubles a text", "function F() local s = 'x' while true do s = s .. s end end", ["memory"]],
  [
    "doubles a text after it has confused the meter",
    "function F() pcall(string.rep, 'x', 0 / 0) local s = 'x' while true do s = s .. s end end",
    ["memory"],
  ],
  [
    "replaces much by much",
    "function F() local s = ('x'):rep(1e4) return s:gsub('x', s) end",
    ["memory"],
  ],
  [
    "catches that it has no memory",
    "function F() while true do pcall(string.rep, 'x', 1e9) end end",
    ["memory", "timeout"],
  ],
  [
    "formats a wide text",
    "function F() local t = {} while true do t[#t + 1] = string.format('%99s', 'x') end end",
    ["memory", "timeout"],
  ],
  ["calls itself", "function F() return 1 + F() end", ["runtime"]],
  ["calls itself in a pattern", "function F() return ('x'):gsub('x', F) end", ["runtime"]],
  ["raises a table", "function F() error({}) end", ["runtime"]],
  ["raises nothing", "function F() error() end", ["runtime"]],
  ["raises much", "function F() error(('x'):rep(1e5)) end", ["runtime"]],
  ["gives a function", "function F() return F end", ["result"]],
  ["gives itself", "function F() local t = {} t[1] = t return t end", ["result"]],
  [
    "gives what only looks small",
    "function F() local t = {} for i = 1, 60 do t = { t, t } end return t end",
    ["result", "timeout", "memory"],
  ],
  ["gives holes", "function F() return { [1] = 1, [3] = 3 } end", ["result"]],
  ["gives a place far out", "function F() return { [1e15] = 1 } end", ["result"]],
  ["gives both kinds of keys", "function F() return { 1, a = 2 } end", ["result"]],
  ["gives a key that is none", "function F() return { [true] = 1 } end", ["result"]],
  ["gives infinity", "function F() return { a = 1 / 0 } end", ["result"]],
  ["gives what is no number", "function F() return 0 / 0 end", ["result"]],
  ["defines nothing", "x = 1", ["runtime"]],
  ["defines something else", "F = 1", ["runtime"]],
  ["is broken", "function F( return end", ["syntax"]],
  ["is not finished", "function F() return", ["syntax"]],
  ["is nested too deeply", `x = ${"(".repeat(5000)}`, ["syntax"]],
  ["is compiled", "\u001bLua", ["syntax"]],
  ["is huge", `-- ${"x".repeat(2 ** 20)}`, ["syntax"]],
];

/** The tests of an engine. */
export function testScriptEngine(engine: () => ScriptEngine): void {
  it("has the arithmetic, the texts and the tables of Lua 5.1", async () => {
    for (const [text, value] of EXPRESSIONS)
      expect(await resultsOf(engine(), expression(text)), text).toEqual([value]);
  });

  it.each(OUT_OF_REACH)("does not let a script call %s", async (call) => {
    expect((await failureOf(engine(), expression(call))).kind).toBe("runtime");
  });

  it.each(HOSTILE)("ends a script that %s", async (_, script, kinds) => {
    const failure = await failureOf(engine(), script);
    // Whatever counts first is as good: a thread has a clock, and other limits on memory.
    expect([...kinds, "timeout"]).toContain(failure.kind);
    expect(failure.message.length).toBeLessThan(600);
    expect(await resultsOf(engine(), expression("'well'"))).toEqual(["well"]);
  });

  it("names the line of an error", async () => {
    const script = "function F(o)\n  return o.spec.replicas\nend";
    expect(await failureOf(engine(), script, [{}])).toMatchObject({
      kind: "runtime",
      message: "luaScript:2: attempt to index a nil value (field 'spec')",
    });
  });

  it("keeps empty lists and empty objects apart", async () => {
    const given = { list: [], fields: {}, items: [{ list: [], fields: {} }], nulls: [1, null, 3] };
    expect(await resultsOf(engine(), expression("a"), [given])).toEqual([given]);
    const copied = `
      local function copy(v)
        if type(v) ~= 'table' then return v end
        local c = {}
        for k, x in pairs(v) do c[k] = copy(x) end
        return c
      end
      function F(o) o.nulls = nil; return copy(o) end`;
    const { nulls: _, ...rest } = given;
    expect(await resultsOf(engine(), copied, [given])).toEqual([rest]);
    const emptied = "function F(o) table.remove(o.l); o.f.x = nil; return o end";
    expect(await resultsOf(engine(), emptied, [{ l: [1], f: { x: 1 } }])).toEqual([
      { l: [], f: {} },
    ]);
  });

  it("goes through fields in the order in which they came", async () => {
    const script = `function F(o)
      local names = {}
      for name in pairs(o) do names[#names + 1] = name end
      return names
    end`;
    const given = { zebra: 1, ant: 2, "10": 3, mouse: 4 };
    expect(await resultsOf(engine(), script, [given])).toEqual([Object.keys(given)]);
  });

  it("gives null for results that a script does not have", async () => {
    expect(await resultsOf(engine(), expression("1"), [], 2)).toEqual([1, null]);
    expect(await resultsOf(engine(), expression("1, 2, 3"), [], 2)).toEqual([1, 2]);
  });

  it("shows no script what another one left behind", async () => {
    await resultsOf(
      engine(),
      `leftover = 1
       string.upper = nil
       type = nil
       table.concat = function() return 'stolen' end
       require('kube').resourceAdd = nil
       os.time = nil
       function F(o) o.leftover = 1 return 1 end`,
      [{}],
    );
    const script = expression(
      "{ tostring(leftover), ('x'):upper(), type(a), table.concat({ 'a' }), require('kube').resourceAdd('1'), tostring(a.leftover), os.time() }",
    );
    expect(await resultsOf(engine(), script, [{}])).toEqual([
      ["nil", "X", "table", "a", "1", "nil", NOW / 1000],
    ]);
  });

  it("takes names that mean something to JavaScript as any other", async () => {
    const given = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": "x"}') as Json;
    const [result] = await resultsOf(engine(), expression("a"), [given]);
    expect(JSON.stringify(result)).toBe(JSON.stringify(given));
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
    const made = await resultsOf(
      engine(),
      "function F() return { __proto__ = { polluted = 1 } } end",
    );
    expect(JSON.stringify(made)).toBe('[{"__proto__":{"polluted":1}}]');
  });

  it("reports what pods need and refer to", async () => {
    const template = {
      spec: {
        nodeSelector: { disk: "fast" },
        serviceAccountName: "runner",
        containers: [
          {
            resources: { requests: { cpu: "100m" }, limits: { memory: "1Gi" } },
            envFrom: [{ configMapRef: { name: "settings" } }],
          },
        ],
      },
    };
    const script = `local kube = require("kube")
      function F(t)
        return kube.accuratePodRequirements(t), kube.getPodDependencies(t, "shop"), kube.accuratePodRequirements({})
      end`;
    expect(await resultsOf(engine(), script, [template], 3)).toEqual([
      {
        nodeClaim: { nodeSelector: { disk: "fast" } },
        resourceRequest: { cpu: "100m", memory: "1Gi" },
      },
      [
        { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" },
        { apiVersion: "v1", kind: "ServiceAccount", namespace: "shop", name: "runner" },
      ],
      null,
    ]);
  });

  it("checks syntax without running anything", async () => {
    expect(await engine().check("while true do end")).toBeUndefined();
    expect(await engine().check("error('not run')")).toBeUndefined();
    expect(await engine().check("function F()\n  retrun 1\nend")).toMatch(/^luaScript:2: /);
    expect(await engine().check(`x = ${"{".repeat(10_000)}`)).toMatch(/^luaScript:1: /);
  });
}
