/** Tables as terminals show them: columns by three spaces, an empty cell as a space, nothing at the end of a line. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length)),
  );
  const format = (line: readonly string[]): string =>
    head
      .map((_, column) => (line[column] ?? "").padEnd(widths[column] ?? 0))
      .join("   ")
      .trimEnd();
  return lines.map((line) => `${format(line)}\n`).join("");
}
