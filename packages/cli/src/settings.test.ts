/** From a command line to settings, through the real parser. */
import { Command } from "commander";
import { expect, it } from "vitest";
import type { OptionDefinition } from "./options.ts";
import { declareOptions, readSettings, type Settings } from "./settings.ts";

const table: readonly OptionDefinition[] = [
  { name: "no-execute-mode", type: "text", value: "MODE", default: "Gracefully", help: "How" },
  { name: "rate", short: "r", type: "number", value: "N", default: "0.5", help: "How fast" },
  { name: "dry-run", type: "switch", help: "Change nothing" },
  { name: "enable-old", type: "text", help: "Nothing", retired: true },
];

function settings(...args: string[]): Settings {
  const command = declareOptions(new Command("x").exitOverride(), table);
  command.parse(args, { from: "user" });
  return readSettings(command, table);
}

it("takes defaults where nothing is said", () => {
  expect(settings().text("no-execute-mode")).toBe("Gracefully");
  expect(settings().number("rate")).toBe(0.5);
  expect(settings().isOn("dry-run")).toBe(false);
  expect(settings().text("enable-old")).toBeUndefined();
});

it("takes a flag whose name begins with no-, which is no negation", () => {
  expect(settings("--no-execute-mode", "Directly").text("no-execute-mode")).toBe("Directly");
  expect(settings("--no-execute-mode=Directly").text("no-execute-mode")).toBe("Directly");
});

it("takes switches, short flags, and retired flags with any value or none", () => {
  const given = settings("--dry-run", "-r", "2", "--enable-old");
  expect(given.isOn("dry-run")).toBe(true);
  expect(given.number("rate")).toBe(2);
  expect(given.text("enable-old")).toBe("true");
  expect(settings("--enable-old=false").text("enable-old")).toBe("false");
});

it("does not show retired flags in help", () => {
  const help = declareOptions(new Command("x"), table).helpInformation();
  expect(help).toContain("--no-execute-mode <MODE>");
  expect(help).not.toContain("--enable-old");
});
