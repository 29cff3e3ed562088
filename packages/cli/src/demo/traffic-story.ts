/**
 * The story of traffic: clients send requests to an application in three clusters; in one of them names stop resolving, and a
 * Remedy takes its traffic away; they resolve again, and it returns. Not one request fails, or the story ends with an error.
 */
import { sleep } from "@lifeboat/base";
import { CommandFailed } from "../failure.ts";
import { type DemoStory, Director, type Scene } from "./director.ts";
import { type RequestCounts, type Requests, startRequests } from "./requests.ts";
import { timelineLines } from "./stage.ts";
import { deployExposed, HOST, reportNames } from "./traffic-application.ts";
import {
  isServedByAll,
  takeTrafficView,
  trafficMilestones,
  trafficTable,
  type TrafficView,
} from "./traffic-view.ts";

const CHAPTER_MS = 60_000;
/** For how long the table is shown after each chapter. */
const WATCH_MS = 8000;
const FAST_WATCH_MS = 1500;
const SICK = "member2";
const NO_REQUESTS: RequestCounts = { byCluster: new Map(), answered: 0, failed: 0 };

function flags(): readonly string[] {
  return ["--serve-http", "--gateway-listen", "127.0.0.1:0", "--log-level", "error"];
}

async function play(scene: Scene): Promise<void> {
  const { plane, clock, stage } = scene;
  let requests: Requests | undefined;
  const look = (): Promise<TrafficView> =>
    takeTrafficView(
      plane,
      () => requests?.counts() ?? NO_REQUESTS,
      () => clock.monotonic(),
    );
  const director = new Director(scene, { look, lines: trafficTable, chapterMs: CHAPTER_MS });
  const start = async (): Promise<void> => {
    requests = await startedRequests(scene, gatewayIn(scene.running.announced));
  };
  try {
    await expose(scene, director, start);
    const sickness = { cluster: SICK, since: 0, isOver: false };
    await scene.next();
    stage.chapter(
      "3  A cluster gets sick",
      `Names stop resolving in ${SICK}. Its workloads run on and stay where they are; requests shall go elsewhere. Times count from the report.`,
    );
    stage.restartClock();
    const sickAt = clock.monotonic();
    await reportNames(plane, SICK, false, clock.now());
    await tell(director, { ...sickness, since: sickAt }, "left");
    await watch(scene, director);
    await scene.next();
    stage.chapter("4  The cluster is well again", `Names resolve in ${SICK} again.`);
    const wellAt = clock.monotonic();
    await reportNames(plane, SICK, true, clock.now());
    await tell(director, { ...sickness, since: wellAt, isOver: true }, "back");
    await director.until("all clusters answer", isServedByAll);
    await watch(scene, director);
  } finally {
    await requests?.stop();
  }
  conclude(scene, requests?.counts() ?? NO_REQUESTS);
}

async function expose(
  scene: Scene,
  director: Director<TrafficView>,
  startClients: () => Promise<void>,
): Promise<void> {
  const { plane, clock, stage } = scene;
  await scene.next();
  stage.chapter(
    "2  An application that gets requests",
    "A Deployment and its Service run in every cluster. A MultiClusterIngress gives them one name, a Remedy takes traffic from clusters in which names do not resolve. A detector reports that from inside; here the demonstration does.",
  );
  await deployExposed(plane, servicePort());
  const { clusters } = await director.until("the members have joined", (view) => {
    return view.clusters.length > 0;
  });
  for (const { metadata } of clusters) await reportNames(plane, metadata.name, true, clock.now());
  await startClients();
  await director.until("all clusters answer", isServedByAll);
  stage.happened("eight clients send requests all the time, and every cluster answers");
  await watch(scene, director);
}

/** A port of loopback addresses that no other demonstration on this machine uses. */
function servicePort(): number {
  return 20_000 + (process.pid % 10_000);
}

function gatewayIn(announced: string): string {
  const url = /MultiClusterIngresses at (http:\/\/\S+?)[,\s]/.exec(announced)?.[1];
  if (url === undefined) throw new CommandFailed("the control plane opened no gateway");
  return url;
}

/** Begins to count once the gateway serves all clusters: before that there is nothing to lose. */
async function startedRequests({ clock, signal }: Scene, url: string): Promise<Requests> {
  const deadline = clock.monotonic() + CHAPTER_MS;
  for (;;) {
    const trial = startRequests(clock, url, HOST, 3);
    const isRunning = await sleep(clock, 500, signal);
    await trial.stop();
    const { byCluster, failed, firstFailure } = trial.counts();
    if (failed === 0 && byCluster.size === 3) return startRequests(clock, url, HOST);
    if (!isRunning) throw new CommandFailed("stopped");
    if (clock.monotonic() > deadline)
      throw new CommandFailed(`the gateway does not serve all clusters: ${firstFailure ?? ""}`);
  }
}

async function tell(
  director: Director<TrafficView>,
  sickness: Parameters<typeof trafficMilestones>[1],
  last: string,
): Promise<void> {
  await director.tell((view) => trafficMilestones(view, sickness), last);
}

/** Lets people see where requests go, and leaves the table. */
async function watch({ clock, isFast }: Scene, director: Director<TrafficView>): Promise<void> {
  const until = clock.monotonic() + (isFast ? FAST_WATCH_MS : WATCH_MS);
  director.show(await director.until("the time passes", ({ at }) => at >= until));
}

function conclude({ stage }: Scene, { answered, failed, firstFailure }: RequestCounts): void {
  if (failed > 0)
    throw new CommandFailed(`${failed} of ${answered + failed} requests failed: ${firstFailure}`);
  stage.print([""]);
  stage.happened(`${answered} requests were sent, and none failed`);
  stage.chapter("Timeline", `Seconds after names stopped resolving in ${SICK}.`);
  stage.print(timelineLines(stage.timeline));
}

export const trafficStory: DemoStory = { flags, play };
