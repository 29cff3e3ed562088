/**
 * Whatever bytes arrive as a request target, the router answers at once, never throws, and never lets a path outside the
 * grammar through. Paths that the client library writes are read back as they were meant.
 */
import { resourcePath } from "@lifeboat/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePath } from "./path.ts";
import { Query } from "./query.ts";

const RUNS = 100_000;

const PIECES =
  "api apis v1 apps namespaces watch status finalize pods a x-1 . .. %2e%2e %2F %5c %00 % %zz a%20b ü \\ ?"
    .split(" ")
    .concat("", "\u0000");

const piece = fc.oneof(
  fc.constantFrom(...PIECES),
  fc.string({ maxLength: 12 }),
  fc.string({ maxLength: 12, unit: "binary" }),
);
const target = fc.oneof(
  fc.array(piece, { maxLength: 9 }).map((pieces) => `/${pieces.join("/")}`),
  fc.string({ maxLength: 60, unit: "binary" }),
);

function isClean(segment: string): boolean {
  if (segment.includes("/") || segment === "." || segment === "..") return false;
  // eslint-disable-next-line no-control-regex
  return !/[\u0000-\u001f\u007f]/.test(segment);
}

test("no request target gets a path outside the grammar through", () => {
  fc.assert(
    fc.property(target, (text) => {
      const path = parsePath(text);
      if (path.kind === "malformed") return;
      if (path.kind === "other") {
        expect(path.segments.every(isClean)).toBe(true);
        return;
      }
      const { group, version, namespace, plural, name, subresource } = path;
      expect([group, version, namespace, plural, name, subresource].every(isClean)).toBe(true);
      expect(version === "" || plural === "").toBe(false);
      if (subresource !== "") expect(name).not.toBe("");
    }),
    { numRuns: RUNS },
  );
});

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.:]{0,20}[a-z0-9])?$/);
const plural = fc
  .stringMatching(/^[a-z]{3,12}$/)
  .filter((text) => !["watch", "namespaces"].includes(text));

test("what a client writes is read back", () => {
  fc.assert(
    fc.property(
      fc.record({
        group: fc.oneof(fc.constant(""), name),
        version: fc.constantFrom("v1", "v1beta1"),
        plural,
        namespaced: fc.boolean(),
        namespace: name,
        name: fc.option(name, { nil: "" }),
        subresource: fc.constantFrom("", "status", "scale"),
      }),
      (wanted) => {
        const namespace = wanted.namespaced ? wanted.namespace : "";
        const subresource = wanted.name === "" ? "" : wanted.subresource;
        const resource = { ...wanted, kind: "X" };
        // `namespaces/x/status` is the status of a Namespace: a collection of that name cannot be addressed.
        if (wanted.plural === "status" || wanted.plural === "finalize") return;
        expect(parsePath(resourcePath(resource, namespace, wanted.name, subresource))).toEqual({
          kind: "resource",
          group: wanted.group,
          version: wanted.version,
          namespace,
          plural: wanted.plural,
          name: wanted.name,
          subresource,
          watch: false,
        });
      },
    ),
    { numRuns: 10_000 },
  );
});

test("any text is a query", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80, unit: "binary" }), (text) => {
      const query = new Query(text);
      expect(typeof query.text("limit")).toBe("string");
      expect(query.all("a").length).toBeLessThanOrEqual(1000);
    }),
    { numRuns: RUNS },
  );
});

test("a query is read as the platform's own parser reads it, where the encoding is sound", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("a", "b", "c d", "ü"), fc.string({ maxLength: 8 })), {
        maxLength: 6,
      }),
      (pairs) => {
        const reference = new URLSearchParams(pairs);
        const query = new Query(reference.toString());
        for (const [key] of pairs) expect(query.all(key)).toEqual(reference.getAll(key));
      },
    ),
    { numRuns: 20_000 },
  );
});
