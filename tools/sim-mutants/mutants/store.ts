/** Seeded bugs for the oracles of group K: the store. */
import type { SimMutant } from "../mutant.ts";

export const storeMutants: readonly SimMutant[] = [
  {
    oracle: "deletion-is-final",
    promise: "K4",
    breaks: "an object with finalizers is removed at once",
    file: "packages/apiserver/src/verbs/deletion.ts",
    symbol: "decideDeletion.held",
    replace: "strategy.isHeld?.(object) === true",
    caughtIn: ["delete"],
  },
  {
    oracle: "acknowledged-writes-survive",
    promise: "K6",
    breaks: "a write is answered before it is on disk",
    file: "packages/apiserver/src/store/create-store.ts",
    marked: "answer-when-durable",
    replace: "return entry;",
    caughtIn: ["slow-disk"],
  },
  {
    oracle: "watches-tell-everything",
    promise: "K2",
    breaks: "a watch that resumes leaves one change out",
    file: "packages/apiserver/src/store/start-watch.ts",
    symbol: "startWatch.first",
    replace: "original + 1",
    caughtIn: [
      { scenario: "propagate", write: 9, by: "crash after" },
      { scenario: "propagate", write: 46, by: "crash after" },
    ],
  },
  {
    oracle: "reads-are-current",
    promise: "K1",
    breaks: "a read answers what is not on disk yet",
    file: "packages/apiserver/src/store/create-store.ts",
    symbol: "MemoryStore.get",
    replace: "(table, key) => this.head(table, key)",
    caughtIn: ["slow-disk"],
  },
  {
    oracle: "one-order-of-writes",
    promise: "K1",
    breaks: "a change is written down as a creation",
    file: "packages/apiserver/src/store/create-store.ts",
    symbol: "typeOf",
    replace: "(mutation) => original(mutation, undefined)",
    caughtIn: ["propagate"],
  },
  {
    oracle: "generation-follows-spec",
    promise: "K3",
    breaks: "a change counts for two generations",
    file: "packages/apiserver/src/verbs/replace.ts",
    symbol: "withGeneration.metadata.generation",
    replace: "original + 1",
    caughtIn: ["propagate"],
  },
  {
    oracle: "no-update-is-lost",
    promise: "K3",
    breaks: "an update does not look at the version that it names",
    file: "packages/apiserver/src/verbs/replace.ts",
    condition: "stale-version",
    replace: "false",
    caughtIn: ["update"],
  },
  {
    oracle: "status-writes-change-nothing-else",
    promise: "K3",
    breaks: "a write of a status touches the spec",
    file: "packages/apiserver/src/verbs/replace.ts",
    symbol: "withStatus.object",
    replace: `withField(
      resource.plural === "works"
        ? withField(current, "spec", { ...current["spec"], preserveResourcesOnDeletion: true })
        : current,
      "status",
      decoded["status"],
    )`,
    caughtIn: ["propagate"],
  },
  {
    oracle: "changes-name-their-version",
    promise: "K3",
    breaks: "an eviction is ended blindly",
    file: "packages/controllers/src/failover/graceful-eviction/create-graceful-eviction.ts",
    symbol: "Evictions.#write",
    replace: `(binding, plan, signal) => {
      const blind = ({ metadata, ...rest }) => {
        return { ...rest, metadata: { ...metadata, resourceVersion: undefined } };
      };
      return original(binding, { ...plan, commands: plan.commands.map(blind) }, signal);
    }`,
    caughtIn: ["fail-gracefully"],
  },
  {
    oracle: "uids-are-for-ever",
    promise: "K4",
    breaks: "all Works have the same uid",
    file: "packages/apiserver/src/verbs/metadata.ts",
    symbol: "newMetadata.metadata.uid",
    replace: 'resource.plural === "works" ? "00000000-0000-4000-8000-000000000000" : original',
    caughtIn: ["propagate"],
  },
  {
    oracle: "unknown-marks-survive",
    promise: "K7",
    breaks: "placing a workload takes all other marks off its binding",
    file: "packages/controllers/src/placement/scheduler/write.ts",
    symbol: "writeResult.metadata.annotations",
    replace: "{ [wellKnown.APPLIED_PLACEMENT]: applied }",
    caughtIn: ["from-a-later-version"],
  },
];
