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
/** T5 asks for ten million, which `.ci/weekly` runs. */
const MEMBER_RUNS = Number(process.env["LIFEBOAT_PROXY_PATHS"] ?? 500_000);
const TIMEOUT_MS = 3_600_000;

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

/** That a member's server, however it reads the path, stays below its root: what is written is encoded, clean and not empty. */
function expectBelow(below: string): void {
  expect(below).toMatch(/^\/(?:[A-Za-z0-9!'()*._~%-]+(?:\/[A-Za-z0-9!'()*._~%-]+)*\/?)?$/);
  const resolved = new URL(below, "https://member").pathname;
  expect(resolved).toBe(below);
  for (const segment of below.split("/")) {
    const once = decodeURIComponent(segment);
    expect(isClean(once)).toBe(true);
  }
}

const DOTS =
  ". .. ... %2e %2E%2e .%2e %252e%252e %c0%ae%c0%ae \uff0e\uff0e \u2024\u2024 %EF%BC%8E..".split(
    " ",
  );
const memberPiece = fc.oneof(
  piece,
  fc.constantFrom(...DOTS, "%2f", "%2F..%2f", ";", "..;", "%5c..", "\\..", "%"),
);
const memberTarget = fc
  .tuple(
    fc.constantFrom(
      "cluster.karmada.io/v1alpha1/clusters/m1/proxy",
      "proxy.lifeboat.dev/v1alpha1/clusters/m1/proxy",
      "proxy.lifeboat.dev/v1alpha1/clusters/m1/attach",
    ),
    fc.array(memberPiece, { maxLength: 9 }),
    fc.constantFrom("", "/", "//", "/.", "/.."),
  )
  .map(([way, pieces, end]) => `/apis/${[way, ...pieces].join("/")}${end}`);

function assertMemberPaths(): void {
  let passed = 0;
  fc.assert(
    fc.property(memberTarget, (text) => {
      const path = parsePath(text);
      expect(path.kind === "member" || path.kind === "malformed").toBe(true);
      if (path.kind !== "member") return;
      passed += 1;
      expect(path.cluster).toBe("m1");
      expectBelow(path.below);
      // Read once more, as a member that is such a server itself would, nothing of it is malformed.
      expect(parsePath(path.below).kind).not.toBe("malformed");
    }),
    { numRuns: MEMBER_RUNS },
  );
  expect(passed).toBeGreaterThan(MEMBER_RUNS / 20);
}

test(
  "no path into a member leaves the member's root, or another member's",
  assertMemberPaths,
  TIMEOUT_MS,
);

test("the cluster that is asked about is the one that a segment names, whole", () => {
  const names = fc.oneof(piece, fc.constantFrom(...DOTS, "m1%2f..%2fm2", "m1;m2", "m1%00", "m1 "));
  fc.assert(
    fc.property(names, fc.array(memberPiece, { maxLength: 3 }), (name, pieces) => {
      const path = parsePath(
        `/apis/cluster.karmada.io/v1alpha1/clusters/${[name, "proxy", ...pieces].join("/")}`,
      );
      if (path.kind !== "member") return;
      const [segment = ""] = name.split("/");
      expect(path.cluster).toBe(decodeURIComponent(segment));
      expect(isClean(path.cluster)).toBe(true);
    }),
    { numRuns: RUNS },
  );
});

test("no request target gets a path outside the grammar through", () => {
  fc.assert(
    fc.property(target, (text) => {
      const path = parsePath(text);
      if (path.kind === "malformed") return;
      if (path.kind === "other") {
        expect(path.segments.every(isClean)).toBe(true);
        return;
      }
      if (path.kind === "member") {
        expectBelow(path.below);
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
