/**
 * `lifeboat drain CLUSTER`: moves everything away from a cluster, on a person's order (D22).
 *
 * The order is the taint `lifeboat.dev/drain:NoExecute`; the control plane carries it out at its own rate, and this
 * command follows. Ctrl-C pauses the evacuation; the same command again lets it go on; `lifeboat uncordon` takes the
 * order back.
 */
import { clusters } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Clock } from "@lifeboat/base";
import { decideDrain, DRAIN, drainRefusals } from "@lifeboat/core/operating";
import { isDrained, isDrainTaint } from "@lifeboat/core/binding";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { changeTaints, existingCluster } from "../change-cluster.ts";
import { setPaused } from "../change-evacuation.ts";
import { confirmPlan, yesOption } from "../confirm.ts";
import { drainPlanLines, leavingOf, promptLines } from "../drain-plan.ts";
import { movedOf } from "../evacuation-text.ts";
import { CommandFailed } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import { evacuationFor, followDrain, type Followed, type Screen } from "../follow-evacuation.ts";
import type { OptionDefinition } from "../options.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { stopOnSignal } from "../stopping.ts";
import { type Taint, withTaint } from "../taints.ts";
import { print, withPlane } from "../with-plane.ts";
import { allBindings } from "../all-bindings.ts";
import { hanging } from "../wrap.ts";

export const drainOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "dry-run",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Only show which workloads would leave and where they would run",
  },
  {
    name: "timeout",
    type: "duration",
    value: "TIME",
    default: "0s",
    min: 0,
    help: "Stop following after so long; what was ordered goes on. 0s: never",
  },
  {
    name: "despite-quorums",
    type: "switch",
    commandLineOnly: true,
    help: "Drain although a quorum would lose its majority with the cluster; its pods stay there all the same",
  },
  yesOption,
  reasonOption,
];

export function addDrain(program: Command): void {
  const command = program
    .command("drain")
    .description("Move everything away from a cluster")
    .argument("<CLUSTER>", "the cluster");
  declareOptions(command, drainOptions).action((name: string) => {
    const settings = readSettings(command, drainOptions);
    return withPlane(settings, (plane) => drain(plane, name, settings));
  });
}

async function drain(plane: Client, name: string, settings: Settings): Promise<void> {
  const clock = createRealClock();
  const before = await existingCluster(plane, name);
  const view = {
    cluster: name,
    clusters: (await plane.list(clusters)).items,
    bindings: await allBindings(plane),
  };
  const now = clock.now();
  const plan = decideDrain(view, now);
  const isOrdered = isDrained(before);
  const refusals = settings.isOn("despite-quorums") ? [] : drainRefusals(view);
  if (settings.isOn("dry-run")) {
    const refused = refusals.flatMap((why) => hanging("would be refused: ", why));
    print([...drainPlanLines(name, plan, now), "", ...refused, "nothing was changed (dry run)"]);
    return;
  }
  if (refusals.length > 0)
    throw new CommandFailed(
      `${name} is not drained: ${refusals.join("; ")}. To drain it for the other workloads, add --despite-quorums`,
    );
  if (plan.length > 0 && !isOrdered && !settings.isOn("yes")) {
    const what = leavingOf([[name, plan]], "will");
    await confirmPlan(promptLines(name, plan, now), `${what}; see --dry-run.`, `Drain ${name}?`);
  }
  const taint = await order(plane, name);
  if (plan.length === 0) {
    print([`nothing is on ${name}; it stays closed until \`lifeboat uncordon ${name}\``]);
    return;
  }
  const recorded = await evacuationFor(plane, name, taint);
  if (recorded?.spec.paused === true) {
    await setPaused(plane, recorded.metadata.name, false);
    print([`evacuation/${recorded.metadata.name} resumed`]);
  }
  await follow({ plane, clock }, name, taint, settings.number("timeout"));
}

/** Writes the order; answers the taint as the control plane has it. */
async function order(plane: Client, name: string): Promise<Taint> {
  const { cluster } = await changeTaints(plane, name, (taints) => withTaint(taints, DRAIN, true));
  return (cluster.spec.taints ?? []).find(isDrainTaint) ?? DRAIN;
}

async function follow(
  { plane, clock }: { readonly plane: Client; readonly clock: Clock },
  name: string,
  taint: Taint,
  timeoutMs: number,
): Promise<void> {
  const interrupted = stopOnSignal({ signals: ["SIGINT"] });
  const timeout = new AbortController();
  const stop = AbortSignal.any([interrupted.signal, timeout.signal]);
  const cancel = timeoutMs === 0 ? (): void => {} : clock.after(timeoutMs, () => timeout.abort());
  const screen: Screen = {
    isTerminal: process.stdout.isTTY,
    write: (text) => process.stdout.write(text),
  };
  try {
    const followed = await followDrain({ clock, plane, screen }, name, taint, stop);
    interrupted.waitFor("the control plane to pause the evacuation");
    if (interrupted.signal.aborted) await pause(plane, name, taint);
    else report(name, followed);
  } finally {
    interrupted.release();
    cancel();
  }
}

/** The person pressed Ctrl-C: nothing more leaves until they say so. */
async function pause(plane: Client, name: string, taint: Taint): Promise<void> {
  const evacuation = await evacuationFor(plane, name, taint);
  if (evacuation === undefined)
    throw new CommandFailed(
      `stopped, but the order stands and is not recorded yet; \`lifeboat uncordon ${name}\` takes it back`,
    );
  await setPaused(plane, evacuation.metadata.name, true);
  const { moved, of } = movedOf(evacuation);
  throw new CommandFailed(
    `evacuation/${evacuation.metadata.name} paused: ${moved} of ${of} moved\n` +
      `  go on:     lifeboat drain ${name}\n` +
      `  take back: lifeboat uncordon ${name}`,
  );
}

function report(name: string, { end, evacuation }: Followed): void {
  if (end === "takenBack")
    throw new CommandFailed(`the order to drain ${name} was taken back; what had not left stays`);
  if (end === "stopped") {
    const which = evacuation === undefined ? "" : ` (evacuation/${evacuation.metadata.name})`;
    throw new CommandFailed(
      `${name} is not empty in this time; the order stands and is carried out further${which}`,
    );
  }
  const { done = 0, abandoned = 0, exempt = 0 } = evacuation.status?.entries ?? {};
  const stays = abandoned + exempt;
  const rest = stays === 0 ? "" : `, ${stays} stay there`;
  print([`${name} is drained: ${done} moved${rest}; open it with \`lifeboat uncordon ${name}\``]);
}
