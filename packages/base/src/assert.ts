/** Thrown when the program itself is wrong. Nothing catches it but the outermost loop; it is never an answer to a user. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.fields = fields;
  }
}

/** States something that must hold. Assertions stay on in production. */
export function assert(
  condition: boolean,
  message: string,
  fields?: Readonly<Record<string, unknown>>,
): asserts condition {
  if (!condition) throw new InvariantError(message, fields);
}

/** Ends an exhaustive switch: reaching it is a bug, and the compiler reports it first. */
export function unreachable(value: never): never {
  throw new InvariantError("unexpected value", { value });
}
