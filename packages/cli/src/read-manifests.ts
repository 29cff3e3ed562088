/** Reads manifests of a file as `kubectl -f` does: several documents of YAML, or JSON, or a List. */
import { DecodeError, decodeYaml } from "@lifeboat/api";
import type { Manifest } from "@lifeboat/sim";
import { readFileSync } from "node:fs";
import { UsageError } from "./failure.ts";

/** `-`: standard input. Throws UsageError with the place of what is wrong. */
export function readManifests(file: string): readonly Manifest[] {
  return parseManifests(readText(file), file === "-" ? "standard input" : file);
}

export function parseManifests(text: string, name: string): readonly Manifest[] {
  const documents = text.trimStart().startsWith("{") ? [text] : text.split(/^---(?:[ \t].*)?$/m);
  const found = documents.flatMap((document, index) => {
    const where = documents.length === 1 ? name : `${name}, document ${index + 1}`;
    return objectsIn(valueOf(document, where), where);
  });
  if (found.length === 0) throw new UsageError(`${name} holds no object`);
  return found;
}

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const why = { ENOENT: "there is no such file", EISDIR: "it is a directory, name a file" }[code];
    throw new UsageError(`-f ${file}: ${why ?? `it cannot be read (${code})`}`);
  }
}

function valueOf(document: string, where: string): unknown {
  try {
    return decodeYaml(document).value;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new UsageError(`${where}: ${error.message}`);
  }
}

function objectsIn(value: unknown, where: string): readonly Manifest[] {
  if (value === null || value === undefined) return [];
  const object = value as Partial<Manifest> & { readonly items?: unknown };
  if (Array.isArray(object.items) && object.kind?.endsWith("List") === true)
    return object.items.flatMap((item) => objectsIn(item, where));
  const { apiVersion, kind, metadata } = object;
  if (
    typeof apiVersion !== "string" ||
    typeof kind !== "string" ||
    typeof metadata?.name !== "string"
  )
    throw new UsageError(`${where}: apiVersion, kind and metadata.name are needed`);
  return [object as Manifest];
}
