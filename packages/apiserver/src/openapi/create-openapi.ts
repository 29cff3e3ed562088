/**
 * OpenAPI v3: an index of documents, and one document per group and version, from the catalog.
 *
 * 1. A document is built when first asked for and kept until the resources of its version change; the documents of
 *    built-in versions therefore never change, whatever CRDs come and go.
 * 2. Documents are addressed by a hash of their content. A client that asks with the right hash may keep the answer for ever;
 *    a wrong hash is sent on to the right one.
 */
import { addMs, type Clock, hashText, type Instant } from "@lifeboat/base";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";
import { openApiDocument } from "./document.ts";

/** Finished but for the headers that every answer has. */
export interface OpenApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface OpenApi {
  /** The answer to `/openapi/v3`. */
  index(): OpenApiAnswer;
  /** The answer to `/openapi/v3/{path}`, such as `apis/apps/v1`; undefined when there is no such document. */
  document(path: string, hash?: string): OpenApiAnswer | undefined;
}

interface Document {
  readonly resources: readonly ServedResource[];
  readonly body: Uint8Array;
  readonly hash: string;
}

const YEAR_MS = 365 * 24 * 3_600_000;

export function createOpenApi(catalog: Catalog, clock: Clock): OpenApi {
  const documents = new Map<string, Document>();
  let index: { readonly revision: number; readonly answer: OpenApiAnswer } | undefined;

  const documentOf = (group: string, version: string): Document => {
    const path = pathOf(group, version);
    const resources = catalog.resources(group, version);
    const known = documents.get(path);
    if (known !== undefined && sameResources(known.resources, resources)) return known;
    const document = encode(openApiDocument(group, version, resources), resources);
    documents.set(path, document);
    return document;
  };
  return {
    index: () => {
      if (index?.revision !== catalog.revision)
        index = { revision: catalog.revision, answer: indexOf(catalog, documentOf) };
      return index.answer;
    },
    document: (path, hash) => {
      const found = parsePath(path);
      if (found === undefined) return undefined;
      if (catalog.resources(found.group, found.version).length === 0) return undefined;
      const document = documentOf(found.group, found.version);
      return answerOf(path, document, hash, clock.now());
    },
  };
}

function sameResources(a: readonly ServedResource[], b: readonly ServedResource[]): boolean {
  return a === b || (a.length === b.length && a.every((resource, i) => resource === b[i]));
}

function encode(document: object, resources: readonly ServedResource[]): Document {
  const text = JSON.stringify(document);
  return { resources, body: new TextEncoder().encode(text), hash: fingerprint(text) };
}

/** 128 bits, enough to distinguish contents. No safety depends on it. */
function fingerprint(text: string): string {
  const parts = FINGERPRINT_SEEDS.map((seed) => hashText(text, seed));
  return parts
    .map((part) => part.toString(16).padStart(8, "0"))
    .join("")
    .toUpperCase();
}
const FINGERPRINT_SEEDS = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35];

function indexOf(
  catalog: Catalog,
  documentOf: (group: string, version: string) => Document,
): OpenApiAnswer {
  const paths: Record<string, { readonly serverRelativeURL: string }> = {};
  for (const { name, versions } of catalog.groups()) {
    for (const version of versions) {
      const path = pathOf(name, version);
      paths[path] = { serverRelativeURL: addressOf(path, documentOf(name, version).hash) };
    }
  }
  const text = JSON.stringify({ paths });
  const headers = { "content-type": "application/json", etag: `"${fingerprint(text)}"` };
  return { status: 200, headers, body: new TextEncoder().encode(text) };
}

function answerOf(
  path: string,
  document: Document,
  hash: string | undefined,
  now: Instant,
): OpenApiAnswer {
  const headers = {
    "content-type": "application/json",
    etag: `"${document.hash}"`,
    vary: "Accept",
  };
  if (hash === undefined || hash === "") return { status: 200, headers, body: document.body };
  if (hash !== document.hash) {
    const location = addressOf(path, document.hash);
    return { status: 301, headers: { ...headers, location }, body: new Uint8Array() };
  }
  const expires = new Date(addMs(now, YEAR_MS)).toUTCString();
  const keep = { "cache-control": "public, immutable", expires };
  return { status: 200, headers: { ...headers, ...keep }, body: document.body };
}

function addressOf(path: string, hash: string): string {
  return `/openapi/v3/${path}?hash=${hash}`;
}

function pathOf(group: string, version: string): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function parsePath(path: string): { readonly group: string; readonly version: string } | undefined {
  const [root, ...rest] = path.split("/");
  if (root === "api" && rest.length === 1) return { group: "", version: rest[0] ?? "" };
  if (root !== "apis" || rest.length !== 2) return undefined;
  return { group: rest[0] ?? "", version: rest[1] ?? "" };
}
