/** Cuts the text of a label selector into words, signs and what is neither. */

export interface Token {
  readonly kind: "word" | "sign" | "end";
  readonly text: string;
}

const SIGNS: readonly string[] = [")", ",", "!", "==", "=", ">", "<", "!=", "("];

/** The tokens of a selector, closed by one of kind `end`. Where a token could begin, a NUL character ends the text. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const sign = text.charAt(at);
    if (isSpace(sign)) {
      at += 1;
    } else if (isSign(sign)) {
      const found = longestSign(text, at);
      tokens.push({ kind: "sign", text: found });
      at = skipNul(text, at + found.length);
    } else if (sign === "\0") {
      break;
    } else {
      const end = endOfWord(text, at);
      tokens.push({ kind: "word", text: text.slice(at, end) });
      at = skipNul(text, end);
    }
  }
  tokens.push({ kind: "end", text: "" });
  return tokens;
}

/** Every single sign is a token, so the longest match has one or two characters. */
function longestSign(text: string, at: number): string {
  const two = text.slice(at, at + 2);
  return SIGNS.includes(two) ? two : text.charAt(at);
}

/** Go's reader swallows a NUL that follows a token. */
function skipNul(text: string, at: number): number {
  return text[at] === "\0" ? at + 1 : at;
}

function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !isSign(text.charAt(at)) && !isSpace(text.charAt(at))) {
    if (text[at] === "\0") break;
    at += 1;
  }
  return at;
}

function isSpace(sign: string): boolean {
  return sign === " " || sign === "\t" || sign === "\r" || sign === "\n";
}

function isSign(sign: string): boolean {
  return "=!(),><".includes(sign);
}
