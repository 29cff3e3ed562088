/**
 * What a person orders about evacuations beyond a single one: `lifeboat evacuations approve|rate|pause|resume`.
 *
 * An approval is written on the Evacuation that it is for; pauses and a rate on the record of the fleet. Each is a compare and swap.
 */
import {
  clusters,
  type Evacuation,
  type EvacuationApproval,
  type EvacuationBudget,
  evacuations,
  formatKey,
  namespaces,
  orNothing,
} from "@lifeboat/api";
import {
  addMs,
  type Clock,
  formatDuration,
  formatTime,
  type Instant,
  plainMoment,
} from "@lifeboat/base";
import { changeRecord } from "@lifeboat/controllers/context";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import {
  evictingTaints,
  overrideUntil,
  type PauseTarget,
  type Rate,
  rateReasons,
  type SetRate,
  setRateText,
  withPause,
} from "@lifeboat/core/failover/evacuation";
import {
  decideTainted,
  type DrainStep,
  evacuationEntries,
  letGoBy,
  type ListedEntry,
  sharesOf,
  withApproval,
} from "@lifeboat/core/operating";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { allBindings } from "../all-bindings.ts";
import { approvalModeOf } from "../approval-mode.ts";
import { dryRunOption, existingCluster } from "../change-cluster.ts";
import { existingEvacuation, setPaused, slicesOf } from "../change-evacuation.ts";
import { mayGoOn, yesOption } from "../confirm.ts";
import { publishedControllers } from "../controller-options.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { findBinding, parseWorkload } from "../find-binding.ts";
import { planeOptions } from "../find-plane.ts";
import { ratesAt, recordRate } from "../fleet-rate.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, outputOption, show } from "../output.ts";
import { planeClock, planeTime } from "../plane-clock.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";
import { onNewest } from "../on-newest.ts";

/** A person's word about one call: no variable narrows or widens it. */
const clusterOption = (help: string): OptionDefinition => ({
  name: "cluster",
  type: "text",
  value: "NAME",
  commandLineOnly: true,
  help,
});
const namespaceOption = (help: string): OptionDefinition => ({
  name: "namespace",
  short: "n",
  type: "text",
  value: "NAME",
  commandLineOnly: true,
  help,
});

export const pauseOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "all",
    type: "switch",
    commandLineOnly: true,
    help: "The whole fleet, and evacuations to come",
  },
  clusterOption("All evacuations of a cluster, and those to come"),
  namespaceOption("The workloads of a namespace, in all evacuations"),
  reasonOption,
  dryRunOption,
];
/** A pause releases nothing and is never asked about; its end may release a fleet. */
export const resumeOptions: readonly OptionDefinition[] = [...pauseOptions, yesOption];

export const approveOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  clusterOption("The evacuations of this cluster that are under way"),
  namespaceOption("Only the workloads of this namespace"),
  {
    name: "workload",
    type: "text",
    value: "KIND/NAME",
    commandLineOnly: true,
    help: "Only this workload, in the namespace that -n names (default)",
  },
  {
    name: "for",
    type: "duration",
    value: "TIME",
    min: 1000,
    commandLineOnly: true,
    help: "The approval expires after this time; without it, it ends with the evacuation",
  },
  reasonOption,
  dryRunOption,
  yesOption,
];

const MAX_RATE = 100;
const LONGEST_OVERRIDE_MS = 7 * 24 * 3_600_000;

export const rateOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "set",
    type: "number",
    value: "N",
    min: 0,
    max: MAX_RATE,
    commandLineOnly: true,
    help: "How many workloads leave per second for a time, also where the fleet's own rate is 0",
  },
  {
    name: "at-most",
    type: "number",
    value: "N",
    min: 0,
    max: MAX_RATE,
    commandLineOnly: true,
    help: "The same as an upper bound: where the fleet's own rate is lower, or 0, that holds",
  },
  {
    name: "for",
    type: "duration",
    value: "TIME",
    min: 1000,
    max: LONGEST_OVERRIDE_MS,
    commandLineOnly: true,
    help: "How long; then the fleet decides again",
  },
  reasonOption,
  { name: "clear", type: "switch", commandLineOnly: true, help: "End what was set" },
  dryRunOption,
  yesOption,
  outputOption(["text"]),
];

export function addEvacuationOrders(parent: Command): void {
  addSwitch(parent, "pause", "Stop evacuations: nothing more is released", true);
  addSwitch(parent, "resume", "Let evacuations go on", false);
  const approve = parent
    .command("approve")
    .description("Let workloads leave that wait for a person's approval")
    .argument("[NAME]", "the evacuation, such as member1-1");
  declareOptions(approve, approveOptions).action((name: string | undefined) => {
    const settings = readSettings(approve, approveOptions);
    const given = [name, settings.text("cluster"), settings.text("namespace")];
    if (given.every((one) => one === undefined))
      throw new UsageError("the name of an evacuation, --cluster or --namespace is needed");
    if (name !== undefined && settings.text("cluster") !== undefined)
      throw new UsageError("the name of an evacuation and --cluster exclude each other");
    return withPlane(settings, (plane) => approveAll(plane, name, settings));
  });
  const rate = parent
    .command("rate")
    .description("Show how fast workloads may leave, or set it for a time");
  declareOptions(rate, rateOptions).action(() => {
    const settings = readSettings(rate, rateOptions);
    const output = outputFrom(settings, ["text"]);
    return withPlane(settings, (plane) => changeRate(plane, settings, output));
  });
}

function addSwitch(parent: Command, verb: string, description: string, paused: boolean): void {
  const command = parent
    .command(verb)
    .description(description)
    .argument("[NAME]", "the evacuation; or --all, --cluster or --namespace");
  const table = paused ? pauseOptions : resumeOptions;
  declareOptions(command, table).action((name: string | undefined) => {
    const settings = readSettings(command, table);
    const [cluster, namespace] = [settings.text("cluster"), settings.text("namespace")];
    const targets: readonly PauseTarget[] = [
      ...(settings.isOn("all") ? [{ of: "all" as const }] : []),
      ...(cluster === undefined ? [] : [{ of: "cluster" as const, name: cluster }]),
      ...(namespace === undefined ? [] : [{ of: "namespace" as const, name: namespace }]),
    ];
    if (targets.length + (name === undefined ? 0 : 1) !== 1)
      throw new UsageError(
        `the name of an evacuation, --all, --cluster or --namespace is needed to ${verb}; one of them`,
      );
    return withPlane(settings, async (plane) => {
      const [target] = targets;
      const order = target ?? { of: "one" as const, name: name ?? "" };
      if (paused) await refuseUnknown(plane, order);
      if (!(await maySwitch(plane, order, paused, settings))) return;
      if (order.of === "one") await switchOne(plane, order.name, paused);
      else await switchMany(plane, order, paused);
    });
  });
}

async function switchOne(plane: Client, name: string, paused: boolean): Promise<void> {
  const isChanged = await setPaused(plane, name, paused);
  const what = paused ? "paused" : "resumed";
  print([`evacuation/${name} ${isChanged ? what : `already ${what}`}`]);
}

async function switchMany(plane: Client, target: PauseTarget, paused: boolean): Promise<void> {
  const isChanged = await changeRecord(plane, (parts) => {
    const spec = withPause(parts.spec, target, paused);
    return spec === parts.spec ? parts : { ...parts, spec };
  });
  const of = target.of === "all" ? "" : ` of ${target.of} ${target.name}`;
  const what = paused ? "paused" : "resumed";
  print([`all evacuations${of} ${isChanged ? what : `already ${what}`}`]);
  if (paused) return;
  const { items } = await plane.list(evacuations);
  const still = items.filter(
    ({ spec, status }) =>
      spec.paused &&
      status?.finishedAt === undefined &&
      (target.of !== "cluster" || spec.cluster === target.name),
  );
  if (still.length === 0) return;
  const names = still.map(({ metadata }) => metadata.name).join(", ");
  print([`paused by themselves, until they are resumed by name: ${names}`]);
}

/** One evacuation, or what the record of the fleet pauses. */
type SwitchTarget = PauseTarget | { readonly of: "one"; readonly name: string };

/** Shows what waits in the evacuations that the order is about. Only a release is asked about, and only where it releases something. */
async function maySwitch(
  plane: Client,
  target: SwitchTarget,
  paused: boolean,
  settings: Settings,
): Promise<boolean> {
  const isDryRun = settings.isOn("dry-run");
  if (paused && !isDryRun) return true;
  const waiting = await waitingFor(plane, target);
  if (waiting.length === 0 && !isDryRun) return true;
  const of = target.of === "namespace" ? ` of namespace ${target.name}` : "";
  const counts = waiting.map(({ name, queued }) => `${queued} in ${name}`).join(", ");
  const none = paused ? "Nothing waits to leave." : "Nothing waits to be released.";
  const what = paused ? "Nothing more leaves" : "Workloads leave at the rate of the fleet";
  const plan = waiting.length === 0 ? none : `${what}${of}: ${counts}.`;
  return mayGoOn(settings, plan, "Let them go on?");
}

interface Waiting {
  readonly name: string;
  readonly queued: number;
}

/** How many workloads wait in each of the evacuations. */
async function waitingFor(plane: Client, target: SwitchTarget): Promise<readonly Waiting[]> {
  const all =
    target.of === "one"
      ? [await existingEvacuation(plane, target.name)]
      : (await plane.list(evacuations)).items;
  const meant = all.filter(
    ({ spec, status }) =>
      status?.finishedAt === undefined && (target.of !== "cluster" || spec.cluster === target.name),
  );
  const bindings = await allBindings(plane);
  const approval = approvalModeOf(await readPublished(plane));
  const moment = plainMoment(await planeTime(plane));
  const counted = meant.map(async (evacuation) => {
    const { name } = evacuation.metadata;
    const slices = await slicesOf(plane, name);
    const view = { evacuation, slices, bindings, approval, moment };
    const queued = evacuationEntries(view).filter(
      ({ state, entry }) =>
        (state === "Queued" || state === "Held") &&
        (target.of !== "namespace" || entry.binding.namespace === target.name),
    ).length;
    return { name, queued };
  });
  return (await Promise.all(counted)).filter(({ queued }) => queued > 0);
}

/** A pause of what does not exist is a slip of the pen, and stops nothing. */
async function refuseUnknown(plane: Client, target: SwitchTarget): Promise<void> {
  if (target.of === "cluster") await existingCluster(plane, target.name);
  if (target.of !== "namespace") return;
  const key = { namespace: "", name: target.name };
  if ((await orNothing(plane.get(namespaces, key))) === undefined)
    throw new CommandFailed(`there is no namespace "${target.name}"`);
}

interface Approving {
  readonly evacuation: Evacuation;
  readonly lets: readonly ListedEntry[];
}

/** Shows what would leave, asks once, and writes one approval per evacuation that it is for. */
async function approveAll(
  plane: Client,
  name: string | undefined,
  settings: Settings,
): Promise<void> {
  const clock = await planeClock(plane);
  const now = clock.now();
  const approval = await approvalFrom(plane, settings, now);
  const found = await evacuationsFor(plane, name, settings.text("cluster"));
  const plans = await Promise.all(found.map((one) => planFor(plane, one, approval, now)));
  const waiting = plans.filter(({ lets }) => lets.length > 0);
  if (waiting.length === 0) {
    print(["nothing waits for this approval"]);
    return;
  }
  const targets = await targetsOf(plane, waiting, now);
  const text = waiting.map((one) => approvalText(one, targets)).join(" ");
  if (!(await mayGoOn(settings, text, "Approve it?"))) return;
  for (const { evacuation, lets } of waiting) {
    const isChanged = await writeApproval(plane, evacuation.metadata.name, approval, clock);
    const what = `${lets.length} workload${lets.length === 1 ? "" : "s"}`;
    print([
      `evacuation/${evacuation.metadata.name} ${isChanged ? `approved: ${what} may leave` : "already approved"}`,
    ]);
  }
}

async function approvalFrom(
  plane: Client,
  settings: Settings,
  now: Instant,
): Promise<EvacuationApproval> {
  const workload = settings.text("workload");
  const namespace = settings.text("namespace");
  const reason = settings.text("reason");
  const scope =
    workload === undefined
      ? { ...(namespace !== undefined && { namespace }) }
      : { uid: await uidOf(plane, workload, namespace) };
  return {
    at: formatTime(now),
    ...(settings.isOnCommandLine("for") && {
      expiresAt: formatTime(addMs(now, settings.number("for"))),
    }),
    ...scope,
    ...(reason !== undefined && { reason }),
  };
}

async function uidOf(plane: Client, workload: string, namespace = "default"): Promise<string> {
  return (await findBinding(plane, parseWorkload(workload, namespace))).metadata.uid;
}

/** Those that are not over: an approval of one that is has nothing to let go. */
async function evacuationsFor(
  plane: Client,
  name: string | undefined,
  cluster: string | undefined,
): Promise<readonly Evacuation[]> {
  if (name !== undefined) return [await existingEvacuation(plane, name)];
  if (cluster !== undefined) await existingCluster(plane, cluster);
  const { items } = await plane.list(evacuations);
  return items.filter(
    ({ spec, status }) =>
      status?.finishedAt === undefined && (cluster === undefined || spec.cluster === cluster),
  );
}

async function planFor(
  plane: Client,
  evacuation: Evacuation,
  approval: EvacuationApproval,
  now: Instant,
): Promise<Approving> {
  const moment = plainMoment(now);
  const entries = evacuationEntries({
    evacuation,
    slices: await slicesOf(plane, evacuation.metadata.name),
    bindings: await allBindings(plane),
    approval: approvalModeOf(await readPublished(plane)),
    moment,
  });
  return { evacuation, lets: letGoBy(entries, approval, moment) };
}

/** Where what leaves these clusters would run, by its name: `Deployment shop/web`. */
type Targets = ReadonlyMap<string, string>;

async function targetsOf(
  plane: Client,
  approving: readonly Approving[],
  now: Instant,
): Promise<Targets> {
  const fleet = (await plane.list(clusters)).items;
  const leaving = new Set(approving.map(({ evacuation }) => evacuation.spec.cluster));
  const plans = decideTainted(
    {
      added: new Map(
        fleet
          .filter(({ metadata }) => leaving.has(metadata.name))
          .map((one) => [one.metadata.name, evictingTaints(one)]),
      ),
      clusters: fleet,
      bindings: await allBindings(plane),
      purgeMode: publishedControllers(await readPublished(plane)).noExecutePurgeMode,
      // What is planned is what follows the approval.
      approval: "Policy",
      policyOf: () => undefined,
    },
    now,
  );
  return new Map(
    [...plans.values()].flat().map((step) => [step.workload, targetText(step)] as const),
  );
}

function targetText({ targets, held }: DrainStep): string {
  return held === undefined ? ` → ${sharesOf(targets)}` : ` (held, ${held.split(":")[0]})`;
}

const NAMED = 5;

function approvalText(
  { evacuation: { metadata, spec }, lets }: Approving,
  targets: Targets,
): string {
  const names = lets.slice(0, NAMED).map(({ entry }) => {
    const { namespace = "" } = entry.binding;
    const name = `${entry.resource.kind} ${formatKey({ namespace, name: entry.resource.name })}`;
    return `${name}${targets.get(name) ?? ""}`;
  });
  const more = lets.length > NAMED ? ` and ${lets.length - NAMED} more` : "";
  const [verb, what] = lets.length === 1 ? ["leaves", "workload"] : ["leave", "workloads"];
  return `${metadata.name}: ${lets.length} ${what} ${verb} ${spec.cluster}: ${names.join(", ")}${more}.`;
}

async function writeApproval(
  plane: Client,
  name: string,
  approval: EvacuationApproval,
  clock: Clock,
): Promise<boolean> {
  return onNewest(async () => {
    const evacuation = await existingEvacuation(plane, name);
    const { resourceVersion } = evacuation.metadata;
    const approvals = withApproval(evacuation, approval, plainMoment(clock.now()));
    if (approvals === undefined)
      throw new CommandFailed(
        `evacuation "${name}" has as many approvals as it can hold: approve all of it, or a namespace`,
      );
    if (approvals === evacuation.spec.approvals) return false;
    const body = { metadata: { resourceVersion }, spec: { approvals } };
    await plane.patch(evacuations, { namespace: "", name }, { type: "merge", body });
    return true;
  });
}

async function changeRate(
  plane: Client,
  settings: Settings,
  output: Output<"text">,
): Promise<void> {
  const given = ["set", "at-most", "clear"].filter((one) => settings.isOnCommandLine(one));
  if (given.length > 1)
    throw new UsageError(`${given.map((one) => `--${one}`).join(" and ")} exclude each other`);
  const isSet = given.length > 0 && !settings.isOn("clear");
  if (isSet) await setRate(plane, settings);
  else if (settings.isOn("clear")) await clearRate(plane, settings);
  else await showRate(plane, output);
}

async function setRate(plane: Client, settings: Settings): Promise<void> {
  if (!settings.isOnCommandLine("for"))
    throw new UsageError("--for is needed with --set and --at-most");
  const reason = settings.requiredText("reason");
  const isBound = settings.isOnCommandLine("at-most");
  const perSecond = settings.number(isBound ? "at-most" : "set");
  const rate: SetRate = { perSecond, ...(isBound && { atMost: true }) };
  const forMs = settings.number("for");
  const clock = await planeClock(plane);
  const rates = await ratesAt(plane, clock.now());
  const before = rates.now;
  const text =
    `The rate of the whole fleet becomes ${setRateText(rate)} for ${formatDuration(forMs)}; ` +
    `it is ${before.perSecond} now (${before.reason}).`;
  const overrules = !isBound && perSecond > 0;
  const plan = overrules ? `${text} ${OVERRULES}` : text;
  const isAsked =
    settings.isOn("dry-run") || overrules || rates.with(rate).perSecond > before.perSecond;
  if (isAsked && !(await mayGoOn(settings, plan, "Set it?"))) return;
  const now = clock.now();
  const until = formatTime(addMs(now, forMs));
  await recordRate(plane, { ...rate, setAt: formatTime(now), until, reason });
  print([`the rate is ${setRateText(rate)} until ${until}`]);
}

/** What a rate that is no upper bound does to the brake of an unhealthy fleet (D6). */
const OVERRULES =
  "Until then the brake of an unhealthy fleet does not count: if most or all of the clusters fail, workloads go on leaving at this rate. " +
  "--at-most N slows down and keeps the brake.";

/** What was set may be lower than what the fleet would decide: then its end releases workloads. */
async function clearRate(plane: Client, settings: Settings): Promise<void> {
  const now = await planeTime(plane);
  const rates = await ratesAt(plane, now);
  const [before, after] = [rates.now, rates.with(undefined)];
  const plan = `The fleet decides again: the rate becomes ${after.perSecond} per second (${after.reason}); it is ${before.perSecond} now (${before.reason}).`;
  const isAsked = settings.isOn("dry-run") || after.perSecond > before.perSecond;
  if (isAsked && !(await mayGoOn(settings, plan, "End it?"))) return;
  const isChanged = await changeRecord(plane, (parts) => {
    const { rateOverride, ...spec } = parts.spec;
    return rateOverride === undefined ? parts : { ...parts, spec };
  });
  print([isChanged ? "the fleet decides about the rate again" : "no rate was set"]);
}

async function showRate(plane: Client, output: Output<"text">): Promise<void> {
  const now = await planeTime(plane);
  const { now: rate, ordered: rateOverride } = await ratesAt(plane, now);
  const until = overrideUntil(rateOverride, plainMoment(now));
  show(
    output,
    () => rateLines(rate, rateOverride, until),
    () => ({ ...rate, ...(until === undefined ? {} : { setByPerson: rateOverride }) }),
  );
}

function rateLines(
  { perSecond, reason }: Rate,
  rateOverride: EvacuationBudget["spec"]["rateOverride"],
  until: Instant | undefined,
): readonly string[] {
  return [
    ...hanging("", `${perSecond} per second, ${reason}: ${rateReasons[reason]}`),
    ...(rateOverride === undefined || until === undefined
      ? []
      : hanging(
          "",
          `a person set ${setRateText(rateOverride)} until ${formatTime(until)}: ${rateOverride.reason}`,
        )),
    ...hanging(
      "",
      "to slow down: lifeboat evacuations rate --at-most N --for TIME --reason TEXT; --set N also overrules the brakes",
    ),
  ];
}
