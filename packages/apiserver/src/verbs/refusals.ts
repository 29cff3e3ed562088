/** Refusals that only the verbs speak; the general ones are in @lifeboat/api. */
import { failure, type FieldError, invalidObject, Refused } from "@lifeboat/api";

/** 500 without a reason: how a server answers errors of its storage layer. */
export function serverError(message: string): Refused {
  return new Refused(failure(500, undefined, message));
}

/** 410, with a token to go on from where a list can be continued inconsistently. */
export function expired(message: string, continueToken?: string): Refused {
  const status = failure(410, "Expired", message);
  return new Refused(
    continueToken === undefined ? status : { ...status, metadata: { continue: continueToken } },
  );
}

/** 504: the client has seen a version that this server has not. */
export function versionTooLarge(asked: number, current: number): Refused {
  return new Refused(
    failure(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    }),
  );
}

export function unsupportedMediaType(accepted: readonly string[]): Refused {
  return new Refused(
    failure(
      415,
      "UnsupportedMediaType",
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
    ),
  );
}

export function methodNotAllowed(message: string): Refused {
  return new Refused(failure(405, "MethodNotAllowed", message, {}));
}

/** 422 about the options of a request, such as ListOptions. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): Refused {
  return invalidObject({ group: "meta.k8s.io", kind }, "", errors);
}

/** 413: one object may not be larger than what etcd would take, so that it could move to a real server. */
export function objectTooLarge(bytes: number, limit: number): Refused {
  return new Refused(
    failure(
      413,
      "RequestEntityTooLarge",
      `Request entity too large: the object takes ${bytes} bytes, the limit is ${limit}`,
    ),
  );
}
