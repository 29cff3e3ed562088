/**
 * The feature gates: their names, how they are written, and how they outlive a restart (D29).
 *
 * A gate that a flag sets has the flag's value. One that no flag sets keeps the value with which the controllers ran last, as the
 * settings object has it: a bare restart does not switch failover off. What is read there in error counts as not kept.
 */
import { type PublishedSettings, readSettings } from "@lifeboat/controllers/operating";
import type { Client } from "@lifeboat/kit";
import type { ControllersOptions } from "./controllers.ts";

/** The gates, by the names that operators know, and what each of them switches. */
export const GATES = {
  Failover: "failover",
  StatefulFailoverInjection: "statefulFailoverInjection",
} as const;

export type Gate = keyof typeof GATES;
export type GateValues = Readonly<Partial<Record<Gate, boolean>>>;

export const gateNames = Object.freeze(Object.keys(GATES)) as readonly Gate[];

/** One entry of `Failover=true,StatefulFailoverInjection=false`. */
export interface GateEntry {
  readonly text: string;
  readonly name: string;
  /** Undefined: it is neither true nor false. */
  readonly value: boolean | undefined;
}

export function readGateEntries(text: string): readonly GateEntry[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [name = "", value, ...more] = entry.split("=").map((one) => one.trim());
      return { text: entry, name, value: more.length > 0 ? undefined : switchOf(value) };
    });
}

export function isGate(name: string): name is Gate {
  return Object.hasOwn(GATES, name);
}

/** As they are written on a command line and in the settings object. */
export function formatGates(options: Pick<ControllersOptions, (typeof GATES)[Gate]>): string {
  return gateNames.map((name) => `${name}=${options[GATES[name]]}`).join(",");
}

export interface GatesInForce {
  readonly options: ControllersOptions;
  /** A sentence for each gate that is not as the flags alone, or the settings object alone, would have it. */
  readonly notes: readonly string[];
}

/** The options with the gates that the settings object keeps, where no flag sets them. */
export function withKeptGates(
  options: ControllersOptions,
  published: PublishedSettings | undefined,
): GatesInForce {
  const kept = keptGates(published);
  const byFlag = options.gatesByFlag ?? gateNames;
  const notes: string[] = [];
  const changes: Partial<Record<(typeof GATES)[Gate], boolean>> = {};
  for (const name of gateNames) {
    const before = kept[name];
    const given = options[GATES[name]];
    if (before === undefined || before === given) continue;
    if (byFlag.includes(name)) {
      notes.push(
        `the gate ${name} is ${onOff(given)} by --feature-gates; it was ${onOff(before)} until now, and ${onOff(given)} is kept`,
      );
      continue;
    }
    changes[GATES[name]] = before;
    notes.push(
      `the gate ${name} stays ${onOff(before)}, as it was (ConfigMap lifeboat-system/settings); --feature-gates ${name}=${!before} switches it ${onOff(!before)}`,
    );
  }
  return { options: { ...options, ...changes }, notes };
}

/** The options with the gates that an earlier run left; rejects when the settings object cannot be read. */
export async function readKeptGates(
  plane: Client,
  options: ControllersOptions,
  tell: (sentence: string) => void = () => undefined,
): Promise<ControllersOptions> {
  const inForce = withKeptGates(options, await readSettings(plane));
  for (const note of inForce.notes) tell(note);
  return inForce.options;
}

function keptGates(published: PublishedSettings | undefined): GateValues {
  const kept: Partial<Record<Gate, boolean>> = {};
  const text = published?.["feature-gates"];
  for (const { name, value } of readGateEntries(typeof text === "string" ? text : ""))
    if (isGate(name) && value !== undefined) kept[name] = value;
  return kept;
}

function onOff(isOn: boolean): string {
  return isOn ? "on" : "off";
}

function switchOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(true|1|t)$/i.test(text)) return true;
  return /^(false|0|f)$/i.test(text) ? false : undefined;
}
