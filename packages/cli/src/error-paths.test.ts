/**
 * Every error path of every command, from the program itself, so a new command is in the table at once: what is wrong and what to do in
 * one sentence, no stack, the documented exit code (2 called wrongly, 1 could not be carried out), 80 columns of help.
 */
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  argumentsOf,
  call,
  directory,
  documentedCodes,
  expectSentence,
  kubeconfig,
  named,
  NEEDED,
  run,
  sentenceOf,
  speaking,
  WORDS,
} from "./error-paths.suite.ts";
import { createProgram } from "./main.ts";
import { WIDTH } from "./wrap.ts";

describe("called wrongly", () => {
  it.each(named)("%s: an option that there is not", async (_name, { words }) => {
    const ended = await run(...words, "--no-such-option");
    expectSentence(ended, 2);
    expect(sentenceOf(ended)).toContain("--no-such-option");
    expect(sentenceOf(ended)).toContain("--help");
  });

  it.each(named.filter(([, leaf]) => argumentsOf(leaf).length > 0))(
    "%s: an argument is missing",
    async (_name, { words }) => {
      const ended = await run(...words);
      expectSentence(ended, 2);
      expect(sentenceOf(ended)).toMatch(/missing required argument|is needed/);
    },
  );

  const counted = named.filter(([, { command }]) =>
    command.registeredArguments.every(({ variadic }) => !variadic),
  );
  it.each(counted)("%s: an argument too many", async (_name, leaf) => {
    const all = leaf.command.registeredArguments.map(
      (argument) => argument.argChoices?.[0] ?? WORDS[argument.name()] ?? "member1",
    );
    const ended = await run(...leaf.words, ...all, "one-too-many");
    expectSentence(ended, 2);
  });

  const valued = named.flatMap(([name, leaf]) =>
    leaf.command.options
      .filter(({ required, long, hidden }) => required && long !== "--config" && !hidden)
      .map(({ long }) => [name, long ?? "", leaf] as const),
  );
  it.each(valued)("%s %s: without its value", async (_name, long, leaf) => {
    const ended = await run(...leaf.words, ...argumentsOf(leaf), long);
    expectSentence(ended, 2);
    expect(sentenceOf(ended)).toContain(long);
  });

  it.each(
    named.filter(([, { command }]) => command.options.some(({ long }) => long === "--config")),
  )(
    "%s: a configuration file that is not there, is no mapping, or has a key that nothing reads",
    async (_name, leaf) => {
      const call = [...leaf.words, ...argumentsOf(leaf)];
      const list = join(directory, "list.yaml");
      const keys = join(directory, "keys.yaml");
      writeFileSync(list, "- 1\n");
      writeFileSync(keys, "no-such-key: 1\n");
      for (const file of ["/nowhere/config.yaml", list, keys]) {
        const ended = await run(...call, "--config", file);
        expectSentence(ended, 2);
      }
    },
  );

  it.each(
    named.filter(([, { command }]) => command.options.some(({ long }) => long === "--output")),
  )("%s: -o with a form that there is not", async (name, leaf) => {
    // The file that a kubeconfig is written to.
    if (name === "users add") return;
    const ended = await run(
      ...leaf.words,
      ...argumentsOf(leaf),
      ...(NEEDED[name] ?? []),
      "-o",
      "xml",
    );
    expectSentence(ended, 2);
    expect(sentenceOf(ended)).toMatch(/json/);
  });

  it("a verb that is nearly one is guessed", async () => {
    const ended = await run("statuss");
    expectSentence(ended, 2);
    expect(sentenceOf(ended)).toContain("status");
  });
});

describe("no control plane", () => {
  // What lies in the data directory is shown without one.
  it.each(speaking)("%s: nothing says where it is", async (name, leaf) => {
    const ended = await call(name, leaf);
    expectSentence(ended, 1);
    if (name === "join") return;
    expect(sentenceOf(ended)).toMatch(/lifeboat up|--kubeconfig/);
  });

  it.each(speaking)("%s: a kubeconfig that is none", async (name, leaf) => {
    const file = join(directory, "none.kubeconfig");
    writeFileSync(file, "a: [\n");
    expectSentence(await call(name, leaf, "--kubeconfig", file), 1);
  });

  it.each(speaking)("%s: a context that there is not", async (name, leaf) => {
    const file = kubeconfig("http://127.0.0.1:1");
    const ended = await call(name, leaf, "--kubeconfig", file, "--context", "nowhere");
    expectSentence(ended, 1);
  });

  it.each(speaking)("%s: nothing listens there", async (name, leaf) => {
    const ended = await call(name, leaf, "--kubeconfig", kubeconfig("http://127.0.0.1:1"));
    expectSentence(ended, 1);
    if (name === "join") return;
    const sentence = sentenceOf(ended);
    expect(sentence).toContain("http://127.0.0.1:1 (context prod) does not answer: ");
    expect(sentence).toMatch(/ECONNREFUSED.*is it running\? .*`lifeboat up`.*--kubeconfig/);
  });
});

describe("an API server that is something else", () => {
  let server: Server;
  let answer: RequestListener;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => server.closeAllConnections());
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const status =
    (code: number, message: string): RequestListener =>
    (_request, response) => {
      response.writeHead(code, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ apiVersion: "v1", kind: "Status", status: "Failure", code, message }),
      );
    };

  it.each(speaking)("%s: it is not a Lifeboat control plane", async (name, leaf) => {
    answer = status(404, "the server could not find the requested resource");
    const ended = await call(name, leaf, "--kubeconfig", kubeconfig(url));
    expectSentence(ended, 1);
    if (name === "join") return;
    expect(sentenceOf(ended)).toContain(`${url} (context prod) is not a Lifeboat control plane`);
    expect(sentenceOf(ended)).toContain("--context");
  });

  it.each(speaking)("%s: it refuses this user", async (name, leaf) => {
    answer = status(403, 'forbidden: User "x" cannot get path "/apis/lifeboat.dev/v1alpha1"');
    const ended = await call(name, leaf, "--kubeconfig", kubeconfig(url));
    expectSentence(ended, 1);
    if (name === "join") return;
    expect(sentenceOf(ended)).toContain("forbidden");
    expect(sentenceOf(ended)).toContain(
      "ask an administrator for a role that allows get of the path /apis/lifeboat.dev/v1alpha1",
    );
  });

  it.each(speaking)("%s: it does not know this user", async (name, leaf) => {
    answer = status(401, "Unauthorized");
    const ended = await call(name, leaf, "--kubeconfig", kubeconfig(url));
    expectSentence(ended, 1);
    if (name === "join") return;
    expect(sentenceOf(ended)).toMatch(/does not accept the credentials.*--kubeconfig/);
  });

  it.each(speaking)("%s: it breaks every connection", async (name, leaf) => {
    answer = (request) => request.socket.destroy();
    const ended = await call(name, leaf, "--kubeconfig", kubeconfig(url));
    expectSentence(ended, 1);
    if (name === "join") return;
    expect(sentenceOf(ended)).toContain("is it running?");
  });

  it.each(speaking)("%s: it answers with a page", async (name, leaf) => {
    answer = (_request, response) => {
      response.writeHead(502, { "content-type": "text/html" });
      response.end("<html>bad gateway</html>");
    };
    expectSentence(await call(name, leaf, "--kubeconfig", kubeconfig(url)), 1);
  });
});

describe("the exit codes of the documentation", () => {
  it("are those of every command, and those of commands that there are", () => {
    const codes = documentedCodes();
    expect(codes.map(({ code }) => code)).toEqual([0, 1, 2, 3, 4]);
    const verbs = codes.flatMap(({ of }) => of.map((one) => one.split(" ")[0]));
    expect(new Set(verbs)).toEqual(new Set(["status", "simulate", "plan"]));
    for (const { code, of } of codes) expect(of.length > 0, `${code}`).toBe(code > 2);
  });
});

describe("help", () => {
  const all = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(all)];
  it.each(all(createProgram()).map((one) => [one.name(), one] as const))(
    "of %s fits the width, and tells what the command does",
    (_name, command) => {
      expect(command.description()).not.toBe("");
      const text = command.helpInformation();
      for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(WIDTH);
    },
  );
});

describe("guard rails", () => {
  const words = ["yes", "force", "all", "undo", "overwrite"];
  it.each(named)("%s: no variable stands for what a person confirms", (_name, { command }) => {
    for (const { long = "", description } of command.options)
      if (words.includes(long.slice(2))) expect(description).not.toContain("[env:");
  });

  it.each(named.filter(([, { command }]) => command.options.some(({ long }) => long === "--yes")))(
    "%s: what asks can be tried first",
    (_name, { command }) => {
      const longs = command.options.map(({ long }) => long);
      expect(longs).toContain("--dry-run");
    },
  );
});
