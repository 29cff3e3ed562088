/**
 * `/openapi/v2`, for clients that ask for it before they send a `kind: List`, as kubectl does: a document of that version
 * that describes no kind. Clients check nothing themselves then, and leave it to the server, which checks everything. What
 * the kinds look like is in `/openapi/v3`.
 */
import { bytesDraft, type Draft, JSON_TYPE } from "./respond.ts";

const TITLE = "Lifeboat";
const PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const ASKS_FOR_PROTOBUF = /com\.github\.proto-openapi\.spec\.v2(@|\.)v1\.0\+protobuf/;

/** The document, in the form that is asked for. */
export function openApiV2Draft(accept: string | undefined, gitVersion: string): Draft {
  if (accept !== undefined && ASKS_FOR_PROTOBUF.test(accept))
    return bytesDraft(200, PROTOBUF, protobufOf(gitVersion));
  const document = { swagger: "2.0", info: { title: TITLE, version: gitVersion }, paths: {} };
  return bytesDraft(200, JSON_TYPE, Buffer.from(JSON.stringify(document)));
}

/** The same as a protocol buffer: swagger is field 1; info is field 2, with title as its 1 and version as its 2. */
function protobufOf(gitVersion: string): Uint8Array {
  const info = Buffer.concat([field(1, Buffer.from(TITLE)), field(2, Buffer.from(gitVersion))]);
  return Buffer.concat([field(1, Buffer.from("2.0")), field(2, info)]);
}

/** A field that holds bytes: its number and type, how many bytes, the bytes. */
function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
}

/** Seven bits at a time, the lowest first; the highest bit means that more follow. */
function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
