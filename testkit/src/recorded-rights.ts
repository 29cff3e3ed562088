/**
 * Records which rights a client uses, when `LIFEBOAT_RECORD_RIGHTS` names a file: one line `verb group/resource` each, added
 * to the file once per process. `packages/plane/src/asked-rights.json` is made of it, over all suites of controllers and plane.
 */
import { appendFileSync } from "node:fs";
import type { Resource } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

const FILE = process.env["LIFEBOAT_RECORD_RIGHTS"];
const known = new Set<string>();

/** The client itself, or one that records and passes everything on. */
export function recordedRights(client: Client): Client {
  if (FILE === undefined) return client;
  const note = (
    verb: string,
    { group, plural }: Pick<Resource, "group" | "plural">,
    subresource?: string,
  ): void => {
    const below = subresource === undefined || subresource === "" ? "" : `/${subresource}`;
    const line = `${verb} ${group}/${plural}${below}`;
    if (known.has(line)) return;
    known.add(line);
    appendFileSync(FILE, `${line}\n`);
  };
  return {
    get: (resource, key, options) => {
      note("get", resource, options?.subresource);
      return client.get(resource, key, options);
    },
    list: (resource, options) => {
      note("list", resource);
      return client.list(resource, options);
    },
    create: (resource, object, options) => {
      note("create", resource);
      return client.create(resource, object, options);
    },
    update: (resource, object, options) => {
      note("update", resource, options?.subresource);
      return client.update(resource, object, options);
    },
    patch: (resource, key, patch, options) => {
      note("patch", resource, options?.subresource);
      return client.patch(resource, key, patch, options);
    },
    delete: (resource, key, options) => {
      note("delete", resource);
      return client.delete(resource, key, options);
    },
    deleteCollection: (resource, options) => {
      note("deletecollection", resource);
      return client.deleteCollection(resource, options);
    },
    watch: (resource, options, sink) => {
      note("watch", resource);
      return client.watch(resource, options, sink);
    },
    read: (path, options) => client.read(path, options),
  };
}
