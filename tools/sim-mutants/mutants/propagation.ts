/** Seeded bugs for the oracles of group H: propagation. */
import type { SimMutant } from "../mutant.ts";

export const propagationMutants: readonly SimMutant[] = [
  {
    oracle: "works-live-in-their-namespace",
    promise: "H2",
    breaks: "copies for all clusters are marked as the first cluster's",
    file: "packages/core/src/propagation/rendering/render.ts",
    symbol: "manifestOf",
    replace: '(view, copy, key) => original(view, copy, { ...key, namespace: "karmada-es-m1" })',
    caughtIn: ["propagate"],
  },
  {
    oracle: "no-orphan-work",
    promise: "H1",
    breaks: "a Work stays in a cluster that a policy no longer names",
    file: "packages/core/src/propagation/works/decide-works.ts",
    condition: "wanted-here",
    replace: "isGoing(work) || clusters.wanted.size > 0",
    caughtIn: ["update"],
  },
  {
    oracle: "every-target-has-its-work",
    promise: "H5",
    breaks: "the first Work that is missing is never made",
    file: "packages/core/src/propagation/works/decide-works.ts",
    symbol: "decideWorks.creates",
    replace: "original.slice(1)",
    caughtIn: ["propagate"],
  },
  {
    oracle: "members-hold-what-works-say",
    promise: "H5",
    breaks: "a copy that is ours is never changed",
    file: "packages/core/src/propagation/applying/apply.ts",
    condition: "up-to-date",
    replace: "ours || original",
    caughtIn: ["update"],
  },
  {
    oracle: "status-comes-back",
    promise: "H5",
    breaks: "the report of the first cluster is left out",
    file: "packages/core/src/propagation/aggregation/items.ts",
    symbol: "aggregatedItems",
    replace: "(works) => original(works).slice(1)",
    caughtIn: ["propagate"],
  },
  {
    oracle: "nothing-is-left-going",
    promise: "H6",
    breaks: "execution does not let a Work go whose objects are gone",
    file: "packages/controllers/src/member-side/execution/remove-work.ts",
    symbol: "release.rest",
    replace: "finalizers",
    caughtIn: ["delete"],
  },
  {
    oracle: "quiet-at-rest",
    promise: "H7",
    breaks: "every probe of a cluster leaves a mark on it",
    file: "packages/controllers/src/clusters/cluster-status/create-cluster-status.ts",
    marked: "nothing-to-write",
    replace: `if (plan.status === undefined) {
      if (follower.isWritten) return done;
      follower.wrote(knowledge);
      const annotations = { probed: String(clock.now()) };
      await plane.patch(clusters, key, { type: "merge", body: { metadata: { annotations } } });
      return done;
    }`,
    caughtIn: ["propagate"],
  },
  {
    oracle: "quiet-at-rest",
    promise: "H7",
    breaks: "what failed while the disk was full is tried again minutes after that",
    file: "packages/kit/src/work-queue.ts",
    symbol: "BACKOFF_CAP_MS",
    replace: "1_000_000",
    caughtIn: ["faulty-while-the-disk-is-full"],
  },
  {
    oracle: "one-template-generation",
    promise: "H3",
    breaks: "a Work names an older generation than it shows",
    file: "packages/core/src/propagation/rendering/render.ts",
    symbol: "generationOf",
    replace:
      "(template) => { const { generation } = renderedIdentity(template); return generation === 0 ? {} : { [TEMPLATE_GENERATION]: String(Math.max(1, generation - 1)) }; }",
    caughtIn: ["update"],
  },
  {
    oracle: "gone-means-gone",
    promise: "H4",
    breaks: "a member that does not answer counts as emptied",
    file: "packages/controllers/src/member-side/execution/remove-work.ts",
    marked: "no-answer",
    replace: "return undefined;",
    caughtIn: ["unreachable-at-deletion"],
  },
  {
    oracle: "one-work-per-binding-and-cluster",
    promise: "H2",
    breaks: "every generation of a template has a Work of its own",
    file: "packages/core/src/propagation/rendering/render.ts",
    symbol: "workKeyOf.name",
    replace: "`${original}-${renderedIdentity(template).generation}`",
    caughtIn: ["update"],
  },
  {
    oracle: "forced-removal-ends",
    promise: "H6",
    breaks: "a cluster that is removed by force waits until it answers",
    file: "packages/core/src/clusters/lifecycle.ts",
    symbol: "decideRemoval.letGo",
    replace: "view.isForced && view.isReachable && view.heldWorks > 0",
    caughtIn: ["removed-by-force"],
  },
  {
    oracle: "removed-clusters-leave-nothing",
    promise: "H6",
    breaks: "divided workloads keep clusters that leave in their result",
    file: "packages/core/src/placement/due.ts",
    symbol: "whyDue.isLeaving",
    replace: "false",
    caughtIn: ["divided-and-removed-by-force"],
  },
];
