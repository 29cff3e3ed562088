/**
 * A client for one term of a leader: it sends writes only while the term is held.
 *
 * 1. A write after the end of the term fails with `NotSent` before anything leaves the process; reads and watches go on. So what is
 *    still running of a leader that lost its lease, or that was paused for longer than its lease, changes nothing.
 * 2. That holds for a write that waits for a connection, too: it bears its term (`CallOptions.term`), is given up when that ends, and
 *    asks it once more before it leaves, because a process that was paused hears from its sockets before its timers.
 * 3. Between that and the network card a process can still be paused: such a write names the version that it was decided on, and the
 *    server refuses it if another leader has changed the object since.
 */
import { type CallOptions, type Client, NotSent } from "./client.ts";
import type { Term } from "./term.ts";

export function fencedClient(client: Client, term: Term): Client {
  const ifHeld = async <O extends CallOptions, T>(
    given: O | undefined,
    write: (options: O & CallOptions) => Promise<T>,
  ): Promise<T> => {
    if (!term.isHeld()) throw new NotSent("this process does not lead any more");
    return write({ ...(given as O), term: within(term, given?.term) });
  };
  return {
    get: (...given) => client.get(...given),
    list: (...given) => client.list(...given),
    watch: (...given) => client.watch(...given),
    read: (...given) => client.read(...given),
    create: (resource, object, given) =>
      ifHeld(given, (options) => client.create(resource, object, options)),
    update: (resource, object, given) =>
      ifHeld(given, (options) => client.update(resource, object, options)),
    patch: (resource, key, patch, given) =>
      ifHeld(given, (options) => client.patch(resource, key, patch, options)),
    delete: (resource, key, given) =>
      ifHeld(given, (options) => client.delete(resource, key, options)),
    deleteCollection: (resource, given) =>
      ifHeld(given, (options) => client.deleteCollection(resource, options)),
  };
}

/** A term inside of another: both have to be held. Where the outer one ends first, a write is given up when it gets its connection. */
function within(inner: Term, outer: Term | undefined): Term {
  if (outer === undefined) return inner;
  return { isHeld: () => inner.isHeld() && outer.isHeld(), signal: inner.signal };
}
