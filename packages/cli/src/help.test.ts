import { Command } from "commander";
import { expect, it } from "vitest";
import { upOptions } from "./commands/up.ts";
import { helpFormat } from "./help.ts";
import { declareOptions } from "./settings.ts";
import { WIDTH } from "./wrap.ts";

it("help stays within the width, however long the names of flags are", () => {
  const program = new Command("lifeboat").configureHelp(helpFormat);
  const text = declareOptions(program.command("up"), upOptions).helpInformation();
  expect(text).toContain("\n  --data-dir <DIR>\n      Where everything is kept;");
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(WIDTH);
});
