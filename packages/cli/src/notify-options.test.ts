/** The flags of notices: off by default, checked at start, and the URL is never repeated. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { instantOf } from "@lifeboat/base";
import { DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { afterAll, expect, it } from "vitest";
import { UsageError } from "./failure.ts";
import { notifyTexts } from "./notifications-text.ts";
import { notifyFrom, notifyOptions, withNotices } from "./notify-options.ts";
import { resolveOptions } from "./options.ts";
import { Settings } from "./settings.ts";

const directory = mkdtempSync(join(tmpdir(), "lifeboat-notify-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const SECRET = "https://hooks.slack.com/services/T0/B0/xyz";

function settings(flags: Readonly<Record<string, string>>): Settings {
  return new Settings(resolveOptions(notifyOptions, { flags, environment: {}, file: {} }));
}

function refusal(flags: Readonly<Record<string, string>>): string {
  try {
    withNotices(DEFAULT_CONTROLLERS, settings(flags));
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "";
}

it("nothing is sent unless a URL is given", () => {
  expect(notifyFrom(settings({}))).toBeUndefined();
  expect(withNotices(DEFAULT_CONTROLLERS, settings({})).notifications).toBeUndefined();
});

it("the URL comes from a flag or a file, and only its host is shown", () => {
  for (const flags of [
    { "notify-url": SECRET, "notify-format": "slack" },
    { "notify-url-file": file("url", `${SECRET}\n`), "notify-format": "slack" },
  ]) {
    const found = notifyFrom(settings(flags));
    expect(found?.destination).toBe("slack to hooks.slack.com");
    expect(JSON.stringify(found)).not.toContain("xyz");
  }
});

it.each([
  [{ "notify-url": "hooks.slack.com/secret" }, "--notify-url: an http or https URL is needed"],
  [{ "notify-url": "ftp://x/secret" }, "--notify-url: an http or https URL is needed"],
  [{ "notify-url": "https://u:secret@x/" }, "a URL cannot hold a password here"],
  [{ "notify-url": SECRET, "notify-url-file": "f" }, "name two receivers"],
  [{ "notify-url-file": "/nowhere/f" }, "--notify-url-file /nowhere/f cannot be read"],
  [
    { "notify-url": SECRET, "notify-format": "teams" },
    "one of json, slack, alertmanager is needed",
  ],
  [
    { "notify-url": SECRET, "notify-on": "Fire" },
    'there is no event "Fire"; known are ClusterFailed',
  ],
  [{ "notify-url": SECRET, "notify-template": file("t1", "{") }, "is not JSON"],
  [{ "notify-url": SECRET, "notify-template": file("t2", "3") }, "a JSON object or a list"],
  [
    { "notify-url": SECRET, "notify-template": file("t3", '{"a":"{{sumary}}"}') },
    'there is no field "sumary"; known are alert, at',
  ],
  [{ "notify-url": SECRET, "notify-token-file": "/nowhere/t" }, "cannot be read"],
  [{ "notify-name": "prod" }, "--notify-name does nothing without --notify-url"],
])("refused with what to do: %o", (flags, words) => {
  const message = refusal(flags);
  expect(message).toContain(words);
  expect(message).not.toContain("secret");
});

it("needs the history", () => {
  const controllers = { ...DEFAULT_CONTROLLERS, controllers: ["*", "-history"] };
  expect(() => withNotices(controllers, settings({ "notify-url": SECRET }))).toThrow(
    "needs the controller history",
  );
});

it("the status shows whether people are reached", () => {
  const now = instantOf(Date.UTC(2026, 0, 1, 12));
  const on = { notify: "slack to hooks.slack.com" };
  const notices = (outcome: "Delivered" | "Retry" | "Rejected") => ({
    record: undefined,
    deliveries: [
      {
        at: instantOf(now - 60_000),
        id: "history-1",
        event: "ClusterFailed" as const,
        summary: "m1 failed",
        outcome,
        attempts: 4,
        message: outcome === "Delivered" ? "" : "HTTP 404: no_service",
      },
    ],
  });
  expect(notifyTexts({}, undefined, now)).toEqual([]);
  expect(notifyTexts(on, undefined, now)).toEqual([
    "slack to hooks.slack.com; nothing was sent yet",
  ]);
  expect(notifyTexts(on, notices("Delivered"), now)[0]).toContain("the last one arrived 60s ago");
  expect(notifyTexts(on, notices("Retry"), now)[0]).toContain(
    "people are NOT reached: HTTP 404: no_service (attempt 4, 60s ago)",
  );
  expect(notifyTexts(on, notices("Rejected"), now)[0]).toContain("a notice was lost");
});
