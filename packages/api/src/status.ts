/**
 * `Status`, the body of every answer that is not an object, and `Refused`, the error that carries one.
 *
 * The makers below give the exact code, reason, message and details that a Kubernetes API server gives, because
 * clients branch on them.
 */
import { type FieldError, MAX_ERRORS } from "./field-error.ts";
import { qualifiedName } from "./resource.ts";

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** What a deletion answers when the object is gone. Servers send no code in this one. */
export interface Success {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success";
  readonly details: StatusDetails;
}

/** The server understood the request and said no. Nothing was changed. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: Status;

  constructor(status: Status) {
    super(status.message ?? status.reason ?? `refused with code ${status.code}`);
    this.status = status;
  }
}

export function failure(
  code: number,
  reason: string | undefined,
  message: string,
  details?: StatusDetails,
): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** A resource as `details` names it: the group is left out in the core group, the kind is the plural. */
interface Named {
  readonly group: string;
  readonly plural: string;
}

function detailsOf(resource: Named, name: string): StatusDetails {
  return {
    name,
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}

/** The answer to a deletion that removed the object. */
export function deleted(resource: Named, name: string, uid: string): Success {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { ...detailsOf(resource, name), uid },
  };
}

export function notFound(resource: Named, name: string): Refused {
  return new Refused(
    failure(
      404,
      "NotFound",
      `${qualifiedName(resource)} "${name}" not found`,
      detailsOf(resource, name),
    ),
  );
}

export function alreadyExists(resource: Named, name: string): Refused {
  return new Refused(
    failure(
      409,
      "AlreadyExists",
      `${qualifiedName(resource)} "${name}" already exists`,
      detailsOf(resource, name),
    ),
  );
}

export function conflict(resource: Named, name: string, detail: string): Refused {
  const message = `Operation cannot be fulfilled on ${qualifiedName(resource)} "${name}": ${detail}`;
  return new Refused(failure(409, "Conflict", message, detailsOf(resource, name)));
}

export const STALE_VERSION =
  "the object has been modified; please apply your changes to the latest version and try again";

export function forbiddenBecause(
  resource: Named,
  name: string,
  detail: string,
  causes?: readonly StatusCause[],
): Refused {
  const subject = name === "" ? qualifiedName(resource) : `${qualifiedName(resource)} "${name}"`;
  const details = {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
  };
  return new Refused(
    failure(
      403,
      "Forbidden",
      `${subject} is forbidden: ${detail}`,
      causes === undefined ? details : { ...details, causes },
    ),
  );
}

export function badRequest(message: string): Refused {
  return new Refused(failure(400, "BadRequest", message));
}

export function internalError(message: string): Refused {
  return new Refused(
    failure(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] }),
  );
}

/** A 422 with one cause per field. `kind` is the Kind, not the plural: that is how servers write this one. */
export function invalidObject(
  of: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): Refused {
  const subject = of.group === "" ? of.kind : `${of.kind}.${of.group}`;
  const told = errors.slice(0, MAX_ERRORS);
  const sentences = told.map((error) => `${error.field}: ${error.message}`);
  if (told.length < errors.length) sentences.push("and more");
  const message = `${subject} "${name}" is invalid: ${sentences.length === 1 ? sentences[0] : `[${sentences.join(", ")}]`}`;
  const causes = told.map((error) => ({
    reason: error.reason,
    message: error.message,
    field: error.field,
  }));
  const details = {
    ...(name === "" ? {} : { name }),
    ...(of.group === "" ? {} : { group: of.group }),
    ...(of.kind === "" ? {} : { kind: of.kind }),
    causes,
  };
  return new Refused(failure(422, "Invalid", message, details));
}

/** Whether an error is a refusal with this reason (or code, for the few answers that have no reason). */
export function isRefused(error: unknown, reason: string | number): error is Refused {
  return (
    error instanceof Refused && (error.status.reason === reason || error.status.code === reason)
  );
}

/** Whether a refusal names this cause. */
export function isRefusedBecause(error: unknown, cause: string): error is Refused {
  return (
    error instanceof Refused &&
    error.status.details?.causes?.some(({ reason }) => reason === cause) === true
  );
}

/** What was asked for; undefined when it does not exist. */
export async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isRefused(error, "NotFound")) return undefined;
    throw error;
  }
}
