/**
 * Asks the real Kubernetes libraries every question in the given fixture files and writes the answers beside them.
 * A fixture is a JSON list of `{question, answer}`; to add a case, add its question and run this (see README.md).
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

interface Case {
  readonly question: unknown;
  readonly answer?: unknown;
}

function record(file: string): void {
  const cases = JSON.parse(readFileSync(file, "utf8")) as Case[];
  const strange = cases.findIndex((item) => item.question === undefined);
  if (strange >= 0) throw new Error(`${file}: case ${strange} has no question`);
  const input = cases.map((item) => `${JSON.stringify(item.question)}\n`).join("");
  const output = execFileSync("go", ["run", "."], {
    cwd: import.meta.dirname,
    input,
    maxBuffer: 1 << 28,
  });
  const answers = output.toString().trimEnd().split("\n");
  if (answers.length !== cases.length)
    throw new Error(`${file}: ${cases.length} questions, ${answers.length} answers`);
  const lines = cases.map(
    (item, i) => `{"question":${JSON.stringify(item.question)},"answer":${answers[i]}}`,
  );
  writeFileSync(file, `[\n${lines.join(",\n")}\n]\n`);
}

for (const file of process.argv.slice(2)) record(file);
