/**
 * Whatever a client sends, it gets exactly one answer: a valid status, headers that can be written, a body that is what
 * its type is. Nothing hangs, nothing is thrown, and the server answers the next request as before.
 */
import { createWorld } from "@lifeboat/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { send } from "./exchange.suite.ts";

const RUNS = 10_000;

const word = fc.oneof(
  fc.constantFrom(
    "api",
    "apis",
    "v1",
    "apps",
    "namespaces",
    "default",
    "configmaps",
    "deployments",
  ),
  fc.constantFrom("watch", "status", "scale", "c1", "nope", "", "..", "%2F", "%00", "%ff", "a%20b"),
  fc.string({ maxLength: 8 }),
);
const known = fc.constantFrom(
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/configmaps/c1",
  "/apis/apps/v1/namespaces/default/deployments/d/scale",
  "/apis",
  "/openapi/v3",
  "/readyz",
);
const path = fc.oneof(
  known,
  fc.array(word, { maxLength: 7 }).map((words) => `/${words.join("/")}`),
);
const parameter = fc.tuple(
  fc.constantFrom(
    "limit",
    "continue",
    "watch",
    "timeoutSeconds",
    "timeout",
    "resourceVersion",
    "dryRun",
    "labelSelector",
    "fieldSelector",
    "fieldManager",
    "fieldValidation",
    "force",
    "pretty",
    "includeObject",
    "propagationPolicy",
    "gracePeriodSeconds",
    "sendInitialEvents",
    "hash",
  ),
  fc.oneof(
    fc.constantFrom("", "0", "1", "true", "All", "-1", "5s", "a=b", "%zz"),
    fc.string({ maxLength: 6 }),
  ),
);
const query = fc
  .array(parameter, { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&"));
const json = fc.json({ maxDepth: 3 });
const body = fc.oneof(
  fc.constant(""),
  json,
  fc
    .record({ metadata: fc.record({ name: fc.string({ maxLength: 6 }) }) })
    .map((value) => JSON.stringify(value)),
  fc.string({ maxLength: 40 }),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
);
const header = fc.dictionary(
  fc.constantFrom(
    "accept",
    "content-type",
    "authorization",
    "impersonate-user",
    "impersonate-group",
    "impersonate-extra-a",
    "if-none-match",
    "user-agent",
    "audit-id",
  ),
  fc.oneof(
    fc.constantFrom(
      "application/json",
      "application/vnd.kubernetes.protobuf",
      "*/*",
      "Bearer x",
      "curl",
    ),
    fc.constantFrom("application/merge-patch+json", "application/json-patch+json", "a/b;q=x,,;"),
    fc.constantFrom(
      "application/json;as=Table;v=v1;g=meta.k8s.io",
      "application/strategic-merge-patch+json",
    ),
    fc.string({ maxLength: 20 }),
  ),
  { maxKeys: 3 },
);

// eslint-disable-next-line no-control-regex
const UNWRITABLE = /[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/;

test("every request gets one sound answer", async () => {
  const world = await createWorld({ housekeeping: false });
  const { handle } = world.server;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "BREW"),
      path,
      query,
      header,
      body,
      fc.boolean(),
      async (method, where, parameters, headers, content, isAdmin) => {
        const url = `${where}?${parameters}`;
        const options = { headers, body: content, ...(isAdmin ? {} : { user: null }) };
        const answering = send(handle, method, url, options);
        // A list at a version of the future waits for it, for some seconds of the world's clock.
        const sent = await Promise.race([answering, world.advance("30s").then(() => answering)]);
        expect(sent.status).toBeGreaterThanOrEqual(200);
        expect(sent.text).not.toContain("InternalError");
        for (const value of Object.values(sent.headers).flat())
          expect(UNWRITABLE.test(value)).toBe(false);
        if (sent.headers["content-type"] === "application/json" && !sent.text.startsWith('{"type"'))
          if (sent.text !== "") JSON.parse(sent.text);
      },
    ),
    { numRuns: RUNS },
  );
  expect((await send(handle, "GET", "/readyz")).text).toBe("ok");
}, 120_000);
