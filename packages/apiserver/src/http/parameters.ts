/**
 * Query parameters and DeleteOptions as the verbs want them. Values of the wrong type are refused with the words of
 * Go's strconv (400); values that are not allowed with one 422 that names every field, as the real server does.
 */
import {
  badRequest,
  type FieldError,
  forbidden,
  invalid,
  invalidObject,
  isJsonObject,
  type Json,
  type JsonObject,
  notSupported,
  type Refused,
  tooLong,
} from "@lifeboat/api";
import type {
  DeleteOptionsBody,
  ListParameters,
  PatchParameters,
  WatchParameters,
  WriteParameters,
} from "../verbs/verbs.ts";
import type { Query } from "./query.ts";

const INITIAL = "sendInitialEvents";
const MATCH = "resourceVersionMatch";
const OPTIONS_GROUP = "meta.k8s.io";
const FIELD_VALIDATIONS = ["", "Ignore", "Strict", "Warn"];
const PROPAGATION_POLICIES = ["Foreground", "Background", "Orphan", "nil"];
const MAX_FIELD_MANAGER_BYTES = 128;

export function isWatch(query: Query): boolean {
  return boolOf(query, "watch") ?? false;
}

export function listParameters(query: Query): ListParameters {
  intOf(query, "timeoutSeconds");
  if (boolOf(query, INITIAL) !== undefined)
    throw invalidOptions("ListOptions", [forbidden(INITIAL, `${INITIAL} is forbidden for list`)]);
  return {
    labelSelector: query.text("labelSelector"),
    fieldSelector: query.text("fieldSelector"),
    limit: Math.max(0, intOf(query, "limit") ?? 0),
    continue: query.text("continue"),
    resourceVersion: query.text("resourceVersion"),
    resourceVersionMatch: query.text("resourceVersionMatch"),
  };
}

export function watchParameters(query: Query): WatchParameters {
  intOf(query, "limit");
  const sendInitialEvents = boolOf(query, INITIAL);
  refuseContinuedWatch(query, sendInitialEvents);
  return {
    labelSelector: query.text("labelSelector"),
    fieldSelector: query.text("fieldSelector"),
    resourceVersion: query.text("resourceVersion"),
    resourceVersionMatch: query.text("resourceVersionMatch"),
    allowWatchBookmarks: boolOf(query, "allowWatchBookmarks") ?? false,
    ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
    timeoutSeconds: Math.max(0, intOf(query, "timeoutSeconds") ?? 0),
  };
}

/** A watch that begins with what exists cannot go on with a list. From a version on, a token is ignored. */
function refuseContinuedWatch(query: Query, sendInitialEvents: boolean | undefined): void {
  if (query.text("continue") === "") return;
  const version = query.text("resourceVersion");
  const fromState = sendInitialEvents === undefined && (version === "" || version === "0");
  if (!fromState && query.text(MATCH) === "") return;
  const error = forbidden(MATCH, `${MATCH} is forbidden when continue is provided`);
  throw invalidOptions("ListOptions", [error]);
}

export function writeParameters(
  query: Query,
  kind: "CreateOptions" | "UpdateOptions",
): WriteParameters {
  const errors: FieldError[] = [];
  const parameters = checkedWriteParameters(query, errors);
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return parameters;
}

export function patchParameters(query: Query, isApply: boolean): PatchParameters {
  const errors: FieldError[] = [];
  const force = boolOf(query, "force");
  if (!isApply && force !== undefined)
    errors.push(forbidden("force", "may not be specified for non-apply patch"));
  const parameters = checkedWriteParameters(query, errors);
  if (errors.length > 0) throw invalidOptions("PatchOptions", errors);
  return force === undefined ? parameters : { ...parameters, force };
}

/** DeleteOptions as query parameters; read only when the request has no body. */
export function deleteOptionsFromQuery(query: Query): DeleteOptionsBody {
  const grace = intOf(query, "gracePeriodSeconds");
  const orphan = boolOf(query, "orphanDependents");
  const policy = query.get("propagationPolicy");
  const dryRun = query.all("dryRun");
  return checkedDeleteOptions({
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  });
}

/** DeleteOptions from a decoded body. Unknown fields are ignored, wrong types refused. */
export function deleteOptionsFromBody(body: JsonObject): DeleteOptionsBody {
  const kind = body["kind"];
  if (kind !== undefined && kind !== "DeleteOptions" && kind !== "") {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(body["apiVersion"] ?? "")} as options of a deletion`,
    );
  }
  const grace = typed(body, "gracePeriodSeconds", "number", "int64");
  const policy = typed(body, "propagationPolicy", "string", "v1.DeletionPropagation");
  const orphan = typed(body, "orphanDependents", "boolean", "bool");
  const preconditions = preconditionsOf(body["preconditions"]);
  const dryRun = dryRunOf(body["dryRun"]);
  return checkedDeleteOptions({
    ...(grace === undefined ? {} : { gracePeriodSeconds: integer(grace) }),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  });
}

/** A decimal integer in Go's syntax, clamped to what a JavaScript number holds exactly; refuses anything else. */
export function parseInteger(text: string): number {
  const digits = text.startsWith("-") || text.startsWith("+") ? text.slice(1) : text;
  if (digits === "" || !allDigits(digits)) throw badInteger(text, "invalid syntax");
  const value = Number(text);
  if (Math.abs(value) >= 2 ** 63) throw badInteger(text, "value out of range");
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));
}

function badInteger(text: string, why: string): Refused {
  return badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
}

function allDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

function intOf(query: Query, name: string): number | undefined {
  const text = query.get(name);
  return text === undefined ? undefined : parseInteger(text);
}

/** Present and anything but `0` or `false` is true; that is how the real server reads booleans. */
function boolOf(query: Query, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  return text !== "0" && text.toLowerCase() !== "false";
}

function invalidOptions(kind: string, errors: readonly FieldError[]): Refused {
  return invalidObject({ group: OPTIONS_GROUP, kind }, "", errors);
}

function checkedWriteParameters(query: Query, errors: FieldError[]): WriteParameters {
  const fieldManager = query.get("fieldManager");
  const dryRun = query.all("dryRun");
  const fieldValidation = query.text("fieldValidation");
  if (fieldManager !== undefined) checkFieldManager(fieldManager, errors);
  checkDryRun(dryRun, errors);
  if (!FIELD_VALIDATIONS.includes(fieldValidation))
    errors.push(notSupported("fieldValidation", fieldValidation, FIELD_VALIDATIONS));
  return {
    dryRun: dryRun.length > 0,
    ...(fieldManager === undefined || fieldManager === "" ? {} : { fieldManager }),
    fieldValidation:
      fieldValidation === "Ignore" || fieldValidation === "Strict" ? fieldValidation : "Warn",
  };
}

function checkDryRun(dryRun: readonly string[], errors: FieldError[]): void {
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
}

function checkFieldManager(manager: string, errors: FieldError[]): void {
  if (Buffer.byteLength(manager) > MAX_FIELD_MANAGER_BYTES)
    errors.push(tooLong("fieldManager", MAX_FIELD_MANAGER_BYTES));
  let position = 0;
  for (const character of manager) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 32 || (code >= 127 && code < 160)) {
      const hex = code.toString(16).toUpperCase().padStart(4, "0");
      const detail = `invalid character U+${hex} (at position ${position})`;
      errors.push(invalid("fieldManager", manager, detail));
      return;
    }
    position += Buffer.byteLength(character);
  }
}

function checkedDeleteOptions(options: DeleteOptionsBody): DeleteOptionsBody {
  const errors: FieldError[] = [];
  const policy = options.propagationPolicy;
  if (policy !== undefined && (policy === "nil" || !PROPAGATION_POLICIES.includes(policy)))
    errors.push(notSupported("propagationPolicy", policy, PROPAGATION_POLICIES));
  if (policy !== undefined && options.orphanDependents !== undefined)
    errors.push(
      invalid(
        "propagationPolicy",
        policy,
        "orphanDependents and deletionPropagation cannot be both set",
      ),
    );
  checkDryRun(options.dryRun ?? [], errors);
  if (errors.length > 0) throw invalidOptions("DeleteOptions", errors);
  return options;
}

interface Typed {
  readonly number: number;
  readonly string: string;
  readonly boolean: boolean;
}

/** The field when it has this type, undefined when it is absent or null; refused in the words of Go's decoder otherwise. */
function typed<T extends keyof Typed>(
  object: JsonObject,
  field: string,
  type: T,
  goType: string,
  owner = "DeleteOptions",
): Typed[T] | undefined {
  const value = object[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === type) return value as Typed[T];
  throw wrongType(value, `${owner}.${field}`, goType);
}

function wrongType(value: Json, field: string, goType: string): Refused {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return badRequest(
    `json: cannot unmarshal ${found} into Go struct field ${field} of type ${goType}`,
  );
}

function integer(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw badRequest(
    `json: cannot unmarshal number ${value} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`,
  );
}

function preconditionsOf(value: Json | undefined): DeleteOptionsBody["preconditions"] {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value))
    throw wrongType(value, "DeleteOptions.preconditions", "v1.Preconditions");
  const uid = typed(value, "uid", "string", "types.UID", "Preconditions");
  const resourceVersion = typed(value, "resourceVersion", "string", "string", "Preconditions");
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

function dryRunOf(value: Json | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongType(value, "DeleteOptions.dryRun", "[]string");
  return value.map((item: Json) => {
    if (typeof item !== "string") throw wrongType(item, "DeleteOptions.dryRun", "string");
    return item;
  });
}
