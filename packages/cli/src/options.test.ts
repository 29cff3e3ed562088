import { describe, expect, it } from "vitest";
import { UsageError } from "./failure.ts";
import { describeOption, type OptionDefinition, resolveOptions } from "./options.ts";

const table: readonly OptionDefinition[] = [
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    default: "/data",
    help: "Where everything is kept",
  },
  { name: "members", type: "integer", value: "N", min: 0, max: 9, help: "Simulated members" },
  { name: "window", type: "duration", value: "TIME", default: "30s", min: 1, help: "How long" },
  { name: "quiet", type: "switch", default: "false", help: "Say less" },
  { name: "yes", type: "switch", commandLineOnly: true, help: "Do not ask" },
  { name: "mode", type: "text", commandLineOnly: true, default: "down", help: "What goes wrong" },
  { name: "dry-run", type: "switch", commandLineOnly: true, narrows: true, help: "Do nothing" },
];

const none = { flags: {}, environment: {}, file: {} };

describe("resolveOptions", () => {
  it("takes a flag before the environment before the file before the default", () => {
    const file = { "data-dir": "/file" };
    const environment = { LIFEBOAT_DATA_DIR: "/env" };
    const flags = { "data-dir": "/flag" };
    expect(resolveOptions(table, { flags, environment, file }).get("data-dir")).toBe("/flag");
    expect(resolveOptions(table, { ...none, environment, file }).get("data-dir")).toBe("/env");
    expect(resolveOptions(table, { ...none, file }).get("data-dir")).toBe("/file");
    expect(resolveOptions(table, none).get("data-dir")).toBe("/data");
  });

  it("17.16: takes a person's word from the command line alone", () => {
    const environment = { LIFEBOAT_YES: "true", LIFEBOAT_MODE: "errors" };
    expect(resolveOptions(table, { ...none, environment }).get("mode")).toBe("down");
    expect(resolveOptions(table, { ...none, environment }).has("yes")).toBe(false);
    expect(resolveOptions(table, { ...none, flags: { yes: true } }).get("yes")).toBe(true);
    expect(() => resolveOptions(table, { ...none, file: { yes: true } })).toThrow(
      '"yes": --yes counts on the command line only',
    );
    expect(table.map(describeOption)[4]).toBe("Do not ask");
  });

  it("17.16: refuses a variable for what makes the call do less, unless the call has it", () => {
    const environment = { LIFEBOAT_DRY_RUN: "true" };
    expect(() => resolveOptions(table, { ...none, environment })).toThrow(
      "LIFEBOAT_DRY_RUN is set: --dry-run counts on the command line only",
    );
    const flags = { "dry-run": true };
    expect(resolveOptions(table, { ...none, environment, flags }).get("dry-run")).toBe(true);
    const off = { LIFEBOAT_DRY_RUN: "false" };
    expect(resolveOptions(table, { ...none, environment: off }).has("dry-run")).toBe(false);
  });

  it("leaves an option without value and default out", () => {
    expect(resolveOptions(table, none).has("members")).toBe(false);
  });

  it("reads durations, numbers and switches in all their spellings", () => {
    const file = { members: 3, window: "1m", quiet: true };
    const resolved = resolveOptions(table, { ...none, file });
    expect([...resolved]).toEqual([
      ["data-dir", "/data"],
      ["members", 3],
      ["window", 60_000],
      ["quiet", true],
      ["mode", "down"],
    ]);
  });

  it.each([
    [
      "a number out of range",
      { flags: { members: "10" } },
      '--members: "10" is not valid: it must be at most 9',
    ],
    [
      "a text for a number",
      { environment: { LIFEBOAT_MEMBERS: "x" } },
      'LIFEBOAT_MEMBERS: "x" is not valid: a whole number is needed',
    ],
    ["a duration without unit", { flags: { window: "30" } }, "a duration such as 30s is needed"],
    ["an empty text", { flags: { "data-dir": "" } }, "a text is needed"],
    ["an unknown key in the file", { file: { "dta-dir": "x" } }, 'unknown key "dta-dir"'],
    ["an object where a number belongs", { file: { members: {} } }, "a whole number is needed"],
  ])("refuses %s, naming where it came from", (_name, sources, message) => {
    const resolve = (): unknown => resolveOptions(table, { ...none, ...sources });
    expect(resolve).toThrow(UsageError);
    expect(resolve).toThrow(message);
  });

  it("describes an option with range, default and variable", () => {
    expect(table.map(describeOption)[2]).toBe(
      "How long (at least 1ms) [default: 30s] [env: LIFEBOAT_WINDOW]",
    );
  });
});
