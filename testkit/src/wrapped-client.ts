/** A client in the place of another, to let some of its calls go otherwise. */
import type { Client } from "@lifeboat/kit";

/** Passes every call on to `client`, but for those in `changes`. */
export function wrapped(client: Client, changes: Partial<Client> = {}): Client {
  return {
    get: (...given) => client.get(...given),
    list: (...given) => client.list(...given),
    watch: (...given) => client.watch(...given),
    create: (...given) => client.create(...given),
    update: (...given) => client.update(...given),
    patch: (...given) => client.patch(...given),
    delete: (...given) => client.delete(...given),
    deleteCollection: (...given) => client.deleteCollection(...given),
    read: (...given) => client.read(...given),
    ...changes,
  };
}
