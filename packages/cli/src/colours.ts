/** Colours: on a terminal alone, and not where `NO_COLOR` is set (https://no-color.org). */
export function hasColours(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && (environment["NO_COLOR"] ?? "") === "";
}

const CODES = { red: 31, green: 32, yellow: 33 } as const;

export type Colour = keyof typeof CODES;

/** A word that is to be seen first; without a colour it is neither good nor bad. */
export function bold(colour: Colour | undefined, word: string): string {
  return `\u001b[1m${colour === undefined ? `${word}\u001b[0m` : coloured(colour, word)}`;
}

export function coloured(colour: Colour, word: string): string {
  return `\u001b[${CODES[colour]}m${word}\u001b[0m`;
}
