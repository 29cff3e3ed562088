/** Everything that is not a resource: discovery, OpenAPI, version, health, metrics, the index. */
import type { JsonObject } from "@lifeboat/api";
import type { Metrics } from "@lifeboat/kit";
import { ISSUER } from "../authentication/service-accounts.ts";
import type { Catalog } from "../catalog/served-resource.ts";
import type { Discovery, DiscoveryDocument } from "./discovery.ts";
import type { HttpRequest } from "./exchange.ts";
import { type HealthCheck, healthDraft } from "./health.ts";
import { openApiV2Draft } from "./openapi-v2.ts";
import type { Query } from "./query.ts";
import { methodNotAllowed, resourceNotFound } from "./resource-verb.ts";
import {
  bytesDraft,
  type Draft,
  emptyDraft,
  type Headers,
  JSON_TYPE,
  pageNotFound,
} from "./respond.ts";

/** What OpenAPI answers: finished but for the headers that every answer has. */
export interface OpenApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface OpenApiDocuments {
  /** `/openapi/v3`. */
  index(): OpenApiAnswer;
  /** `/openapi/v3/{path}`, such as `apis/apps/v1`; undefined when there is none. */
  document(path: string, hash: string | undefined): OpenApiAnswer | undefined;
}

export interface Health {
  readonly live: readonly HealthCheck[];
  readonly ready: readonly HealthCheck[];
}

export interface PathServerDeps {
  readonly catalog: Catalog;
  readonly discovery: Discovery;
  readonly openApi: OpenApiDocuments;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly gitVersion: string;
  /** The keys of this server's own tokens; absent: it issues none. */
  readonly publicKeys?: JsonObject | undefined;
}

export type ServePath = (
  request: HttpRequest,
  segments: readonly string[],
  query: Query,
) => Promise<Draft>;

export function createPathServer(deps: PathServerDeps): ServePath {
  const version = Buffer.from(`${JSON.stringify(versionInfo(deps.gitVersion), null, 2)}\n`);
  return async (request, segments, query) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const route = routeOf(deps, version, request, segments, query);
    if (route !== undefined && !isRead) throw methodNotAllowed();
    return route === undefined ? pageNotFound() : route();
  };
}

type Route = () => Draft | Promise<Draft>;

function routeOf(
  deps: PathServerDeps,
  version: Uint8Array,
  request: HttpRequest,
  segments: readonly string[],
  query: Query,
): Route | undefined {
  const first = segments[0] ?? "";
  const rest = segments.slice(1);
  switch (first) {
    case "api":
    case "apis":
      return discoveryRoute(deps, first, rest, request);
    case "version":
      return rest.length === 0 ? () => bytesDraft(200, JSON_TYPE, version) : undefined;
    case "healthz":
    case "livez":
    case "readyz":
      return () => {
        const checks = first === "readyz" ? deps.health.ready : deps.health.live;
        return healthDraft(first, checks, rest.length === 0 ? undefined : rest.join("/"), query);
      };
    case "metrics":
      return rest.length === 0 ? () => metricsDraft(deps.metrics) : undefined;
    case ".well-known":
    case "openid":
      return issuerRoute(deps.publicKeys, segments.join("/"));
    case "openapi":
      if (rest.length === 1 && rest[0] === "v2")
        return () => openApiV2Draft(request.headers["accept"], deps.gitVersion);
      return openApiRoute(deps.openApi, rest, query, request);
    case "":
      return rest.length === 0 ? () => indexDraft(deps) : undefined;
    default:
      return undefined;
  }
}

function discoveryRoute(
  deps: PathServerDeps,
  root: "api" | "apis",
  rest: readonly string[],
  request: HttpRequest,
): Route | undefined {
  const { discovery } = deps;
  const [first, second] = rest;
  const { headers } = request;
  if (first === undefined)
    return () => discoveryDraft(discovery.root(root, headers["accept"]), headers);
  if (root === "api" && rest.length === 1)
    return () => versionDraft(discovery.version("", first), headers);
  if (root === "apis" && rest.length === 1) {
    const group = discovery.group(first);
    return group === undefined ? undefined : () => discoveryDraft(group, headers);
  }
  if (root === "apis" && rest.length === 2 && second !== undefined) {
    if (discovery.group(first) === undefined) return undefined;
    return () => versionDraft(discovery.version(first, second), headers);
  }
  if (root === "api" || (first !== undefined && discovery.group(first) !== undefined))
    return () => versionDraft(undefined, headers);
  return undefined;
}

/** A version that is not served, in a group that is, answers a Status and not a page. */
function versionDraft(
  document: DiscoveryDocument | undefined,
  headers: HttpRequest["headers"],
): Draft {
  if (document === undefined) throw resourceNotFound();
  return discoveryDraft(document, headers);
}

function discoveryDraft(document: DiscoveryDocument, headers: HttpRequest["headers"]): Draft {
  if (document.etag === undefined) return bytesDraft(200, document.contentType, document.body);
  const caching: Headers = { etag: document.etag, vary: "Accept", "cache-control": "public" };
  if (headers["if-none-match"] === document.etag) return emptyDraft(304, caching);
  return {
    status: 200,
    headers: { ...caching, "content-type": document.contentType },
    body: document.body,
  };
}

function openApiRoute(
  openApi: OpenApiDocuments,
  rest: readonly string[],
  query: Query,
  request: HttpRequest,
): Route | undefined {
  const [version, ...path] = rest;
  if (version !== "v3") return undefined;
  const answer =
    path.length === 0 ? openApi.index() : openApi.document(path.join("/"), query.get("hash"));
  if (answer === undefined) return undefined;
  const headers: Headers = { ...answer.headers };
  const isKnown = answer.status === 200 && headers["etag"] !== undefined;
  if (isKnown && request.headers["if-none-match"] === headers["etag"])
    return () => emptyDraft(304, headers);
  return () => ({ status: answer.status, headers, body: answer.body });
}

/** By which other services find out how to check this server's tokens: OpenID Connect discovery. */
function issuerRoute(publicKeys: JsonObject | undefined, path: string): Route | undefined {
  if (publicKeys === undefined) return undefined;
  if (path === KEYS_PATH)
    return () => bytesDraft(200, "application/jwk-set+json", jsonBytes(publicKeys));
  if (path !== ".well-known/openid-configuration") return undefined;
  const document = {
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/${KEYS_PATH}`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  };
  return () => bytesDraft(200, JSON_TYPE, jsonBytes(document));
}

const KEYS_PATH = "openid/v1/jwks";

function jsonBytes(value: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

async function metricsDraft(metrics: Metrics): Promise<Draft> {
  const text = await metrics.expose();
  return bytesDraft(200, "text/plain; version=0.0.4; charset=utf-8", Buffer.from(text));
}

function indexDraft(deps: PathServerDeps): Draft {
  const paths = [
    "/api",
    "/apis",
    "/healthz",
    "/livez",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/version",
  ];
  for (const { name, versions } of deps.catalog.groups()) {
    const root = name === "" ? "/api" : `/apis/${name}`;
    if (name !== "") paths.push(root);
    for (const version of versions) paths.push(`${root}/${version}`);
  }
  for (const check of deps.health.live) paths.push(`/livez/${check.name}`);
  for (const check of deps.health.ready) paths.push(`/readyz/${check.name}`);
  const body = `${JSON.stringify({ paths: paths.sort() }, null, 2)}\n`;
  return bytesDraft(200, JSON_TYPE, Buffer.from(body));
}

/** What `/version` answers; clients parse gitVersion as a semantic version. */
function versionInfo(gitVersion: string): object {
  const [major = "1", minor = "0"] = gitVersion.replace(/^v/, "").split(".");
  return {
    major,
    minor,
    gitVersion,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: "",
  };
}
