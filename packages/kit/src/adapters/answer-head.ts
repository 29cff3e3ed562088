/** The head of an HTTP/1.1 answer after which the connection speaks another protocol, for writing it by hand. */
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";

/** Throws where a header cannot be sent. */
export function answerHead(
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>>,
): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`];
  for (const [name, values] of Object.entries(headers)) {
    validateHeaderName(name);
    for (const value of typeof values === "string" ? [values] : values) {
      validateHeaderValue(name, value);
      lines.push(`${name}: ${value}`);
    }
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}
