/**
 * A client whose refusals name what the server does not have: "the server could not find the requested resource" alone does not name the kind.
 * The kind is missing where the control plane is older than this command, or where the rest of it was never installed.
 */
import { Refused, type Resource } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { version } from "./version.ts";

export function namingClient(client: Client): Client {
  const named = async <T>(
    resource: Pick<Resource, "group" | "version" | "plural">,
    asked: Promise<T>,
  ): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      throw isUnserved(error) ? new Refused({ ...error.status, ...unserved(resource) }) : error;
    }
  };
  return {
    get: (resource, ...given) => named(resource, client.get(resource, ...given)),
    list: (resource, ...given) => named(resource, client.list(resource, ...given)),
    watch: (...given) => client.watch(...given),
    read: (...given) => client.read(...given),
    create: (resource, ...given) => named(resource, client.create(resource, ...given)),
    update: (resource, ...given) => named(resource, client.update(resource, ...given)),
    patch: (resource, ...given) => named(resource, client.patch(resource, ...given)),
    delete: (resource, ...given) => named(resource, client.delete(resource, ...given)),
    deleteCollection: (resource, ...given) =>
      named(resource, client.deleteCollection(resource, ...given)),
  };
}

/** An object that is not there is named by the server; a kind that is not served is not. */
function isUnserved(error: unknown): error is Refused {
  return (
    error instanceof Refused &&
    error.status.code === 404 &&
    error.status.message === "the server could not find the requested resource"
  );
}

function unserved({
  group,
  version: served,
  plural,
}: Pick<Resource, "group" | "version" | "plural">): {
  readonly message: string;
} {
  const kind = `${plural}${group === "" ? "" : `.${group}`} in ${served}`;
  const why = `it may be older than this command (${version}), or its kinds were not installed`;
  return {
    message: `the control plane does not serve ${kind}: ${why}; lifeboat version shows both`,
  };
}
