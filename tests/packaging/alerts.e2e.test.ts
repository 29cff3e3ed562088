/** The alert rules, read and evaluated by the real promtool. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { startProcess } from "../support/processes.ts";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

it.each([
  ["understood", ["check", "rules", file("../../deploy/alerts/lifeboat.rules.yaml")]],
  ["fire when they should, and not before", ["test", "rules", file("alerts.test.yaml")]],
])("the rules are %s", async (_what, args) => {
  const promtool = startProcess("promtool", args);
  expect(await promtool.ended, promtool.output()).toBe(0);
});
