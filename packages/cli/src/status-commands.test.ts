/** Every command that the page of `lifeboat status` tells a person to run is one that this program has. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "./main.ts";

const source = readFileSync(new URL("../../core/src/operating/waits.ts", import.meta.url), "utf8");
/** As they are written there: `lifeboat fence ${name}`. */
const commands = [...source.matchAll(/["`]lifeboat ([^"`]+)["`]/g)].map(([, text = ""]) => text);

/** What is wrong with a command; undefined: nothing. */
function problemOf(text: string): string | undefined {
  let command: Command = createProgram();
  let values = 0;
  for (const word of text.replace(/\$\{where\}/, "").split(" ")) {
    const sub = command.commands.find((one) => one.name() === word);
    if (word.startsWith("-")) {
      if (!command.options.some(({ long }) => long === word)) return `no option ${word}`;
    } else if (word.includes("${")) values += 1;
    else if (sub === undefined) return `no command ${word}`;
    else command = sub;
  }
  const wanted = command.registeredArguments.filter(({ required }) => required).length;
  return values < wanted || values > command.registeredArguments.length
    ? `${values} arguments of ${wanted}`
    : undefined;
}

it("there are some", () => {
  expect(commands.length).toBeGreaterThan(8);
});

it.each(commands)("lifeboat %s", (text) => {
  expect(problemOf(text)).toBeUndefined();
});

it.each(["fense ${name}", "fence", "unjoin ${name} --hard", "brake undo"])(
  "lifeboat %s would be found",
  (text) => {
    expect(problemOf(text)).toBeDefined();
  },
);
