/** What a call was refused with. */
import { Refused, type Status } from "@lifeboat/api";

/** The Status of a refused call; throws when the call succeeded or failed in another way. */
export async function refusalOf(call: Promise<unknown>): Promise<Status> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Refused) return error.status;
  throw new Error("the call was not refused", { cause: error });
}
