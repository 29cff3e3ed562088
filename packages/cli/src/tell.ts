/** What a command has to say beside its output: on standard error, so that what reads standard output is not disturbed. */
import { paragraphs, plain } from "./wrap.ts";

/** On a terminal within its width; elsewhere in one line each, as a log or a script takes them. */
export function tell(text: string, label = "lifeboat: "): void {
  const lines = process.stderr.isTTY
    ? paragraphs(label, text)
    : text.split("\n").map((line, i) => (i === 0 ? label : "") + plain(line));
  process.stderr.write(lines.map((line) => `${line}\n`).join(""));
}
