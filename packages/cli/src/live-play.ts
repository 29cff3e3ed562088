/** What would happen to the live control plane: played on a copy by its own code, or decided on one view of it, in this process. */
import type { Clock } from "@lifeboat/base";
import { createRealClock, drainPromises } from "@lifeboat/base/adapters";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import type { Client } from "@lifeboat/kit";
import type { ControllersOptions } from "@lifeboat/plane";
import type { ForeseenFailure } from "@lifeboat/core/operating";
import type {
  FailureRequest,
  ForesightRequest,
  PlayedChange,
  PlayedFailure,
  PlayFrom,
  PlayRequest,
} from "@lifeboat/sim";
import { publishedControllers } from "./controller-options.ts";
import type { OptionDefinition } from "./options.ts";
import { outputOption } from "./output.ts";
import type { SnapshotFacts } from "./simulate-text.ts";

/** The exit code when a workload does not run whole at the end. */
export const GAPS = 3;

export const playOptions: readonly OptionDefinition[] = [
  {
    name: "for",
    type: "duration",
    value: "TIME",
    default: "24h",
    min: 1000,
    help: "The longest that is played; it ends earlier when nothing moves any more",
  },
  outputOption(["text"]),
];

export interface LivePlay {
  /** What the controllers of the live control plane run with. */
  readonly controllers: ControllersOptions;
  failure(request: FailureRequest): Promise<PlayedFailure>;
  change(request: PlayRequest): Promise<PlayedChange>;
  /** Of the snapshot, and how old it is now. */
  facts(): SnapshotFacts;
}

/** Reads the control plane once; every play starts from what was read. */
export async function openLivePlay(
  plane: Client,
  clock: Clock = createRealClock(),
): Promise<LivePlay> {
  // Loaded here: no other command needs the simulation.
  const { imagesFromSnapshot, playChange, playFailure, readSnapshot } =
    await import("@lifeboat/sim");
  const ports = { drain: drainPromises };
  const takenAt = clock.now();
  const snapshot = await readSnapshot(plane, takenAt);
  const controllers = publishedControllers(await readPublished(plane));
  const from: PlayFrom = { snapshot, images: await imagesFromSnapshot(ports, snapshot) };
  return {
    controllers,
    failure: (request) => playFailure(ports, from, request),
    change: (request) => playChange(ports, from, request),
    facts: () => ({ takenAt, version: snapshot.version, ageMs: clock.now() - takenAt }),
  };
}

export interface LiveForesight extends Pick<LivePlay, "controllers" | "facts"> {
  /** What the failure of each of these clusters alone would do. */
  every(names: readonly string[], request: ForesightRequest): readonly ForeseenFailure[];
}

/** Reads of the control plane what core needs to decide about failures; nothing is played, so it is quick also for large fleets. */
export async function openForesight(plane: Client): Promise<LiveForesight> {
  const { FORESIGHT_TABLES, foresightOf, readSnapshot } = await import("@lifeboat/sim");
  const clock = createRealClock();
  const takenAt = clock.now();
  const snapshot = await readSnapshot(plane, takenAt, FORESIGHT_TABLES);
  return {
    controllers: publishedControllers(await readPublished(plane)),
    every: (names, request) => {
      const foresight = foresightOf(snapshot, request);
      return names.map((name) => foresight.failureOf(name));
    },
    facts: () => ({ takenAt, version: snapshot.version, ageMs: clock.now() - takenAt }),
  };
}
