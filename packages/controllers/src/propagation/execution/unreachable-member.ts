/** The Client of a member of which it is known that it cannot be reached: every call fails at once with the reason. */
import { type Client, NotSent } from "@lifeboat/kit";

/** A Client that reaches no server. */
export function unreachableMember(message: string): Client {
  const fail = (): Promise<never> => Promise.reject(new NotSent(message));
  return Object.freeze({
    get: fail,
    list: fail,
    create: fail,
    update: fail,
    patch: fail,
    delete: fail,
    deleteCollection: fail,
    read: fail,
    watch: (_resource, _options, sink) => {
      sink.end({ kind: "lost", error: new NotSent(message) });
      return { stop: () => undefined };
    },
  } satisfies Client);
}
