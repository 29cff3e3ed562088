/** Every `lifeboat` command that a page shows exists, with the flags that it shows: also those that no test runs. So do the words by which a symptom is found. */
import { expect, it } from "vitest";
import { createProgram } from "../packages/cli/src/main.ts";
import { listFiles, readText } from "./repository.ts";

type Command = ReturnType<typeof createProgram>;

const PAGES =
  /^(README|CHANGELOG|docs\/(?!decisions\/|promises|architecture).*|packages\/cli\/README)\.md$/;
const program = createProgram();

/** The commands of a page: lines of blocks, and inline code that begins with the name of the program. */
function commandsOf(page: string): readonly string[] {
  const blocks = [...page.matchAll(/```[a-z]*\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
    block.split("\n"),
  );
  const inline = [...page.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
  return [...blocks, ...inline].flatMap((line) => {
    const found = /^(?:\$ )?(?:npx )?lifeboat (.+)$/.exec(line.trim());
    return found?.[1] === undefined ? [] : [found[1]];
  });
}

/** What is wrong with a command line; undefined: nothing. */
function problemOf(line: string): string | undefined {
  // What a shell does with it, and what stands for something else.
  const [call = ""] = line.split(/ [&|>#]| -- |;/);
  const words = call.split(/\s+/).filter((word) => word !== "");
  let command: Command = program;
  while (words.length > 0) {
    const verbs = (words[0] ?? "").split(/\\?\|/);
    const next = verbs.map((verb) => command.commands.find((one) => one.name() === verb));
    if (next.some((one) => one === undefined)) break;
    command = next[0] as Command;
    words.shift();
  }
  if (command === program && /^[a-z]/.test(words[0] ?? "")) return `no command ${words[0]}`;
  // A word after a group is a verb of it, also one in capitals: a name of an object has no place there.
  const isGroup = command !== program && command.registeredArguments.length === 0;
  if (isGroup && command.commands.length > 0 && /^[a-z]/i.test(words[0] ?? ""))
    return `${command.name()} has no ${words[0]}`;
  const known = new Set([
    "--help",
    "-h",
    "--version",
    ...command.options.flatMap(({ long, short }) => [long, short]),
  ]);
  const flags = words
    .map((word) => /^\[?(--?[a-z][a-z-]*)/i.exec(word)?.[1])
    .filter((flag) => flag !== undefined);
  return flags.find((flag) => !known.has(flag));
}

it.each(listFiles().filter((file) => PAGES.test(file)))(
  "%s shows only commands that exist",
  (file) => {
    const wrong = commandsOf(readText(file)).flatMap((line) => {
      const problem = problemOf(line);
      return problem === undefined ? [] : [`lifeboat ${line}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  },
);

it("finds what is wrong", () => {
  expect(problemOf("simulate --fail m1 --every")).toBeUndefined();
  expect(problemOf("evacuations pause|resume NAME")).toBeUndefined();
  expect(problemOf("simulat --fail m1")).toBe("no command simulat");
  expect(problemOf("simulate --fails m1")).toBe("--fails");
  expect(problemOf("evacuations paus NAME")).toBe("evacuations has no paus");
  expect(problemOf("taint NAME KEY-")).toBe("taint has no NAME");
  expect(problemOf("taint clusters NAME KEY-")).toBeUndefined();
});

it("docs/troubleshooting.md finds symptoms by words that the code has", () => {
  const sources = listFiles()
    .filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file) && !file.includes(".test."))
    .map(readText)
    .join("\n");
  const words = [...readText("docs/troubleshooting.md").matchAll(/`([A-Z][a-z]+[A-Z]\w+)`/g)];
  const unknown = words
    .map(([, word = ""]) => word)
    .filter((word) => !new RegExp(`\\b${word}\\b`).test(sources));
  expect(words.length).toBeGreaterThan(20);
  expect(unknown).toEqual([]);
});
