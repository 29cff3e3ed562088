/**
 * The switches that outlive a restart (D29): the feature gates, with their names and how they are written, and whether all that has to
 * leave waits for a person's approval (D30).
 *
 * A switch that a flag sets has the flag's value. One that no flag sets keeps the value with which the controllers ran last, as the
 * settings object has it: a bare restart neither switches failover off nor lets go what waits for an approval. What is read there in
 * error counts as not kept.
 */
import { type PublishedSettings, readSettings } from "@lifeboat/controllers/operating";
import { APPROVAL_MODES, type ApprovalMode } from "@lifeboat/core/failover/evacuation";
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

export interface SwitchesInForce {
  readonly options: ControllersOptions;
  /** A sentence for each switch that is not as the flags alone, or the settings object alone, would have it. */
  readonly notes: readonly string[];
}

/** The options with the switches that the settings object keeps, where no flag sets them. */
export function withKeptSwitches(
  options: ControllersOptions,
  published: PublishedSettings | undefined,
): SwitchesInForce {
  const gates = withKeptGates(options, published);
  const approval = withKeptApproval(gates.options, published);
  return { options: approval.options, notes: [...gates.notes, ...approval.notes] };
}

function withKeptGates(
  options: ControllersOptions,
  published: PublishedSettings | undefined,
): SwitchesInForce {
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

function withKeptApproval(
  options: ControllersOptions,
  published: PublishedSettings | undefined,
): SwitchesInForce {
  const before = publishedApproval(published);
  const { evacuationApproval: given, evacuationApprovalByFlag: isByFlag = true } = options;
  if (before === undefined || before === given) return { options, notes: [] };
  if (isByFlag)
    return {
      options,
      notes: [
        `evacuation approval is ${given} by --evacuation-approval; it was ${before} until now, and ${given} is kept`,
      ],
    };
  return {
    options: { ...options, evacuationApproval: before },
    notes: [
      `evacuation approval stays ${before}, as it was (ConfigMap lifeboat-system/settings); --evacuation-approval ${given} switches it`,
    ],
  };
}

/** The mode of approval that runs, or ran last; undefined: none was published. */
export function publishedApproval(
  published: PublishedSettings | undefined,
): ApprovalMode | undefined {
  return APPROVAL_MODES.find((mode) => mode === published?.["evacuation-approval"]);
}

/** The options with the switches that an earlier run left; rejects when the settings object cannot be read. */
export async function readKeptSwitches(
  plane: Client,
  options: ControllersOptions,
  tell: (sentence: string) => void = () => undefined,
): Promise<ControllersOptions> {
  const inForce = withKeptSwitches(options, await readSettings(plane));
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
