/**
 * `lifeboat adopt --kubeconfig K`: goes on from where a Karmada control plane was, on the same API server.
 *
 * What it would write in members is shown first, and is nothing where both render the same. Without --yes a person agrees; --dry-run
 * shows it and ends.
 */
import { hostname } from "node:os";
import { createRandom } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { adopt, type AdoptionPlan, planAdoption } from "@lifeboat/plane";
import type { Command } from "commander";
import { confirm, yesOption } from "../confirm.ts";
import { seedFromProcess } from "../environment.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { version } from "../version.ts";
import { print } from "../with-plane.ts";
import { serverOptions, webhookFrom, webhookOption, withServer } from "./install.ts";

export const adoptOptions: readonly OptionDefinition[] = [
  ...serverOptions,
  webhookOption,
  {
    name: "dry-run",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Print what would be done",
  },
  yesOption,
];

export function addAdopt(program: Command): void {
  const command = program
    .command("adopt")
    .description("Take over a Karmada control plane where it is; members see no write")
    .addHelpText(
      "after",
      `
It is refused while controllers of Karmada lead: scale them to zero first.
Nothing is removed from any member until \`lifeboat brake release\`.`,
    );
  declareOptions(command, adoptOptions).action(() => {
    const settings = readSettings(command, adoptOptions);
    return withServer(settings, (client) => run(client, settings));
  });
}

async function run(client: Client, settings: Settings): Promise<void> {
  const webhook = webhookFrom(settings);
  const plan = await planAdoption(createRealClock(), client);
  show(plan);
  if (settings.isOn("dry-run") || plan.isDone) return;
  if (!settings.isOn("yes"))
    await confirm(`${plan.writes.length} writes in members follow.`, "Go on?");
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    ids: createRealIds(),
    log: silentLog,
    metrics: silentMetrics,
  };
  const request = { version, webhook, identity: `adopt_${hostname()}` };
  await adopt(ports, client, plan, request, ({ subject, outcome }) =>
    print([`${subject} ${outcome}`]),
  );
  print([
    "adopted: start `lifeboat manager` now",
    "nothing is removed from members until: lifeboat brake release",
  ]);
}

function show({ counts, webhooks, writes, unknown, tainted, isDone }: AdoptionPlan): void {
  if (isDone) {
    print(["it was adopted before: there is nothing to do"]);
    return;
  }
  print([
    "What is adopted:",
    ...[...counts].map(([kind, count]) => `  ${count} ${kind}`),
    ...webhooks.map(({ object }) => `${object.kind} ${object.metadata.name} goes`),
    ...(tainted.length === 0
      ? []
      : [
          `these clusters have taints of the former control plane, which only you take off: ${tainted.join(", ")}`,
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `scripts set the replicas of these kinds, so their writes are not known: ${unknown.join(", ")}`,
        ]),
    `What would be written in members: ${writes.length === 0 ? "nothing" : ""}`,
    ...writes.flatMap(({ verb, subject, differences }) => [
      `  ${verb} ${subject}`,
      ...differences.map((line) => `    ${line}`),
    ]),
  ]);
}
