/** Seeded bugs about Remedies, ingresses and load balancers. */
import type { SimMutant } from "../mutant.ts";

const ACTIONS = "packages/core/src/remedy/actions";
const INGRESS = "packages/core/src/remedy/ingress";
const CONTROLLERS = "packages/controllers/src/remedy";
const DETECTOR = "packages/core/src/remedy/detector";
const INSTANCE = "packages/controllers/src/member-side/detector/create-cluster-detector.ts";

export const trafficMutants: readonly SimMutant[] = [
  {
    oracle: "names-turn-after-a-whole-window",
    promise: "A11",
    breaks: "one detection is enough",
    file: `${DETECTOR}/window.ts`,
    symbol: "afterDetection.neededMs",
    replace: "0",
    caughtIn: ["names-fail-on-nodes"],
  },
  {
    oracle: "names-turn-after-a-whole-window",
    promise: "A11",
    breaks: "one node that fails is a cluster that fails",
    file: `${DETECTOR}/report.ts`,
    symbol: "decideDetection.fresh",
    replace:
      "original.some(({ verdict }) => verdict === false) ? original.filter(({ verdict }) => verdict === false) : original",
    caughtIn: ["names-fail-on-nodes"],
  },
  {
    oracle: "names-turn-after-a-whole-window",
    promise: "A11",
    breaks: "nodes that could not be heard count as silent",
    file: INSTANCE,
    symbol: "RunningDetector.#hear",
    replace: "() => undefined",
    caughtIn: ["names-fail-on-nodes"],
  },
  {
    oracle: "the-elected-detector-writes",
    promise: "A11",
    breaks: "every node writes the condition",
    file: INSTANCE,
    symbol: "RunningDetector.run.services",
    replace:
      '[...original, { name: "all", run: (until: AbortSignal) => this.#lead(until, () => true) }]',
    caughtIn: ["names-fail-on-nodes"],
  },
  {
    oracle: "names-that-resolve-are-reported",
    promise: "A11",
    breaks: "a cluster that failed never works again",
    file: `${DETECTOR}/window.ts`,
    symbol: "afterDetection.neededMs",
    replace: "success ? Infinity : original",
    caughtIn: ["names-fail-on-nodes"],
  },
  {
    oracle: "actions-are-what-remedies-want",
    promise: "J1",
    breaks: "the actions of a deleted Remedy stay",
    file: `${CONTROLLERS}/actions/create-remedy.ts`,
    symbol: "createRemedies.allClusters",
    replace: "() => []",
    caughtIn: ["remedies-come-and-go"],
  },
  {
    oracle: "actions-are-what-remedies-want",
    promise: "J1",
    breaks: "all conditions of a Remedy have to match",
    file: `${ACTIONS}/wanted.ts`,
    symbol: "causeOf",
    replace:
      "(remedy, cluster) => original({ ...remedy, spec: { ...remedy.spec, decisionMatches: remedy.spec.decisionMatches?.slice(-1) } }, cluster)",
    caughtIn: ["remedies-come-and-go"],
  },
  {
    oracle: "no-action-without-a-remedy",
    promise: "J1",
    breaks: "a condition that a cluster does not have matches NotEqual",
    file: `${ACTIONS}/wanted.ts`,
    symbol: "isMatched",
    replace:
      '(match, cluster) => original(match, cluster) || match.clusterConditionMatch?.operator === "NotEqual"',
    caughtIn: ["remedies-come-and-go"],
  },
  {
    oracle: "conditions-block-half-at-most",
    promise: "D27",
    breaks: "the brake lets everything through",
    file: `${ACTIONS}/brake.ts`,
    symbol: "decideBlock",
    replace: "(view, moment) => original({ ...view, recent: [] }, moment)",
    caughtIn: ["most-are-sick-at-once"],
  },
  {
    oracle: "blocks-follow-the-actions",
    promise: "J2",
    breaks: "a block does not end with its action",
    file: `${CONTROLLERS}/ingress/create-multi-cluster-ingress.ts`,
    symbol: "isBlocked",
    replace:
      "(cluster) => { const former = (createMultiClusterIngress.former ??= new Set()); return (original(cluster) ? former.add(cluster.metadata.name) : former).has(cluster.metadata.name); }",
    caughtIn: ["remedies-come-and-go"],
  },
  {
    oracle: "blocks-follow-the-actions",
    promise: "J2",
    breaks: "a cluster without a backend is blocked, too",
    file: `${INGRESS}/decide.ts`,
    symbol: "blockedClusters.withBackend",
    replace: "new Set(clusters.map(({ metadata }) => metadata.name))",
    caughtIn: ["a-service-moves"],
  },
  {
    oracle: "some-backend-keeps-its-traffic",
    promise: "J4",
    breaks: "every cluster may be blocked",
    file: `${INGRESS}/decide.ts`,
    symbol: "blockedClusters.blocked",
    replace: "wouldBlock",
    caughtIn: ["all-backends-blocked"],
  },
  {
    oracle: "all-blocked-is-shown",
    promise: "J4",
    breaks: "it is not shown that all would be blocked",
    file: `${INGRESS}/decide.ts`,
    symbol: "allBlocked",
    replace: "(blocks) => original({ ...blocks, wouldBlock: blocks.blocked })",
    caughtIn: ["all-backends-blocked"],
  },
  {
    oracle: "backends-are-where-the-service-is",
    promise: "J6",
    breaks: "a cluster that had a Service keeps it for ever",
    file: `${INGRESS}/locations.ts`,
    symbol: "locationsOf.clusters",
    replace: "[...new Set([...original, ...had])].sort(compareText)",
    caughtIn: ["a-service-moves"],
  },
  {
    oracle: "requests-go-where-backends-are",
    promise: "J3",
    breaks: "load balancers know nothing of blocks",
    file: "packages/core/src/traffic/table.ts",
    symbol: "compileIngress",
    replace: "(ingress) => original({ ...ingress, status: {} })",
    caughtIn: ["a-service-moves"],
  },
  {
    oracle: "requests-go-where-backends-are",
    promise: "J3",
    breaks: "backends are published once",
    file: "packages/core/src/traffic/backends.ts",
    symbol: "decideBackends",
    replace:
      "(view, now) => Object.values(publishedBackends(view.ingress).services).some(({ clusters }) => Object.values(clusters).some(({ addresses }) => addresses.length > 0)) ? publishedBackends(view.ingress) : original(view, now)",
    caughtIn: ["a-service-moves"],
  },
  {
    oracle: "traffic-leaves-before-the-copy",
    promise: "D27",
    breaks: "an old copy waits for no load balancer",
    file: "packages/core/src/failover/eviction-tasks/traffic-guard.ts",
    symbol: "guardTraffic",
    replace: '() => ({ kind: "passes" })',
    caughtIn: ["drained-of-traffic"],
  },
  {
    oracle: "no-eviction-is-left",
    promise: "O-graceful-8",
    breaks: "a Service of an ingress keeps another from being drained",
    file: "packages/core/src/traffic/table.ts",
    symbol: "generationsOf",
    replace: "(ingress) => (ingress.overridden.size === 0 ? original(ingress) : [])",
    caughtIn: ["one-service-is-served-as-a-last-resort"],
  },
];
