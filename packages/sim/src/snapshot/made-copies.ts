/**
 * Copies as a member's own API server makes them, with all that it fills in, and then with the identity and the status that
 * the real ones have.
 */
import { type AnyObject, Refused } from "@lifeboat/api";
import { createApiServer, type DiskImage } from "@lifeboat/apiserver";
import type { Client } from "@lifeboat/kit";
import { MEMBER_SERVER, portsOfDisk } from "../images.ts";
import type { Copy } from "./member-copies.ts";
import { imageOf, type Row, rowOf } from "./rows.ts";

/** The disk of a member with these copies on it. */
export async function withCopies(image: DiskImage, copies: readonly Copy[]): Promise<DiskImage> {
  const ports = portsOfDisk(3, image);
  const server = await createApiServer(ports, MEMBER_SERVER);
  const stop = new AbortController();
  const ended = server.run(stop.signal);
  const admin = server.client({ name: "admin", groups: ["system:masters"] });
  const rows: Row[] = [];
  for (const copy of copies.toSorted(placesFirst)) rows.push(await make(admin, copy));
  stop.abort();
  await ended;
  await server.close();
  return imageOf([...ports.storage.image().objects, ...rows]);
}

/** What others are in, or are of, comes before them. */
const PLACES: readonly string[] = ["Namespace", "CustomResourceDefinition"];

function placesFirst(a: Copy, b: Copy): number {
  return orderOf(a) - orderOf(b);
}

function orderOf({ resource }: Copy): number {
  const place = PLACES.indexOf(resource.kind);
  return place < 0 ? PLACES.length : place;
}

async function make(admin: Client, { resource, manifest, identity, status }: Copy): Promise<Row> {
  const made = await created(admin, resource, manifest);
  // Some objects name themselves: a Job selects pods by its own uid.
  const text = JSON.stringify(made).replaceAll(made.metadata.uid, identity.uid);
  const object = JSON.parse(text) as AnyObject;
  const metadata = { ...object.metadata, ...identity };
  return rowOf(resource, { ...object, metadata, ...(status && { status }) });
}

/** What a server does not take is there all the same: it was seen. */
async function created(
  admin: Client,
  resource: Copy["resource"],
  manifest: AnyObject,
): Promise<AnyObject> {
  try {
    return await admin.create(resource, manifest);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...manifest, metadata: { ...manifest.metadata, uid: "-", resourceVersion: "1" } };
  }
}
