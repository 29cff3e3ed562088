/** A command whose output nothing reads any more, as in `lifeboat … | head -1`, ends without a stack trace. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { lifeboatCommand } from "../support/lifeboat.ts";

it("a command ends in silence when its reader has gone", async () => {
  const child = spawn(lifeboatCommand, ["completion", "bash"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let problems = "";
  child.stderr.on("data", (chunk) => (problems += String(chunk)));
  const [code] = (await once(child, "close")) as [number | null];
  expect([code, problems]).toEqual([0, ""]);
});
