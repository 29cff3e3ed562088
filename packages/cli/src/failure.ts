/** Errors meant for the person at the terminal. Anything else that reaches `main` is a bug and shows its stack. */

/** The command was called wrongly: exit code 2. The message says what is wrong, where, and what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command was right and could not be carried out: exit code 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}
