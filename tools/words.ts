/**
 * Words that comments do not use for objects and controllers: a comment names its subject, and a verb of Kubernetes.
 *
 * 1. A comment is read as one text, whatever its lines, so that a phrase which a line break divides is found.
 * 2. What stands in backticks is code. A person may be a "who", and may say or tell: the noun stands right before the word.
 * 3. A sentence that needs such a word all the same is in `ALLOWED`, as it stands.
 */
import { parseSync } from "oxc-parser";

/** Each with what to write instead. */
const WORDS: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\b(?:who|whom|whoever)\b/gi, "name the object or the controller"],
  [
    /\b(?:somebody|someone|anybody|everybody)\b/gi,
    "name it: `another writer`, `a client`, `every binding`",
  ],
  [/\bnobody\b/gi, "name what there is none of: `no controller`, `no workload`"],
  [/\banew\b/gi, "write `again`"],
  [/\b(?:say|says|said)\b/gi, "an object sets, has, reports or names; a message states"],
  [/\b(?:tell|tells|told)\b/gi, "a controller reports; a property distinguishes"],
  [/\blook(?:s|ed)? at\b/gi, "a controller reads, checks or reconciles"],
  [/\b(?:leaves? word|no word (?:about|of))\b/gi, "name what is written"],
];

const PERSON =
  /\b(?:person|people|readers?|users?|operators?|administrators?),? (?:has |have |may |must |can )?(?:whom?|say|says|said|tells?|told|looks? at)\b/gi;

/** Sentences in which a person is meant and not named right before the word. */
const ALLOWED: ReadonlySet<string> = new Set([]);

export interface Unclear {
  /** Where the comment begins. */
  readonly line: number;
  readonly word: string;
  readonly instead: string;
  readonly sentence: string;
}

/** The uses of such words in the comments of a TypeScript file. */
export function unclearWords(
  file: string,
  text: string,
  allowed: ReadonlySet<string> = ALLOWED,
): readonly Unclear[] {
  return commentsOf(file, text).flatMap(({ words, start }) =>
    words
      .split(/(?<=[.:;?!]) /)
      .filter((sentence) => !allowed.has(sentence))
      .flatMap((sentence) => {
        const judged = sentence.replaceAll(/`[^`]*`/g, "").replaceAll(PERSON, "");
        const line = text.slice(0, start).split("\n").length;
        return WORDS.flatMap(([pattern, instead]) =>
          [...judged.matchAll(pattern)].map(([word]) => ({ line, word, instead, sentence })),
        );
      }),
  );
}

interface Comment {
  readonly words: string;
  readonly start: number;
  readonly end: number;
}

/** Comments without their marks, each in one line; line comments that follow each other are one. */
function commentsOf(file: string, text: string): readonly Comment[] {
  const comments: Comment[] = [];
  for (const { type, value, start, end } of parseSync(file, text).comments) {
    const words = value
      .replaceAll(/^\s*\*/gm, "")
      .replaceAll(/\s+/g, " ")
      .trim();
    const before = comments.at(-1);
    const goesOn = type === "Line" && /^\n[ \t]*$/.test(text.slice(before?.end ?? start, start));
    if (before === undefined || !goesOn) comments.push({ words, start, end });
    else comments.splice(-1, 1, { ...before, words: `${before.words} ${words}`, end });
  }
  return comments;
}
