/** Turns a table of options into flags of a command, and reads them back with environment and configuration file. */
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { parse } from "yaml";
import { UsageError } from "./failure.ts";
import {
  describeOption,
  type OptionDefinition,
  type OptionValue,
  resolveOptions,
} from "./options.ts";

/** Declares the table's flags, and `--config`. */
export function declareOptions(command: Command, table: readonly OptionDefinition[]): Command {
  for (const definition of table) {
    const short = definition.short === undefined ? "" : `-${definition.short}, `;
    const option = new Option(`${short}--${definition.name}${valueOf(definition)}`);
    option.description = describeOption(definition);
    command.addOption(option.hideHelp(definition.retired === true));
  }
  return command.option(
    "--config <FILE>",
    "Read settings from a YAML file: the flags' names without dashes",
  );
}

function valueOf({ type, value = "VALUE", retired, ...given }: OptionDefinition): string {
  if (retired) return ` [${value}]`;
  // A switch that is on by default needs a word to turn it off: `--leader-elect=false`.
  if (type === "switch" && given.default === "true") return " [BOOL]";
  return type === "switch" ? "" : ` <${value}>`;
}

/** What a command works with: every option of its table, resolved and checked. */
export class Settings {
  readonly #values: ReadonlyMap<string, OptionValue>;
  readonly #flags: ReadonlySet<string>;

  constructor(values: ReadonlyMap<string, OptionValue>, flags: ReadonlySet<string> = new Set()) {
    this.#values = values;
    this.#flags = flags;
  }

  /** Whether the person gave it in this very call. */
  isOnCommandLine(name: string): boolean {
    return this.#flags.has(name);
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === undefined ? undefined : String(value);
  }

  /** A number, or a duration in milliseconds; for options that have a default. */
  number(name: string): number {
    const value = this.#values.get(name);
    if (typeof value !== "number") throw new UsageError(`--${name} is needed`);
    return value;
  }

  /** Whether a switch is on. */
  isOn(name: string): boolean {
    return this.#values.get(name) === true;
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new UsageError(`--${name} is needed`);
    return value;
  }
}

export function readSettings(command: Command, table: readonly OptionDefinition[]): Settings {
  const given = command.opts<Record<string, string | boolean | undefined>>();
  const flags: Record<string, string | boolean | undefined> = {};
  for (const { name } of table) {
    // Its own word for the option: to commander, `--no-…` is the opposite of another one and on unless said.
    const attribute = command.options.find(({ long }) => long === `--${name}`)?.attributeName();
    if (attribute !== undefined && command.getOptionValueSource(attribute) === "cli")
      flags[name] = given[attribute];
  }
  const config = given["config"];
  const file = typeof config === "string" ? readConfigFile(config) : {};
  const values = resolveOptions(table, { flags, environment: process.env, file });
  return new Settings(values, new Set(Object.keys(flags)));
}

function readConfigFile(path: string): Readonly<Record<string, unknown>> {
  let content: unknown;
  try {
    content = parse(readFileSync(path, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--config ${path} cannot be read: ${why}`);
  }
  if (content === null) return {};
  if (typeof content !== "object" || Array.isArray(content)) {
    throw new UsageError(`--config ${path} must hold one mapping of names to values`);
  }
  return content as Record<string, unknown>;
}
