/** Conditions as fields of a kind's status. */
import type { Condition } from "../../conditions/conditions.ts";
import {
  integer,
  keyedList,
  longInteger,
  object,
  optional,
  type Shape,
  text,
  time,
  withDefault,
} from "../builder/shape.ts";

const STATUS = "True, False or Unknown.";

/** The conditions of a kind whose conditions only we write. */
export function conditions(description: string): Shape<readonly Condition[]> {
  return conditionList(description, {
    reason: text("Why, as one word in CamelCase."),
    message: text("Why, for people."),
    lastTransitionTime: time("When the status last changed."),
  });
}

/**
 * The conditions of a kind to which other clients add theirs: only type and status must be there, and what is missing
 * is filled in, so that readers find every field.
 */
export function sharedConditions(description: string): Shape<readonly Condition[]> {
  return conditionList(description, {
    reason: withDefault(text("Why, as one word in CamelCase; may be empty."), ""),
    message: withDefault(text("Why, for people; may be empty."), ""),
    lastTransitionTime: withDefault(
      time("When the status last changed; 1970-01-01T00:00:00Z when unknown."),
      "1970-01-01T00:00:00Z",
    ),
  });
}

function conditionList(
  description: string,
  rest: Readonly<Record<"reason" | "message" | "lastTransitionTime", Shape<string>>>,
): Shape<readonly Condition[]> {
  const condition = object("What is known about one aspect of the object.", {
    type: text("Which aspect, such as Ready.", { minLength: 1 }),
    status: text(STATUS),
    observedGeneration: optional(
      longInteger("The metadata.generation this was derived from.", { minimum: 0 }),
    ),
    ...rest,
  });
  return keyedList(description, "type", condition) as unknown as Shape<readonly Condition[]>;
}

/** The generation of the spec that a status speaks of. */
export const observedGeneration = longInteger("The metadata.generation this status speaks of.");

/** How many of something. */
export function count(description: string): Shape<number> {
  return integer(description, { minimum: 0 });
}
