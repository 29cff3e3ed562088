/** What the oracles of the store say of histories that break and keep their promises. */
import { describe, expect, it } from "vitest";
import { type History, itJudges } from "./history.suite.ts";
import { judged } from "./judged.suite.ts";
import { requestOracles } from "./store.ts";

const MARK = { annotations: { "lifeboat.dev/from-a-later-version": "x" } };
const KEY = "cluster.karmada.io/clusters//m1";

function rewritten(h: History, metadata: object, spec: object = {}): void {
  h.put("plane", KEY, { kind: "Cluster", metadata: { name: "m1", ...metadata }, spec });
}

itJudges([
  [
    "generation-follows-spec",
    "broken",
    "the content changes and the generation does not",
    (h) => rewritten(h, { uid: "uid-of-m1", generation: 1 }, { id: "x" }),
  ],
  [
    "generation-follows-spec",
    "broken",
    "the generation rises by itself",
    (h) => rewritten(h, { uid: "uid-of-m1", generation: 2 }),
  ],
  [
    "generation-follows-spec",
    "kept",
    "both change",
    (h) => rewritten(h, { uid: "uid-of-m1", generation: 2 }, { id: "x" }),
  ],
  [
    "uids-are-for-ever",
    "broken",
    "an object gets another",
    (h) => rewritten(h, { uid: "other", generation: 1 }),
  ],
  [
    "uids-are-for-ever",
    "broken",
    "two objects have the same",
    (h) => h.put("plane", "/configmaps/default/a", { metadata: { uid: "uid-of-m1" } }),
  ],
  [
    "uids-are-for-ever",
    "kept",
    "it stays the same",
    (h) => rewritten(h, { uid: "uid-of-m1", generation: 1 }),
  ],
  [
    "unknown-marks-survive",
    "broken",
    "a write drops them",
    (h) => {
      h.cluster("m1", "True", MARK);
      h.cluster("m1");
    },
  ],
  [
    "unknown-marks-survive",
    "kept",
    "a write keeps them",
    (h) => {
      h.cluster("m1", "True", MARK);
      h.cluster("m1", "False", MARK);
    },
  ],
  [
    "deletion-is-final",
    "broken",
    "what bears finalizers vanishes",
    (h) => {
      h.cluster("m1", "True", { finalizers: ["f"] });
      h.put("plane", KEY, undefined);
    },
  ],
  ["deletion-is-final", "kept", "it bears none", (h) => h.put("plane", KEY, undefined)],
]);

describe("one-order-of-writes", () => {
  const object = { kind: "ConfigMap", metadata: { name: "a", uid: "u" } };
  it.each([
    ["broken", "an object is made twice", "ADDED"],
    ["kept", "it is made once and then changed", "MODIFIED"],
  ] as const)("is %s when %s", (verdict, _when, type) => {
    const { said, write } = judged();
    write("plane", "/configmaps/default/a", object);
    write("plane", "/configmaps/default/a", object, type);
    const spoke = said.some((text) => text.startsWith("one-order-of-writes"));
    expect(spoke).toBe(verdict === "broken");
  });
});

describe("changes-name-their-version", () => {
  const write = { from: "p", to: "plane", verb: "update", what: "", table: "", key: "" } as const;
  it.each([
    ["broken", "it names none", {}],
    ["kept", "it names one", { version: "1" }],
  ])("is %s when %s", (verdict, _when, asks) => {
    const { truth } = judged();
    const said = requestOracles.flatMap(({ judge }) => judge({ ...write, ...asks }, truth));
    expect(said.length > 0).toBe(verdict === "broken");
  });
});
