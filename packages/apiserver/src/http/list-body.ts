/**
 * Bodies of lists. A list is made of its items' stored bytes, joined without encoding anything again. It is produced in
 * pieces of about a megabyte: one piece is an ordinary body, more are sent as a stream at the speed of the client, so a
 * list of a hundred thousand objects never exists in memory as a whole.
 *
 * Items of built-in kinds carry no kind and apiVersion in a list, those of custom resources do.
 */
import { apiVersionOf } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { Found, ListAnswer } from "../verbs/verbs.ts";
import type { HttpResponse, HttpStream, HttpStreamSink } from "./exchange.ts";
import type { Format } from "./media-type.ts";
import { partialMetadata, type TableForm, type TableMeta, tableRow } from "./table.ts";

const PIECE_BYTES = 1024 * 1024;
const ROWS_PER_PIECE = 500;
const COMMA = 44;
const OPEN_BRACE = 123;

/** One body, or a stream when there is more than one piece. */
export function bodyOfPieces(pieces: Iterator<Uint8Array, undefined>): HttpResponse["body"] {
  const first = pieces.next();
  if (first.done === true) return new Uint8Array(0);
  const second = pieces.next();
  if (second.done === true) return first.value;
  return new PieceStream(first.value, second.value, pieces);
}

/** The list itself, as JSON. `prefix` is the resource's `itemPrefix`. */
export function* listPieces(
  resource: ServedResource,
  prefix: Uint8Array,
  answer: ListAnswer,
): Generator<Uint8Array, undefined> {
  const cut = resource.custom ? 0 : prefix.length;
  const [head, tail] = listFrame(resource, answer);
  let batch: Uint8Array[] = [];
  let size = head.length;
  let start: Uint8Array = head;
  let isFirst = true;
  for (const item of answer.items) {
    const bytes = itemBytes(item, prefix);
    batch.push(bytes);
    size += bytes.length - cut + 2;
    if (size < PIECE_BYTES) continue;
    yield joinItems(start, batch, cut, isFirst, NOTHING);
    isFirst = false;
    batch = [];
    start = NOTHING;
    size = 0;
  }
  yield joinItems(start, batch, cut, isFirst, tail);
  return undefined;
}

/** The list as a Table. */
export function* tablePieces(
  form: TableForm,
  answer: ListAnswer,
  now: Instant,
): Generator<Uint8Array, undefined> {
  const head = `{"kind":"Table","apiVersion":"meta.k8s.io/${form.metaVersion}","metadata":${JSON.stringify(listMeta(answer))},"columnDefinitions":${JSON.stringify(form.printer.columns)},"rows":[`;
  yield* textPieces(head, answer.items, (item) => JSON.stringify(tableRow(form, item.object, now)));
  return undefined;
}

/** The list as PartialObjectMetadataList. */
export function* metadataPieces(
  metaVersion: Format["metaVersion"],
  answer: ListAnswer,
): Generator<Uint8Array, undefined> {
  const head = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${metaVersion}","metadata":${JSON.stringify(listMeta(answer))},"items":[`;
  yield* textPieces(head, answer.items, (item) =>
    JSON.stringify(partialMetadata(item.object, metaVersion)),
  );
  return undefined;
}

/** The list as a value, for YAML and indented JSON. */
export function listValue(resource: ServedResource, answer: ListAnswer): object {
  const items = answer.items.map(({ object }) => {
    if (resource.custom) return object;
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
    return rest;
  });
  return {
    kind: resource.listKind,
    apiVersion: apiVersionOf(resource),
    metadata: listMeta(answer),
    items,
  };
}

export function listMeta(answer: ListAnswer): TableMeta {
  return {
    resourceVersion: answer.resourceVersion,
    ...(answer.continue === undefined ? {} : { continue: answer.continue }),
    ...(answer.remainingItemCount === undefined
      ? {}
      : { remainingItemCount: answer.remainingItemCount }),
  };
}

/** What the bytes of every stored object of this resource begin with. */
export function itemPrefix(resource: ServedResource): Uint8Array {
  const kind = JSON.stringify(resource.kind);
  return Buffer.from(`{"kind":${kind},"apiVersion":${JSON.stringify(apiVersionOf(resource))},`);
}

/** The item's bytes, which begin with `prefix`; encoded here when there are none that do. */
function itemBytes(item: Found, prefix: Uint8Array): Uint8Array {
  if (item.bytes !== undefined && beginsWith(item.bytes, prefix)) return item.bytes;
  const { kind, apiVersion, ...rest } = item.object;
  return Buffer.from(JSON.stringify({ kind, apiVersion, ...rest }));
}

function beginsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.length < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false;
  return true;
}

/** What stands before and after the items. The order of fields of custom resource lists is the real server's. */
function listFrame(resource: ServedResource, answer: ListAnswer): [Uint8Array, Uint8Array] {
  const kind = JSON.stringify(resource.listKind);
  const apiVersion = JSON.stringify(apiVersionOf(resource));
  const meta = listMeta(answer);
  if (resource.custom) {
    const metadata = JSON.stringify({ continue: "", ...meta });
    return [
      Buffer.from(`{"apiVersion":${apiVersion},"items":[`),
      Buffer.from(`],"kind":${kind},"metadata":${metadata}}\n`),
    ];
  }
  const metadata = JSON.stringify(meta);
  return [
    Buffer.from(`{"kind":${kind},"apiVersion":${apiVersion},"metadata":${metadata},"items":[`),
    Buffer.from("]}\n"),
  ];
}

/** Head, items separated by commas with their first `cut` bytes replaced by `{`, tail. */
function joinItems(
  head: Uint8Array,
  items: readonly Uint8Array[],
  cut: number,
  isFirst: boolean,
  tail: Uint8Array,
): Uint8Array {
  let size = head.length + tail.length;
  for (const item of items) size += item.length - cut + 2;
  const out = Buffer.allocUnsafe(size);
  out.set(head, 0);
  let at = head.length;
  let needsComma = !isFirst;
  for (const item of items) {
    if (needsComma) out[at++] = COMMA;
    needsComma = true;
    if (cut > 0) out[at++] = OPEN_BRACE;
    out.set(cut > 0 ? item.subarray(cut) : item, at);
    at += item.length - cut;
  }
  out.set(tail, at);
  return out.subarray(0, at + tail.length);
}

function* textPieces(
  head: string,
  items: readonly Found[],
  encode: (item: Found) => string,
): Generator<Uint8Array, undefined> {
  let text = head;
  for (let i = 0; i < items.length; i++) {
    text += (i === 0 ? "" : ",") + encode(items[i] as Found);
    if (i % ROWS_PER_PIECE !== ROWS_PER_PIECE - 1) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(`${text}]}\n`);
  return undefined;
}

const NOTHING = new Uint8Array(0);

/** Sends pieces as fast as the client takes them. */
class PieceStream implements HttpStream {
  #waiting: Uint8Array[];
  #pieces: Iterator<Uint8Array, undefined> | undefined;
  #out: HttpStreamSink | undefined;

  constructor(first: Uint8Array, second: Uint8Array, rest: Iterator<Uint8Array, undefined>) {
    this.#waiting = [first, second];
    this.#pieces = rest;
  }

  start(out: HttpStreamSink): void {
    this.#out = out;
    out.onDrain(() => this.#send());
    this.#send();
  }

  stop(): void {
    this.#pieces = undefined;
    this.#waiting = [];
  }

  #send(): void {
    while (this.#pieces !== undefined) {
      const piece = this.#waiting.shift() ?? this.#pieces.next().value;
      if (piece === undefined) {
        this.#pieces = undefined;
        this.#out?.end();
        return;
      }
      if (this.#out?.write(piece) !== true) return;
    }
  }
}
