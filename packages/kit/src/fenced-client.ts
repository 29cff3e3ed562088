/**
 * A client for one term of a leader: it sends writes only while the term is held.
 *
 * A write after the end of the term fails with `NotSent` before anything leaves the process; reads and watches go on. So
 * what is still running of a leader that lost its lease, or that was paused for longer than its lease, changes nothing.
 * Between this check and the network card a process can still be paused: such a write names the version that it was
 * decided on, and the server refuses it if another leader has changed the object since.
 */
import { type Client, NotSent } from "./client.ts";
import type { Term } from "./leader-election.ts";

export function fencedClient(client: Client, term: Term): Client {
  const ifHeld = async <T>(write: () => Promise<T>): Promise<T> => {
    if (!term.isHeld()) throw new NotSent("this process does not lead any more");
    return write();
  };
  return {
    get: (...given) => client.get(...given),
    list: (...given) => client.list(...given),
    watch: (...given) => client.watch(...given),
    read: (...given) => client.read(...given),
    create: (...given) => ifHeld(() => client.create(...given)),
    update: (...given) => ifHeld(() => client.update(...given)),
    patch: (...given) => ifHeld(() => client.patch(...given)),
    delete: (...given) => ifHeld(() => client.delete(...given)),
    deleteCollection: (...given) => ifHeld(() => client.deleteCollection(...given)),
  };
}
