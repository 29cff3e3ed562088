/**
 * `lifeboat notifications`: what was sent to the webhook of `--notify-url`, and what became of it. `notifications test` sends one notice
 * from here, with the same flags, before a control plane is started with them.
 */
import { formatTime } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { readNotifications, readSettings as readPublished } from "@lifeboat/controllers/operating";
import { answerText, outcomeOf, renderNotice, testNotice } from "@lifeboat/core/notifications";
import type { Command } from "commander";
import { CommandFailed, UsageError } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import { deliveryLines } from "../notifications-text.ts";
import { notifyFrom, notifyOptions } from "../notify-options.ts";
import type { OptionDefinition } from "../options.ts";
import { outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { tell } from "../tell.ts";

export const notificationsOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  outputOption(["text"]),
];

export const notificationsTestOptions: readonly OptionDefinition[] = [
  ...notifyOptions,
  {
    name: "dry-run",
    type: "switch",
    commandLineOnly: true,
    narrows: true,
    help: "Print what would be sent",
  },
];

export function addNotifications(program: Command): void {
  const notifications = program
    .command("notifications")
    .description("Show what was sent to the webhook of --notify-url, and what became of it");
  const list = notifications
    .command("list", { isDefault: true })
    .description("Show the last deliveries, oldest first");
  declareOptions(list, notificationsOptions).action(() => {
    const settings = readSettings(list, notificationsOptions);
    const output = outputFrom(settings, ["text"]);
    return withPlane(settings, async (plane) => {
      const destination = (await readPublished(plane))?.["notify"];
      const { deliveries } = await readNotifications(plane);
      if (output.kind === "form" && deliveries.length === 0) {
        const hint = destination === undefined ? OFF : `nothing was sent yet to ${destination}`;
        tell(hint, "");
        return;
      }
      show(
        output,
        () => deliveryLines(deliveries),
        () => ({
          destination,
          deliveries: deliveries.map((one) => ({ ...one, at: formatTime(one.at) })),
        }),
      );
    });
  });
  const test = notifications.command("test").description("Send one notice with these flags");
  declareOptions(test, notificationsTestOptions).action(() =>
    sendTest(readSettings(test, notificationsTestOptions)),
  );
}

const OFF = "notices are off: start the control plane with --notify-url";

/** How long the receiver may take. */
const LIMIT_MS = 10_000;

async function sendTest(settings: Settings): Promise<void> {
  const asked = notifyFrom(settings);
  if (asked === undefined) throw new UsageError("--notify-url or --notify-url-file is needed");
  const clock = createRealClock();
  const notice = testNotice(clock.now());
  const document = renderNotice(asked.template, notice, asked.plane);
  if (settings.isOn("dry-run")) {
    print([JSON.stringify(document, null, 2)]);
    return;
  }
  const signal = AbortSignal.timeout(LIMIT_MS);
  const answer = await asked.deliver(JSON.stringify(document), notice.id, signal);
  const now = clock.now();
  if (outcomeOf(answer, 1, now, now) !== "Delivered") {
    const why = signal.aborted ? `no answer within ${LIMIT_MS / 1000} s` : answerText(answer);
    throw new CommandFailed(
      `the notice was not delivered (${asked.destination}): ${why}; check the URL, the token and --notify-format`,
    );
  }
  print([`delivered: ${asked.destination}`]);
}
