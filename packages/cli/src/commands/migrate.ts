/**
 * `lifeboat migrate --from DATA-DIR|BACKUP-FILE --to KUBECONFIG`: moves a control plane of `lifeboat up` to a kube-apiserver.
 *
 * 1. What is moved is a copy: the data directory is only read, but for the mark that keeps `lifeboat up` from starting on it.
 * 2. A directory that a living process has open is refused, because what happens there meanwhile would be lost.
 * 3. Without --yes a person agrees to what is shown; --dry-run shows it and ends.
 */
import { existsSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { ownerOfStore } from "@lifeboat/apiserver/adapters";
import { createRandom, formatTime } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import { type Client, KubeconfigError, silentLog, silentMetrics } from "@lifeboat/kit";
import { loadKubeconfig } from "@lifeboat/kit/adapters";
import { migrate, type MigrationPlan, MovingRefused, planMigration } from "@lifeboat/plane";
import type { Command } from "commander";
import { confirm, yesOption } from "../confirm.ts";
import { markMoved, refuseHalfRestored, storeDirectory } from "../data-directory.ts";
import { encryptionOptions } from "../encryption.ts";
import { seedFromProcess } from "../environment.ts";
import { CommandFailed } from "../failure.ts";
import { connect, inWords } from "../find-plane.ts";
import { withMovedPlane } from "../moved-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print } from "../with-plane.ts";

export const migrateOptions: readonly OptionDefinition[] = [
  {
    name: "from",
    type: "text",
    value: "PATH",
    commandLineOnly: true,
    help: "The data directory of a stopped `lifeboat up`, or a file of `lifeboat backup`",
  },
  {
    name: "to",
    type: "text",
    value: "FILE",
    commandLineOnly: true,
    help: "The kubeconfig of the kube-apiserver, after `lifeboat install` there",
  },
  { name: "context", type: "text", value: "NAME", help: "The context of that kubeconfig" },
  {
    name: "dry-run",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Print what would be done",
  },
  yesOption,
  ...encryptionOptions,
];

export function addMigrate(program: Command): void {
  const command = program
    .command("migrate")
    .description("Move a control plane of `lifeboat up` to a kube-apiserver; members see no write")
    .addHelpText(
      "after",
      `
It is refused while \`lifeboat up\` runs on the directory, or a manager leads on the target.
Interrupted at any moment it is completed by running it again.
Nothing is removed from any member until \`lifeboat brake release\`.`,
    );
  declareOptions(command, migrateOptions).action(async () => {
    await run(readSettings(command, migrateOptions));
  });
}

async function run(settings: Settings): Promise<void> {
  const from = resolve(settings.requiredText("from"));
  if (!existsSync(from))
    throw new CommandFailed(
      `there is no ${from}: name the data directory of a stopped \`lifeboat up\`, or a file that \`lifeboat backup\` wrote`,
    );
  const dataDirectory = statSync(from).isDirectory() ? from : undefined;
  const isDryRun = settings.isOn("dry-run");
  if (dataDirectory !== undefined) await refuseUsed(dataDirectory, isDryRun);
  const context = settings.text("context");
  await inWords(async () => {
    const access = await loadKubeconfig({
      paths: [settings.requiredText("to")],
      ...(context === undefined ? {} : { context }),
    }).catch((error: unknown) => {
      if (!(error instanceof KubeconfigError)) throw error;
      throw new CommandFailed(
        `${error.message}; name the kubeconfig of the kube-apiserver with --to`,
      );
    });
    const target = await connect(access);
    try {
      await withMovedPlane(from, settings, async (source) => {
        const plan = await planMigration(createRealClock(), source, target.client);
        show(plan);
        if (isDryRun || plan.mark?.phase === "Done") return;
        const { server } = access.cluster;
        if (!settings.isOn("yes")) await confirm(`They are moved to ${server}.`, "Go on?");
        if (dataDirectory !== undefined)
          markMoved(dataDirectory, { to: server, at: formatTime(createRealClock().now()) });
        await carryOut(target.client, plan);
      });
    } catch (error) {
      if (error instanceof MovingRefused) throw new CommandFailed(error.message);
      throw error;
    } finally {
      target.close();
    }
  });
}

async function carryOut(target: Client, plan: MigrationPlan): Promise<void> {
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    ids: createRealIds(),
    log: silentLog,
    metrics: silentMetrics,
  };
  const tell = (sentence: string): void => print([sentence]);
  await migrate(ports, target, plan, { identity: `migrate_${hostname()}`, tell });
  print([
    "moved: start `lifeboat manager` there now",
    ...(plan.pull.length === 0
      ? []
      : [`register the agents of these clusters with it: ${plan.pull.join(", ")}`]),
    "nothing is removed from members until: lifeboat brake release",
  ]);
}

async function refuseUsed(dataDirectory: string, isDryRun: boolean): Promise<void> {
  refuseHalfRestored(dataDirectory);
  const owner = isDryRun ? undefined : await ownerOfStore(storeDirectory(dataDirectory));
  if (owner !== undefined)
    throw new CommandFailed(`${dataDirectory} is in use by process ${owner.pid}: stop it first`);
}

function show({ moved, stays, mark, removes }: MigrationPlan): void {
  if (mark?.phase === "Done") {
    print(["everything was moved before: there is nothing to do"]);
    return;
  }
  const counts = new Map<string, number>();
  for (const { resource } of moved) counts.set(resource.kind, (counts.get(resource.kind) ?? 0) + 1);
  print([
    mark === undefined ? "What is moved:" : `What is moved, as was begun at ${mark.since}:`,
    ...[...counts].map(([kind, count]) => `  ${count} ${kind}`),
    ...(stays.length === 0 ? [] : ["What stays behind:"]),
    ...stays.map(({ kind, why, count }) => `  ${count} ${kind}: ${why}`),
    ...removes.map(({ object }) => `removed there: ${object.kind} ${object.metadata.name}`),
  ]);
}
