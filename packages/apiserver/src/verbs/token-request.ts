/**
 * POST of a TokenRequest, as serviceaccounts/{name}/token: issues a token of the ServiceAccount. Nothing is stored.
 *
 * 1. A token lives for ten minutes at least and MAX_SECONDS at most; a longer wish is shortened, with a warning.
 * 2. A bound token counts as long as the object it is bound to exists.
 */
import { assert, deepFreeze, formatTime, instantOf } from "@lifeboat/base";
import {
  type AnyObject,
  badRequest,
  builtinSchema,
  conflict,
  type FieldError,
  invalid,
  invalidObject,
  type JsonObject,
  isJsonObject,
  notFound,
  required,
} from "@lifeboat/api";
import {
  accountUser,
  BOUND_KINDS,
  ISSUER,
  KUBERNETES_CLAIM,
} from "../authentication/service-accounts.ts";
import { API_AUDIENCE } from "../authentication/tokens.ts";
import type { ServedResource } from "../catalog/served-resource.ts";
import { decodeBody } from "./decode-body.ts";
import type { VerbDeps } from "./deps.ts";
import { givenMetaOf } from "./metadata.ts";
import { serverError } from "./refusals.ts";
import type { Body, RequestContext, Target, WriteAnswer, WriteParameters } from "./verbs.ts";
import { storeKey } from "./write-object.ts";

const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
/** What clients may ask for, and what they get. */
const MAX_ASKED_SECONDS = 2 ** 32;
const MAX_SECONDS = 30 * 24 * 3600;
const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };

export async function createTokenRequest(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: Body,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  const request = decodeTokenRequest(context, target, body, parameters);
  const { namespace, name } = target;
  const given = givenMetaOf(request);
  if ((given.name ?? name) !== name || (given.namespace ?? namespace) !== namespace)
    throw badRequest("the name and the namespace of the TokenRequest must be those in the URL");
  const account = deps.store.head(target.resource.table, storeKey(target));
  if (account === undefined) throw notFound(target.resource, name);
  if (deps.tokenCrypto === undefined)
    throw serverError("this server has no key to sign tokens with");
  const spec = specOf(context, request, name);
  const bound = boundClaims(deps, target, spec.boundObjectRef);
  const now = Math.floor(deps.clock.now() / 1000);
  const claims: JsonObject = {
    aud: [...spec.audiences],
    exp: now + spec.expirationSeconds,
    iat: now,
    iss: ISSUER,
    jti: deps.ids.uid(),
    [KUBERNETES_CLAIM]: {
      namespace,
      ...bound,
      serviceaccount: { name, uid: account.object.metadata.uid },
    },
    nbf: now,
    sub: accountUser(namespace, name),
  };
  const token = parameters.dryRun ? "" : await deps.tokenCrypto.signJwt(claims);
  const answer = {
    ...request,
    metadata: { name, namespace, creationTimestamp: formatTime(deps.clock.now()) },
    spec: { ...spec },
    status: {
      token,
      expirationTimestamp: formatTime(instantOf((now + spec.expirationSeconds) * 1000)),
    },
  } as unknown as AnyObject;
  return { object: deepFreeze(answer), created: true };
}

function decodeTokenRequest(
  context: RequestContext,
  { resource }: Target,
  body: Body,
  parameters: WriteParameters,
): JsonObject {
  const schema = builtinSchema("authentication.k8s.io/v1", "TokenRequest");
  assert(schema !== undefined, "token requests are described");
  const requests: ServedResource = { ...resource, ...KIND, version: "v1", schema };
  return decodeBody(context, requests, body, parameters.fieldValidation);
}

interface BoundReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

interface TokenSpec {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly boundObjectRef?: BoundReference;
}

/** As decoded: what is absent may be null. */
interface GivenSpec {
  readonly audiences?: readonly string[] | null;
  readonly expirationSeconds?: number | null;
  readonly boundObjectRef?: BoundReference | null;
}

/** The spec with defaults; refuses what is out of bounds. */
function specOf(context: RequestContext, request: JsonObject, name: string): TokenSpec {
  const found = request["spec"];
  const spec = isJsonObject(found) ? (found as GivenSpec) : {};
  const audiences = spec.audiences ?? [];
  const asked = spec.expirationSeconds ?? DEFAULT_SECONDS;
  const errors: FieldError[] = [];
  const tooLong = `may not specify a duration larger than ${MAX_ASKED_SECONDS} seconds`;
  if (asked < MIN_SECONDS)
    errors.push(
      invalid("spec.expirationSeconds", asked, "may not specify a duration less than 10 minutes"),
    );
  if (asked > MAX_ASKED_SECONDS) errors.push(invalid("spec.expirationSeconds", asked, tooLong));
  const bound = spec.boundObjectRef ?? undefined;
  if (bound !== undefined && !bound.name) errors.push(required("spec.boundObjectRef.name"));
  if (errors.length > 0) throw invalidObject(KIND, name, errors);
  const expirationSeconds = Math.min(asked, MAX_SECONDS);
  if (expirationSeconds < asked)
    context.warn(
      `requested expiration of ${asked} seconds shortened to ${expirationSeconds} seconds`,
    );
  return {
    audiences: audiences.length === 0 ? [API_AUDIENCE] : audiences,
    expirationSeconds,
    ...(bound !== undefined && { boundObjectRef: bound }),
  };
}

/** The claim about the object that the token is bound to. */
function boundClaims(
  deps: VerbDeps,
  target: Target,
  reference: BoundReference | undefined,
): JsonObject {
  if (reference === undefined) return {};
  const { kind = "", apiVersion = "", name = "", uid = "" } = reference;
  const known = Object.hasOwn(BOUND_KINDS, kind)
    ? BOUND_KINDS[kind as keyof typeof BOUND_KINDS]
    : undefined;
  if (known === undefined || apiVersion !== "v1")
    throw badRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`);
  const resource = deps.catalog.find("", "v1", known.table.slice(1));
  assert(resource !== undefined, "what tokens are bound to is served");
  const namespace = known.namespaced ? target.namespace : "";
  const found = deps.store.head(known.table, `${namespace}/${name}`)?.object;
  if (found === undefined) throw notFound(resource, name);
  if (uid !== "" && uid !== found.metadata.uid)
    throw conflict(
      resource,
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (kind === "Pod") refuseOtherAccount(found, target.name);
  return { [known.field]: { name, uid: found.metadata.uid } };
}

function refuseOtherAccount(pod: AnyObject, account: string): void {
  const spec = pod["spec"] as { readonly serviceAccountName?: string } | undefined;
  const own = spec?.serviceAccountName ?? "";
  if ((own === "" ? "default" : own) === account) return;
  throw badRequest(
    `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
  );
}
