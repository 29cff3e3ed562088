/** What the oracles of propagation say of histories that break and keep their promises. */
import { wellKnown } from "@lifeboat/core";
import { type History, itJudges } from "./history.suite.ts";

function rendered(h: History, generation: number, image: string): void {
  h.template(1, { image: "a" });
  h.template(2, { image: "b" });
  const annotations = {
    [wellKnown.TEMPLATE_UID]: "uid-of-web",
    [wellKnown.TEMPLATE_GENERATION]: String(generation),
  };
  h.work("m1", { annotations, spec: { replicas: 5, image } });
}

itJudges([
  ["one-template-generation", "broken", "it shows another", (h) => rendered(h, 1, "b")],
  ["one-template-generation", "kept", "it shows the one it names", (h) => rendered(h, 2, "b")],
  [
    "gone-means-gone",
    "broken",
    "the member has the copy",
    (h) => {
      h.work("m1", { going: true });
      h.copy("m1", 1);
      h.noWork("m1");
    },
  ],
  [
    "gone-means-gone",
    "kept",
    "the member has none",
    (h) => {
      h.work("m1", { going: true });
      h.copy("m1", 1);
      h.noCopy("m1");
      h.noWork("m1");
    },
  ],
  [
    "gone-means-gone",
    "kept",
    "the cluster is removed by force",
    (h) => {
      h.work("m1", { going: true });
      h.copy("m1", 1);
      h.cluster("m1", "False", { annotations: { [wellKnown.FORCE_REMOVAL]: "true" } });
      h.noWork("m1");
    },
  ],
  ["every-target-has-its-work", "broken", "one has none", (h) => h.binding({ on: { m1: 2 } })],
  [
    "every-target-has-its-work",
    "kept",
    "each has one",
    (h) => {
      h.binding({ on: { m1: 2 } });
      h.work("m1");
    },
  ],
  ["no-orphan-work", "broken", "no binding wants it", (h) => h.work("m1")],
]);
