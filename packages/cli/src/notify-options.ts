/**
 * The flags of notices: where they are sent, as what, and which. Off without `--notify-url` or `--notify-url-file`.
 *
 * The URL of a webhook is a secret more often than not, so it can stand in a file, and nothing that is printed, logged or published
 * shows more of it than its host.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isJsonObject, type Json } from "@lifeboat/api";
import { deliverToWebhook } from "@lifeboat/controllers/adapters";
import type { NotificationOptions } from "@lifeboat/controllers/operating";
import {
  NOTICE_EVENTS,
  type NoticeEvent,
  TEMPLATE_FIELDS,
  TEMPLATES,
  unknownField,
} from "@lifeboat/core/notifications";
import { type ControllersOptions, runsController } from "@lifeboat/plane";
import { UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Settings } from "./settings.ts";
import { version } from "./version.ts";

const FORMATS = Object.keys(TEMPLATES) as readonly (keyof typeof TEMPLATES)[];
const EVENTS = NOTICE_EVENTS.filter((event) => event !== "Test");

export const notifyOptions: readonly OptionDefinition[] = [
  {
    name: "notify-url",
    type: "text",
    value: "URL",
    help: "Send notices of failed clusters, evacuations and waiting decisions there by POST; absent: nowhere",
  },
  {
    name: "notify-url-file",
    type: "text",
    value: "FILE",
    help: "The same from a file, for webhooks whose URL is a secret",
  },
  {
    name: "notify-token-file",
    type: "text",
    value: "FILE",
    help: "A bearer token for it, read again for each notice",
  },
  {
    name: "notify-format",
    type: "text",
    value: "FORMAT",
    default: "json",
    help: `What is sent: ${FORMATS.join(", ")}`,
  },
  {
    name: "notify-template",
    type: "text",
    value: "FILE",
    help: "Send this JSON document instead, with {{fields}} in its texts (docs/how-to/notifications.md)",
  },
  {
    name: "notify-on",
    type: "text",
    value: "EVENTS",
    default: "*",
    help: `Which notices: * or some of ${EVENTS.join(", ")}`,
  },
  {
    name: "notify-name",
    type: "text",
    value: "NAME",
    help: "The name of this control plane in notices; default the host's",
  },
];

/** The options of the controllers, with the notices that the flags ask for. */
export function withNotices(
  controllers: ControllersOptions,
  settings: Settings,
): ControllersOptions {
  const notifications = notifyFrom(settings);
  if (notifications === undefined) return controllers;
  if (!runsController("history", controllers.controllers))
    throw new UsageError(
      "--notify-url needs the controller history, which --controllers leaves out: notices come from the history",
    );
  return { ...controllers, notifications };
}

/** What the flags ask for; undefined: no notices. Throws UsageError on a value that is not valid. */
export function notifyFrom(settings: Settings): NotificationOptions | undefined {
  const url = urlFrom(settings);
  if (url === undefined) {
    const lone = ["notify-token-file", "notify-template", "notify-name"].find(
      (name) => settings.text(name) !== undefined,
    );
    if (lone !== undefined)
      throw new UsageError(`--${lone} does nothing without --notify-url or --notify-url-file`);
    return undefined;
  }
  const tokenFile = settings.text("notify-token-file");
  if (tokenFile !== undefined) readText(tokenFile, "notify-token-file");
  const own = settings.text("notify-template");
  const format = formatFrom(settings.requiredText("notify-format"));
  return {
    deliver: deliverToWebhook({
      url,
      userAgent: `lifeboat/${version}`,
      ...(tokenFile === undefined ? {} : { token: () => readText(tokenFile, "notify-token-file") }),
    }),
    destination: `${own === undefined ? format : "a template"} to ${url.host}`,
    template: own === undefined ? TEMPLATES[format] : templateFrom(own),
    events: eventsFrom(settings.requiredText("notify-on")),
    plane: settings.text("notify-name") ?? hostname(),
  };
}

function urlFrom(settings: Settings): URL | undefined {
  const given = settings.text("notify-url");
  const file = settings.text("notify-url-file");
  if (given !== undefined && file !== undefined)
    throw new UsageError("--notify-url and --notify-url-file name two receivers: give one of them");
  const text = file === undefined ? given : readText(file, "notify-url-file");
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const flag = file === undefined ? "--notify-url" : `--notify-url-file ${file}`;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    // The text itself is not repeated: it may be a secret with a typing mistake.
    throw new UsageError(`${flag}: an http or https URL is needed`);
  if (url.username !== "" || url.password !== "")
    throw new UsageError(`${flag}: a URL cannot hold a password here: use --notify-token-file`);
  return url;
}

function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--${flag} ${path} cannot be read: ${why}`);
  }
}

function formatFrom(text: string): (typeof FORMATS)[number] {
  const format = FORMATS.find((one) => one === text);
  if (format === undefined)
    throw new UsageError(
      `--notify-format: "${text}" is not valid: one of ${FORMATS.join(", ")} is needed`,
    );
  return format;
}

function templateFrom(path: string): Json {
  let template: Json;
  try {
    template = JSON.parse(readText(path, "notify-template")) as Json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`--notify-template ${path} is not JSON: ${error.message}`);
  }
  if (!isJsonObject(template) && !Array.isArray(template))
    throw new UsageError(`--notify-template ${path} must hold a JSON object or a list`);
  const unknown = unknownField(template);
  if (unknown !== undefined)
    throw new UsageError(
      `--notify-template ${path}: there is no field "${unknown}"; known are ${TEMPLATE_FIELDS.join(", ")}`,
    );
  return template;
}

function eventsFrom(text: string): ReadonlySet<NoticeEvent> {
  if (text.trim() === "*") return new Set(EVENTS);
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return new Set(
    names.map((name) => {
      const event = EVENTS.find((one) => one === name);
      if (event === undefined)
        throw new UsageError(
          `--notify-on: there is no event "${name}"; known are ${EVENTS.join(", ")}, and *`,
        );
      return event;
    }),
  );
}
