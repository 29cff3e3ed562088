/**
 * Where a template came from: the uid and the generation that it had on another API server.
 *
 * Copies in members bear the uid and the generation of their template. An API server gives every object that it creates a new uid, and
 * counts its generations from one. So a template that was moved bears the annotation `lifeboat.dev/origin`, and its copies are rendered
 * as before: nothing is written in members because a template was moved.
 *
 * 1. The generation goes on from the one it had: the first edit on the new server is one more.
 * 2. An annotation that cannot be read counts as none. Copies then get the new uid, which is right too.
 * 3. Kinds without generations have none here either.
 * 4. The annotation itself reaches no member, and is no change of the template.
 */
import { countAt, type Fields, integerAt, isFields, textAt } from "./fields.ts";
import { ORIGIN } from "./well-known.ts";

export interface Origin {
  readonly uid: string;
  /** 0 for kinds whose generations are not counted. */
  readonly generation: number;
}

/** What an object has on the API server that it is read from, or had on the one before. */
export function renderedIdentity(object: Fields): Origin {
  const uid = textAt(object, "metadata", "uid");
  const generation = countAt(object, "metadata", "generation");
  const origin = originOf(object);
  if (origin === undefined) return { uid, generation };
  // Generations begin with one where the object was created.
  const since = origin.generation === 0 ? 0 : Math.max(0, generation - 1);
  return { uid: origin.uid, generation: origin.generation + since };
}

/** Undefined: the object bears no origin, or one that cannot be read. */
export function originOf(object: object): Origin | undefined {
  const text = textAt(object, "metadata", "annotations", ORIGIN);
  if (text === "" || text.length > MAX_LENGTH) return undefined;
  const parsed = parsedOf(text);
  const uid = textAt(parsed, "uid");
  const generation = integerAt(parsed, "generation");
  if (!UID.test(uid) || generation === undefined || generation < 0) return undefined;
  return { uid, generation };
}

/** The value of the annotation. */
export function formatOrigin({ uid, generation }: Origin): string {
  return JSON.stringify({ uid, generation });
}

const MAX_LENGTH = 200;
const UID = /^[A-Za-z0-9-]{1,64}$/;

function parsedOf(text: string): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isFields(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
