/**
 * Accept and Content-Type. Which form an answer takes is decided by the first alternative of the Accept header, in order
 * of its q-values, that the server can produce; one it cannot (`as=Table;v=v9`, protobuf) is passed over.
 *
 * Answers are JSON or YAML; protobuf is understood in requests only. `application/*` is accepted, which the real
 * server does not; a q-value of 0 counts as the lowest, which it does.
 */
import { failure, Refused } from "@lifeboat/api";

export interface MediaType {
  /** Lower case, without parameters: `application/json`. */
  readonly name: string;
  /** In order; names in lower case, values as sent. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly quality: number;
}

/** How an answer is written. */
export interface Format {
  readonly media: "json" | "yaml";
  readonly pretty: boolean;
  readonly as: "object" | "table" | "metadata" | "metadataList";
  /** The version of meta.k8s.io that Table and PartialObjectMetadata are written in. */
  readonly metaVersion: "v1" | "v1beta1";
}

export const PLAIN_JSON: Format = Object.freeze({
  media: "json",
  pretty: false,
  as: "object",
  metaVersion: "v1",
});

/** What an endpoint produces. */
export type Endpoint = "object" | "list" | "watch";

const RESPONSE_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const STREAM_TYPES =
  "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
/** Header texts repeat; more different ones than this are not remembered. */
const MAX_REMEMBERED = 512;
const MAX_ALTERNATIVES = 64;

/** The alternatives of an Accept header, best first. Pieces that are no media type are left out. */
export function parseAccept(header: string): readonly MediaType[] {
  const types: MediaType[] = [];
  for (const piece of header.split(",", MAX_ALTERNATIVES)) {
    const type = parseMediaType(piece);
    if (type !== undefined) types.push(type);
  }
  return types.sort((a, b) => b.quality - a.quality || wildcards(a.name) - wildcards(b.name));
}

/** One media type with its parameters; undefined when there is none. */
export function parseMediaType(text: string): MediaType | undefined {
  const pieces = text.split(";");
  const name = (pieces[0] ?? "").trim().toLowerCase();
  const slash = name.indexOf("/");
  if (slash <= 0 || slash === name.length - 1) return undefined;
  const parameters: [string, string][] = [];
  let quality = 1;
  for (let i = 1; i < pieces.length; i++) {
    const piece = (pieces[i] as string).trim();
    const equals = piece.indexOf("=");
    if (equals <= 0) continue;
    const key = piece.slice(0, equals).trim().toLowerCase();
    const value = piece.slice(equals + 1).trim();
    if (key === "q") quality = qualityOf(value);
    else parameters.push([key, value]);
  }
  return { name, parameters, quality };
}

export interface Negotiator {
  /** The form of the answer; refuses with 406 when there is none. */
  negotiate(accept: string | undefined, endpoint: Endpoint): Format;
  /** The form of a Status: JSON unless YAML is asked for. Never refuses. */
  negotiateStatus(accept: string | undefined): Format;
}

export function createNegotiator(): Negotiator {
  const remembered = new Map<string, Format | Refused>();
  return {
    negotiate(accept, endpoint) {
      if (
        accept === undefined ||
        accept === "" ||
        accept === "*/*" ||
        accept === "application/json"
      )
        return PLAIN_JSON;
      const key = `${endpoint} ${accept}`;
      const known = remembered.get(key) ?? formatOf(parseAccept(accept), endpoint);
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(key, known);
      if (known instanceof Refused) throw new Refused(known.status);
      return known;
    },
    negotiateStatus(accept) {
      if (accept === undefined || !accept.includes("yaml")) return PLAIN_JSON;
      const first = parseAccept(accept).find((type) => mediaOf(type.name) !== undefined);
      return first !== undefined && mediaOf(first.name) === "yaml" ? PLAIN_YAML : PLAIN_JSON;
    },
  };
}

const PLAIN_YAML: Format = Object.freeze({ ...PLAIN_JSON, media: "yaml" });

export function notAcceptable(message: string, withDetails = false): Refused {
  return new Refused(failure(406, "NotAcceptable", message, withDetails ? {} : undefined));
}

export function unsupportedMediaType(message: string, withDetails = false): Refused {
  return new Refused(failure(415, "UnsupportedMediaType", message, withDetails ? {} : undefined));
}

function qualityOf(text: string): number {
  const value = Number(text);
  return text !== "" && value >= 0 && value <= 1 ? value : 1;
}

function wildcards(name: string): number {
  return name === "*/*" ? 2 : name.endsWith("/*") ? 1 : 0;
}

function mediaOf(name: string): Format["media"] | undefined {
  if (name === "application/json" || name === "*/*" || name === "application/*") return "json";
  return name === "application/yaml" ? "yaml" : undefined;
}

function formatOf(types: readonly MediaType[], endpoint: Endpoint): Format | Refused {
  for (const type of types) {
    const format = formatFor(type, endpoint);
    if (format !== undefined) return format;
  }
  const anyKnown = types.some((type) => mediaOf(type.name) !== undefined || type.name === PROTOBUF);
  if (anyKnown) {
    const accepted = endpoint === "watch" ? STREAM_TYPES : RESPONSE_TYPES;
    return notAcceptable(`only the following media types are accepted: ${accepted}`);
  }
  const produced = endpoint === "object" ? RESPONSE_TYPES : `${RESPONSE_TYPES}, ${STREAM_TYPES}`;
  return notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${produced}`, true);
}

function formatFor(type: MediaType, endpoint: Endpoint): Format | undefined {
  const media = mediaOf(type.name);
  if (media === undefined || (endpoint === "watch" && media === "yaml")) return undefined;
  let kind = "";
  let group = "";
  let version = "";
  let pretty = false;
  for (const [name, value] of type.parameters) {
    if (name === "as") kind = value;
    else if (name === "g") group = value;
    else if (name === "v") version = value;
    else if (name === "pretty") pretty = value === "1";
    else if (name === "stream" && (endpoint !== "watch" || value !== "watch")) return undefined;
  }
  if (kind === "" && group === "" && version === "")
    return pretty ? { ...PLAIN_JSON, media, pretty } : media === "json" ? PLAIN_JSON : PLAIN_YAML;
  const as = CONVERSIONS.get(kind);
  if (as === undefined || group !== "meta.k8s.io") return undefined;
  if (version !== "v1" && version !== "v1beta1") return undefined;
  return { media, pretty, as, metaVersion: version };
}

const CONVERSIONS: ReadonlyMap<string, Format["as"]> = new Map([
  ["Table", "table"],
  ["PartialObjectMetadata", "metadata"],
  ["PartialObjectMetadataList", "metadataList"],
]);
