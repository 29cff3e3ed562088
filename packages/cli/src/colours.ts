/** Colours: on a terminal alone, and not where `NO_COLOR` is set (https://no-color.org). */
export function hasColours(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && (environment["NO_COLOR"] ?? "") === "";
}

const CODES = { red: 31, green: 32, yellow: 33 } as const;

/** A word that is to be seen first. */
export function bold(colour: keyof typeof CODES, word: string): string {
  return `\u001b[1m\u001b[${CODES[colour]}m${word}\u001b[0m`;
}
