/**
 * The options of a command as one table, from which flags, environment variables (`LIFEBOAT_*`), keys of the
 * configuration file (`--config FILE`), help and documentation all follow.
 *
 * 1. Precedence: flag, then environment, then file, then default.
 * 2. A value that is out of its range or of the wrong type is refused at start, naming where it came from.
 * 3. An unknown key in the file is refused: a misspelt setting must not be silently without effect. A retired option is
 *    known: whoever gives one is told that it does nothing.
 * 4. What a person says about one call (`--yes`, `--force`, `--dry-run`, `--serial`) counts on the command line alone: a variable that
 *    was exported once, or a file that was written for another day, must not confirm a deletion today, change what is deleted, or
 *    turn an order into a dry run. A variable for one that makes the call do less is refused. `one-call.test.ts` lists what may come from elsewhere.
 */
import { formatDuration, parseDuration } from "@lifeboat/base";
import { UsageError } from "./failure.ts";

export type OptionType = "text" | "switch" | "integer" | "number" | "duration";

export interface OptionDefinition {
  /** Kebab-case, without dashes: `data-dir`. */
  readonly name: string;
  /** One letter: `o` for `-o`. */
  readonly short?: string;
  readonly type: OptionType;
  /** What stands for the value in help: `DIR`. Switches have none. */
  readonly value?: string;
  /** As it would be written on the command line. Absent: none. */
  readonly default?: string;
  readonly help: string;
  readonly min?: number;
  readonly max?: number;
  /** Accepted with any value or none, not shown in help, and without effect. */
  readonly retired?: true;
  /** A person's word about this one call: neither a variable nor a key of the file stands for it. */
  readonly commandLineOnly?: true;
  /** The call does less with it: a variable of its name is refused, because without it more would be done than was meant. */
  readonly narrows?: true;
}

export type OptionValue = string | number | boolean;

/** Where values come from. Texts are as written; the file may also hold JSON numbers and booleans. */
export interface OptionSources {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file: Readonly<Record<string, unknown>>;
}

export function environmentName(option: string): string {
  return `LIFEBOAT_${option.toUpperCase().replaceAll("-", "_")}`;
}

/** Resolves every option of the table; throws UsageError on the first one that is wrong. */
export function resolveOptions(
  table: readonly OptionDefinition[],
  sources: OptionSources,
): ReadonlyMap<string, OptionValue> {
  refuseUnknownKeys(table, sources.file);
  const resolved = new Map<string, OptionValue>();
  for (const definition of table) {
    const found = findRaw(definition, sources);
    if (found === undefined) continue;
    if (definition.retired) resolved.set(definition.name, String(found.raw));
    else resolved.set(definition.name, parseValue(definition, found.raw, found.origin));
  }
  return resolved;
}

/** One line per option, for help and for docs/operations.md. */
export function describeOption(definition: OptionDefinition): string {
  const fallback = definition.default === undefined ? "" : ` [default: ${definition.default}]`;
  const variable = definition.commandLineOnly ? "" : ` [env: ${environmentName(definition.name)}]`;
  return `${definition.help}${rangeText(definition)}${fallback}${variable}`;
}

/** That nothing is below zero goes without saying. */
function rangeText(definition: OptionDefinition): string {
  const { min, max } = definition;
  if (max !== undefined)
    return ` (${limitText(definition, min ?? 0)} to ${limitText(definition, max)})`;
  return min === undefined || min === 0 ? "" : ` (at least ${limitText(definition, min)})`;
}

/** A limit as it would be written on the command line. */
function limitText({ type }: OptionDefinition, limit: number): string {
  return type === "duration" ? formatDuration(limit) : String(limit);
}

function refuseUnknownKeys(
  table: readonly OptionDefinition[],
  file: Readonly<Record<string, unknown>>,
): void {
  const settable = table.filter(({ commandLineOnly }) => commandLineOnly !== true);
  const known = new Set(settable.map((definition) => definition.name));
  for (const key of Object.keys(file)) {
    if (known.has(key)) continue;
    if (table.some(({ name }) => name === key))
      throw new UsageError(
        `the configuration file has the key "${key}": --${key} counts on the command line only`,
      );
    const list = [...known].sort().join(", ");
    throw new UsageError(`the configuration file has an unknown key "${key}"; known are: ${list}`);
  }
}

function findRaw(
  definition: OptionDefinition,
  sources: OptionSources,
): { readonly raw: unknown; readonly origin: string } | undefined {
  const flag = sources.flags[definition.name];
  if (flag !== undefined) return { raw: flag, origin: `--${definition.name}` };
  const variable = environmentName(definition.name);
  const fromEnvironment = sources.environment[variable];
  if (definition.commandLineOnly) refuseVariable(definition, variable, fromEnvironment);
  else if (fromEnvironment !== undefined) return { raw: fromEnvironment, origin: variable };
  // A key of the file that counts on the command line only is refused before.
  if (Object.hasOwn(sources.file, definition.name)) {
    const origin = `"${definition.name}" in the configuration file`;
    return { raw: sources.file[definition.name], origin };
  }
  if (definition.default === undefined) return undefined;
  return { raw: definition.default, origin: `the default of --${definition.name}` };
}

/** `LIFEBOAT_DRY_RUN=true` must not be learned to have no effect from what was deleted. */
function refuseVariable(
  { name, narrows }: OptionDefinition,
  variable: string,
  value: string | undefined,
): void {
  if (!narrows || value === undefined || value === "" || value === "false") return;
  throw new UsageError(`${variable} is set: --${name} counts on the command line only`);
}

function parseValue(definition: OptionDefinition, raw: unknown, origin: string): OptionValue {
  switch (definition.type) {
    case "text":
      if (typeof raw !== "string" || raw === "") throw wrong(origin, raw, "a text is needed");
      return raw;
    case "switch":
      if (raw === true || raw === "true") return true;
      if (raw === false || raw === "false") return false;
      throw wrong(origin, raw, "true or false is needed");
    case "integer":
      return inRange(
        definition,
        origin,
        raw,
        /^-?\d+$/.test(String(raw)) ? Number(raw) : undefined,
      );
    case "number":
      return inRange(
        definition,
        origin,
        raw,
        /^-?\d+(\.\d+)?$/.test(String(raw)) ? Number(raw) : undefined,
      );
    case "duration":
      return inRange(definition, origin, raw, parseDuration(String(raw)));
  }
}

const EXAMPLES: Readonly<Record<OptionType, string>> = {
  text: "a text",
  switch: "true or false",
  integer: "a whole number",
  number: "a number such as 0.5",
  duration: "a duration such as 30s",
};

function inRange(
  definition: OptionDefinition,
  origin: string,
  raw: unknown,
  value: number | undefined,
): number {
  if (value === undefined || !Number.isSafeInteger(Math.round(value))) {
    throw wrong(origin, raw, `${EXAMPLES[definition.type]} is needed`);
  }
  if (definition.min !== undefined && value < definition.min) {
    throw wrong(origin, raw, `it must be at least ${limitText(definition, definition.min)}`);
  }
  if (definition.max !== undefined && value > definition.max) {
    throw wrong(origin, raw, `it must be at most ${limitText(definition, definition.max)}`);
  }
  return value;
}

function wrong(origin: string, raw: unknown, need: string): UsageError {
  return new UsageError(`${origin}: ${JSON.stringify(raw)} is not valid: ${need}`);
}
