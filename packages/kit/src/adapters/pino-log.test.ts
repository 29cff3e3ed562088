import { InvariantError } from "@lifeboat/base";
import { expect, test } from "vitest";
import { createPinoLog, type LogLevel } from "./pino-log.ts";

function capture(level: LogLevel) {
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write: (text: string) => {
      lines.push(JSON.parse(text) as Record<string, unknown>);
    },
  };
  return { lines, log: createPinoLog({ level, destination }) };
}

test("a line holds the message, the fields, and the fields of the parents", () => {
  const { lines, log } = capture("info");
  log.child({ controller: "taints" }).child({ key: "a/b" }).info("tainting", { count: 2 });
  expect(lines).toMatchObject([
    { level: "info", msg: "tainting", controller: "taints", key: "a/b", count: 2 },
  ]);
});

test("lines below the level are not written", () => {
  const { lines, log } = capture("warn");
  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");
  expect(lines.map((line) => line["msg"])).toEqual(["c", "d"]);
});

test("an error is written with its name, its causes and the fields of an invariant", () => {
  const { lines, log } = capture("info");
  const inner = new InvariantError("counts differ", { want: 1 });
  log.error("reconciling", { failure: new Error("outer", { cause: inner }) });
  expect(lines[0]?.["failure"]).toMatchObject({
    type: "Error",
    message: "outer",
    cause: { type: "InvariantError", message: "counts differ", fields: { want: 1 } },
  });
});

test("causes in a circle end", () => {
  const { lines, log } = capture("info");
  const error = new Error("round");
  error.cause = error;
  log.error("circle", { error });
  expect(lines).toHaveLength(1);
});
