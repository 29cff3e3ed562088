/**
 * `lifeboat member fail NAME` and `lifeboat member heal NAME`: let a simulated member show a fault, and end its faults.
 *
 * Both only write the member's SimulatedMember object on the control plane; the process that runs the members carries
 * it out. The command waits a moment for that, so that the fault is there when it returns, and says so when nobody
 * carries it out.
 */
import {
  FAULT_MODES,
  isRefused,
  type SimulatedFault,
  type SimulatedMember,
  simulatedMembers,
} from "@lifeboat/api";
import { type Clock, parseDuration, sleep } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { CommandFailed, UsageError } from "../failure.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { onNewest } from "../on-newest.ts";
import { tell } from "../tell.ts";

export const memberFailOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "mode",
    type: "text",
    commandLineOnly: true,
    value: "MODE",
    help: `What goes wrong: ${FAULT_MODES.join(", ")}`,
  },
  {
    name: "after",
    type: "duration",
    commandLineOnly: true,
    value: "TIME",
    default: "0s",
    min: 0,
    help: "Wait so long first",
  },
  {
    name: "delay",
    type: "text",
    commandLineOnly: true,
    value: "TIME",
    help: "With slow: how long an answer takes; default 5s",
  },
  {
    name: "percent",
    type: "text",
    commandLineOnly: true,
    value: "N",
    help: "With errors: how many requests of a hundred fail; default 100",
  },
];

export const memberHealOptions: readonly OptionDefinition[] = planeOptions;

/** How long the process that runs the members may take to notice. */
const TAKEN_UP_MS = 5000;
const LOOK_MS = 100;

export function addMember(program: Command): void {
  const member = program.command("member").description("Let simulated members fail and recover");
  const fail = member
    .command("fail")
    .description("Let a simulated member show a fault, beside those it has")
    .argument("<NAME>", "such as member1");
  declareOptions(fail, memberFailOptions).action(async (name: string) => {
    const settings = readSettings(fail, memberFailOptions);
    const fault = faultOf(settings);
    await sleep(createRealClock(), settings.number("after"));
    await changeFaults(settings, name, (faults) => [
      ...faults.filter(({ mode }) => mode !== fault.mode),
      fault,
    ]);
  });
  const heal = member
    .command("heal")
    .description("End all faults of a simulated member")
    .argument("<NAME>", "such as member1");
  declareOptions(heal, memberHealOptions).action(async (name: string) => {
    await changeFaults(readSettings(heal, memberHealOptions), name, () => []);
  });
}

/** The fault that the flags ask for. */
export function faultOf(settings: Pick<Settings, "text">): SimulatedFault {
  const asked = settings.text("mode");
  const mode = FAULT_MODES.find((known) => known === asked);
  if (mode === undefined) {
    const what = asked === undefined ? "--mode is needed" : `--mode: "${asked}" is not valid`;
    throw new UsageError(`${what}: one of ${FAULT_MODES.join(", ")}`);
  }
  const delay = settings.text("delay");
  const percent = settings.text("percent");
  if (delay !== undefined && mode !== "slow")
    throw new UsageError("--delay goes with --mode slow only");
  if (percent !== undefined && mode !== "errors")
    throw new UsageError("--percent goes with --mode errors only");
  return {
    mode,
    ...(delay !== undefined && { delayMilliseconds: delayOf(delay) }),
    ...(percent !== undefined && { errorPercent: percentOf(percent) }),
  };
}

function delayOf(text: string): number {
  const delay = parseDuration(text);
  if (delay === undefined || delay < 0)
    throw new UsageError(`--delay: "${text}" is not valid: a duration such as 2s is needed`);
  return Math.round(delay);
}

function percentOf(text: string): number {
  const percent = Number(text);
  if (!/^\d+$/.test(text) || percent > 100)
    throw new UsageError(
      `--percent: "${text}" is not valid: a whole number from 0 to 100 is needed`,
    );
  return percent;
}

async function changeFaults(
  settings: Settings,
  name: string,
  change: (faults: readonly SimulatedFault[]) => readonly SimulatedFault[],
): Promise<void> {
  const plane = await findPlane(settings);
  const clock = createRealClock();
  const carryOut = async (): Promise<void> => {
    const generation = await writeFaults(plane.client, name, change);
    const isTakenUp = await untilTakenUp(clock, plane.client, name, generation);
    process.stdout.write(`${name}: ${await describe(plane.client, name)}\n`);
    if (!isTakenUp)
      tell("this is written, but no process has taken it up: are the members running?");
  };
  try {
    await inWords(carryOut);
  } finally {
    plane.close();
  }
}

/** Writes the faults; answers the generation that holds them. After a write in between it reads the object and writes again. */
export async function writeFaults(
  plane: Client,
  name: string,
  change: (faults: readonly SimulatedFault[]) => readonly SimulatedFault[],
): Promise<number> {
  return onNewest(async () => {
    const member = await existing(plane, name);
    const faults = change(member.spec.faults ?? []);
    const { resourceVersion } = member.metadata;
    const body = {
      metadata: { resourceVersion },
      spec: { faults: faults.length === 0 ? null : faults },
    };
    const key = { namespace: "", name };
    const written = await plane.patch(simulatedMembers, key, { type: "merge", body });
    return written.metadata.generation ?? 0;
  });
}

async function existing(plane: Client, name: string): Promise<SimulatedMember> {
  try {
    return await plane.get(simulatedMembers, { namespace: "", name });
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
  const { items } = await plane.list(simulatedMembers);
  const names = items.map((item) => item.metadata.name).toSorted();
  const hint =
    names.length === 0
      ? "there are none: start some with `lifeboat up --members 3`"
      : `there are ${names.join(", ")}`;
  throw new CommandFailed(`there is no simulated member "${name}"; ${hint}`);
}

async function untilTakenUp(
  clock: Clock,
  plane: Client,
  name: string,
  generation: number,
): Promise<boolean> {
  const deadline = clock.monotonic() + TAKEN_UP_MS;
  while (clock.monotonic() < deadline) {
    const { status } = await existing(plane, name);
    if ((status?.observedGeneration ?? 0) >= generation) return true;
    await sleep(clock, LOOK_MS);
  }
  return false;
}

async function describe(plane: Client, name: string): Promise<string> {
  const { spec } = await existing(plane, name);
  const modes = (spec.faults ?? []).map(({ mode }) => mode);
  return modes.length === 0 ? "no faults" : modes.join(", ");
}
