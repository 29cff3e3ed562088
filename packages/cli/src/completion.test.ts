/** The script is sourced by a real bash, which is then asked as a person would press Tab. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completedCommands, completionScript } from "./completion.ts";
import { createProgram } from "./main.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lifeboat-completion-"));
  writeFileSync(
    join(folder, "script"),
    completionScript("bash", completedCommands(createProgram())),
  );
  // Stands in for the command where the script asks for the names of clusters.
  writeFileSync(
    join(folder, "lifeboat"),
    "#!/bin/sh\necho cluster/eu-1\necho cluster/eu-2\necho cluster/us-1\n",
    {
      mode: 0o755,
    },
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What bash offers for the last word. */
function complete(...words: readonly string[]): readonly string[] {
  const quoted = ["lifeboat", ...words].map((word) => `'${word}'`).join(" ");
  const program = `set -u; source "$1/script"; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _lifeboat; printf '%s\\n' "\${COMPREPLY[@]:-}"`;
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
  return execFileSync("bash", ["--norc", "-c", program, "bash", folder], { env, cwd: folder })
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}

describe("in bash", () => {
  it.each([
    [["u"], ["up", "uninstall", "unjoin", "unregister", "users", "uncordon"]],
    [["backu"], ["backup"]],
    [
      ["evacuations", "re"],
      ["resume", "restore"],
    ],
    [["get", "--all-c"], ["--all-clusters"]],
    [["up", "--data"], ["--data-dir"]],
    [["up", "--data-dir", "somewhere", "--encryption"], ["--encryption-key-file"]],
    [["brake", "release", "--kube"], ["--kubeconfig"]],
    [
      ["drain", "eu"],
      ["eu-1", "eu-2"],
    ],
    [["cordon", "eu-1", "u"], ["us-1"]],
    [["completion", "nothing"], []],
    [["up", "--data-dir", "scr"], ["script"]],
    [["restore", "scr"], ["script"]],
  ])("lifeboat %j offers %j", (words, expected) => {
    expect(complete(...words)).toEqual(expected);
  });

  it("offers every verb", () => {
    const names = createProgram().commands.map((command) => command.name());
    expect(complete("")).toEqual(names);
  });

  it("offers no flag that is retired, and every other one of a verb", () => {
    const up = createProgram().commands.find((command) => command.name() === "up");
    const shown = (up?.options ?? []).filter(({ hidden }) => !hidden).map(({ long }) => long);
    expect(complete("up", "--")).toEqual([...shown, "--help"]);
  });
});

it("has a script for every shell, without a text that ends another", () => {
  const fish = completionScript("fish", completedCommands(createProgram()));
  expect(fish).toContain("complete -c lifeboat -f -n '__lifeboat_at evacuations' -a pause");
  for (const line of fish.split("\n")) expect((line.match(/(?<!\\)'/g) ?? []).length % 2).toBe(0);
  const zsh = completionScript("zsh", completedCommands(createProgram()));
  expect(zsh).toContain("bashcompinit");
});
