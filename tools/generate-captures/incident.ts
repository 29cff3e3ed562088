/**
 * One unplanned failure, played in one process, and what the commands show of it. Control plane, controllers, members and all that is
 * printed are the product's own; only time, disk and network are not (`createFleet`). The same sources give the same captures, to the
 * byte.
 *
 * Three clusters and five workloads, of which `ledger` must never run twice.
 *
 *   foresight   before anything happens: what would a failure of member1 do?
 *   incident    member1 stops answering. Here everything that has to leave waits for approval: a person approves, declares the cluster
 *               off for the sake of `ledger`, and reads what became of it.
 */
import {
  clusterTaintPolicies,
  evacuations,
  type New,
  type Placement,
  type PropagationPolicy,
  propagationPolicies,
} from "@lifeboat/api";
import { addMs, formatTime } from "@lifeboat/base";
import { createPromMetrics } from "@lifeboat/kit/adapters";
import { type ControllersOptions, createControllers, DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { createFleet, deployment, type Fleet, resources } from "@lifeboat/testkit";
import { existingCluster } from "../../packages/cli/src/change-cluster.ts";
import { existingEvacuation } from "../../packages/cli/src/change-evacuation.ts";
import { describeEvacuation } from "../../packages/cli/src/commands/evacuations.ts";
import { explainWorkload } from "../../packages/cli/src/commands/explain.ts";
import { wordAbout, writeWord } from "../../packages/cli/src/commands/fence.ts";
import { readHistory } from "../../packages/cli/src/commands/history.ts";
import { readView } from "../../packages/cli/src/commands/status.ts";
import { historyLines } from "../../packages/cli/src/history/history-text.ts";
import { openLivePlay } from "../../packages/cli/src/live-play.ts";
import { showStatus } from "../../packages/cli/src/show-status.ts";
import { failureLines, underSnapshot } from "../../packages/cli/src/simulate-text.ts";
import { watchFleet } from "../../packages/cli/src/watch/watch-fleet.ts";

export interface Capture {
  /** Of its file, without the ending. */
  readonly name: string;
  /** What it shows and when. */
  readonly about: string;
  readonly command: string;
  /** What a terminal is sent. */
  readonly written: string;
}

const FAILED = "member1";
const EVACUATION = `${FAILED}-1`;
const TEXT = { kind: "form", form: "text" } as const;

/** All captures, in the order in which they were taken. */
export async function playAll(): Promise<readonly Capture[]> {
  const foresight = await played({}, (story) => story.foresee());
  const incident = await played({ evacuationApproval: "Required" }, (story) => story.fail());
  return [...foresight, ...incident];
}

async function played(
  options: Partial<ControllersOptions>,
  play: (story: Story) => Promise<void>,
): Promise<readonly Capture[]> {
  const fleet = await createFleet({
    members: ["member1", "member2", "member3"],
    metrics: createPromMetrics(),
    services: (context) =>
      createControllers(context, { ...DEFAULT_CONTROLLERS, failover: true, ...options }),
  });
  try {
    const story = new Story(fleet);
    await story.begin();
    await play(story);
    return story.captures;
  } finally {
    await fleet.close();
  }
}

class Story {
  readonly #fleet: Fleet;
  readonly captures: Capture[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  async begin(): Promise<void> {
    await this.#fleet.advance("1m");
    await this.#apply();
    await this.#fleet.advance("2m");
  }

  async foresee(): Promise<void> {
    await this.#explain();
    await this.#simulate();
  }

  async fail(): Promise<void> {
    const fleet = this.#fleet;
    await this.#status("status-well", "lifeboat status while everything is well");
    fleet.member(FAILED).link.setFault({ kind: "down" });
    await fleet.advance("15s");
    await this.#status("status-failing", `lifeboat status while ${FAILED} does not answer`);
    await fleet.advance("2m");
    await this.#status("status-degraded", "lifeboat status while an evacuation waits for approval");

    const watched = this.#watch();
    await fleet.advance("1s");
    await this.#approve();
    await fleet.advance("4s");
    await watched.capture();
    await fleet.advance("30s");
    await this.#status("status-fence", "lifeboat status while a workload waits for a fence");
    await this.#fence();
    await fleet.advance("1m");
    await this.#evacuation();
    await this.#history();
  }

  async #apply(): Promise<void> {
    const { plane } = this.#fleet;
    await plane.create(clusterTaintPolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterTaintPolicy",
      metadata: { name: "failed" },
      spec: {
        matchConditions: [
          { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
        ],
        taintsToAdd: [{ key: "example.com/failed", effect: "NoExecute", addOnMatchSeconds: 60 }],
      },
    });
    for (const { name, replicas, ...policy } of WORKLOADS) {
      await plane.create(resources.deployments, deployment(name, { replicas }));
      await plane.create(propagationPolicies, policyFor(name, policy));
    }
  }

  async #approve(): Promise<void> {
    const { plane, clock } = this.#fleet;
    const approvals = [{ at: formatTime(clock.now()), reason: "the rack is dark" }];
    const key = { namespace: "", name: EVACUATION };
    await plane.patch(evacuations, key, { type: "merge", body: { spec: { approvals } } });
  }

  async #fence(): Promise<void> {
    const { plane, clock } = this.#fleet;
    const word = wordAbout(await existingCluster(plane, FAILED), clock.now(), "ann");
    await writeWord(plane, FAILED, word, false);
  }

  async #status(name: string, about: string): Promise<void> {
    const { plane, clock } = this.#fleet;
    const view = await readView(plane, clock);
    const options = { output: TEXT, isColoured: true, isStream: false };
    this.#add(name, about, "lifeboat status", showStatus(view, clock.now(), options).lines);
  }

  async #explain(): Promise<void> {
    const { plane, clock } = this.#fleet;
    const named = { kind: "deployment", name: "ledger", namespace: "default" };
    const { lines } = await explainWorkload(plane, clock, named);
    const about = `lifeboat explain of a workload in ${FAILED}, with what would happen if that cluster died`;
    this.#add("explain", about, "lifeboat explain deployment/ledger", lines());
  }

  async #simulate(): Promise<void> {
    const { plane, clock } = this.#fleet;
    const live = await openLivePlay(plane, clock);
    const { controllers } = live;
    const played = await live.failure({ fail: [FAILED], controllers, limitMs: 3_600_000 });
    const lines = underSnapshot(live.facts(), failureLines(played));
    const about = `lifeboat simulate plays the failure of ${FAILED}`;
    this.#add("simulate", about, `lifeboat simulate --fail ${FAILED}`, lines);
  }

  #watch(): { capture(): Promise<void> } {
    const { plane, clock } = this.#fleet;
    const stop = new AbortController();
    let written = "";
    const screen = { isTerminal: true, write: (text: string) => void (written += text) };
    const watching = watchFleet({ clock, plane, screen, output: TEXT }, stop.signal);
    return {
      capture: async () => {
        const about = "lifeboat watch while workloads leave";
        this.captures.push({ name: "watch", about, command: "lifeboat watch", written });
        stop.abort();
        await this.#fleet.settle();
        await watching;
      },
    };
  }

  async #evacuation(): Promise<void> {
    const { plane, clock } = this.#fleet;
    const evacuation = await existingEvacuation(plane, EVACUATION);
    const { lines } = await describeEvacuation(plane, clock, evacuation);
    const about = "lifeboat evacuations show after the evacuation has ended";
    this.#add("evacuation", about, `lifeboat evacuations show ${EVACUATION}`, lines());
  }

  async #history(): Promise<void> {
    const { plane, clock } = this.#fleet;
    const since = addMs(clock.now(), -5 * 60_000);
    const lines = historyLines(await readHistory(plane, { since }));
    this.#add("history", "lifeboat history after it", "lifeboat history --since 5m", lines);
  }

  #add(name: string, about: string, command: string, lines: readonly string[]): void {
    const written = lines.map((line) => `${line}\n`).join("");
    this.captures.push({ name, about, command, written });
  }
}

interface Given {
  readonly name: string;
  readonly replicas: number;
  readonly placement: Placement;
  readonly failover?: NonNullable<PropagationPolicy["spec"]["failover"]>;
}

const IN_ONE: Placement = {
  spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
};

const DIVIDED: Placement = {
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
  },
};

const WORKLOADS: readonly Given[] = [
  {
    name: "ledger",
    replicas: 1,
    placement: IN_ONE,
    failover: { cluster: { purgeMode: "Directly" } },
  },
  { name: "cart", replicas: 2, placement: IN_ONE },
  { name: "mail", replicas: 2, placement: IN_ONE },
  { name: "search", replicas: 6, placement: DIVIDED },
  { name: "web", replicas: 3, placement: IN_ONE },
];

function policyFor(name: string, spec: Omit<Given, "name" | "replicas">): New<PropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { namespace: "default", name },
    spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name }], ...spec },
  };
}
