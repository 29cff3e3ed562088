/**
 * Words that comments and messages do not use for objects and controllers: a sentence names its subject, and a verb of Kubernetes.
 *
 * 1. A comment is read as one text, whatever its lines, so that a phrase which a line break divides is found.
 * 2. What stands in backticks is code. A person may be a "who", and may say or tell: the noun stands right before the word.
 * 3. A string that holds a space is a message, read without what stands in backticks and without what is put in.
 * 4. A sentence that needs such a word all the same is in `ALLOWED`, as it stands.
 */
import { parseSync, Visitor } from "oxc-parser";

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

/** Text without any of these has none of the above, and need not be parsed. */
const PARTS =
  /\b(?:who|whom|whoever|(?:some|any|every|no)body|someone|anew|says?|said|tells?|told|look(?:s|ed)?|word)\b/i;

const PERSON =
  /\b(?:person|people|readers?|users?|operators?|administrators?),? (?:has |have |may |must |can )?(?:whom?|say|says|said|tells?|told|looks? at)\b/gi;

/** Sentences in which a person is meant and not named right before the word. */
const ALLOWED: ReadonlySet<string> = new Set([]);

export interface Unclear {
  /** Where the comment or message begins. */
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
  return unclearIn(commentsOf(file, text), text, allowed);
}

/** The uses of such words in what a TypeScript file writes for people: messages, help, descriptions of fields. */
export function unclearMessages(
  file: string,
  text: string,
  allowed: ReadonlySet<string> = ALLOWED,
): readonly Unclear[] {
  return unclearIn(messagesOf(file, text), text, allowed);
}

function unclearIn(
  passages: readonly Passage[],
  text: string,
  allowed: ReadonlySet<string>,
): readonly Unclear[] {
  return passages.flatMap(({ words, start }) =>
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

interface Passage {
  /** In one line. */
  readonly words: string;
  readonly start: number;
}

interface Comment extends Passage {
  readonly end: number;
}

const INSERTED = "…";

function messagesOf(file: string, text: string): readonly Passage[] {
  if (!PARTS.test(text)) return [];
  const parsed = parseSync(file, text);
  // The tree of most files need not be built: such words stand in their comments, or `anew` in their code.
  let rest = text;
  for (const { start, end } of parsed.comments)
    rest = rest.slice(0, start) + " ".repeat(end - start) + rest.slice(end);
  if (!PARTS.test(rest.replaceAll(/(?:\.\.\.|[{,]\s*)anew\b/g, ""))) return [];
  const messages: Passage[] = [];
  const add = (words: string, start: number): void => {
    if (/\s/.test(words.trim()))
      messages.push({ words: words.replaceAll(/\s+/g, " ").trim(), start });
  };
  new Visitor({
    Literal({ value, start }) {
      if (typeof value === "string") add(value, start);
    },
    TemplateLiteral({ quasis, start }) {
      add(quasis.map(({ value }) => value.cooked ?? value.raw).join(INSERTED), start);
    },
  }).visit(parsed.program);
  return messages;
}

/** Comments without their marks, each in one line; line comments that follow each other are one. */
function commentsOf(file: string, text: string): readonly Comment[] {
  if (!PARTS.test(text)) return [];
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
