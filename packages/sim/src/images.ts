/**
 * What is on a fresh disk once a server has started for the first time, so that simulations begin there.
 *
 * An image is a function of the program alone: it is made once per process and shared.
 */
import {
  allowMasters,
  createApiServer,
  createMemoryStorage,
  type DiskImage,
} from "@lifeboat/apiserver";
import {
  createRandom,
  createSeededIds,
  type Instant,
  instantOf,
  VirtualClock,
} from "@lifeboat/base";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import type { NodeOptions } from "@lifeboat/members";
import { createControlPlane } from "@lifeboat/plane";

/** When everything begins: 2026-01-01T00:00:00Z. */
const START_TIME = instantOf(Date.UTC(2026, 0, 1));

/** How a member's API server is run; a plane's is run by the product itself. */
export const MEMBER_SERVER = Object.freeze({
  gitVersion: "v1.36.4",
  tokens: new Map<string, never>(),
  authorizer: allowMasters,
  admissionPlugins: [],
  historyMaxEvents: 50_000,
  historyMaxBytes: 128 * 1024 * 1024,
});

export const PLANE_SERVER = Object.freeze({ version: "0.1.0", tokens: new Map<string, never>() });

let images: Promise<Images> | undefined;

export interface Images {
  /** When they were taken: a simulation on them goes on from there. */
  readonly takenAt: Instant;
  readonly plane: DiskImage;
  /** Of a member that nothing else is said of. */
  readonly member: DiskImage;
  /** By the name of the member: it has joined. */
  readonly joined: ReadonlyMap<string, DiskImage>;
  /** By the name of the member: what is special about it. */
  readonly traits?: ReadonlyMap<string, MemberTraits>;
}

/** How a member differs from others. */
export interface MemberTraits {
  /** In the place of those that the options say. */
  readonly nodes?: readonly NodeOptions[];
  /** The version of Kubernetes that it says it is. */
  readonly gitVersion?: string;
  /** No request reaches it until everything is healed. */
  readonly isSilent?: boolean;
  /** It pulls: an agent runs beside it, unless the options of the simulation say which members pull. */
  readonly pulls?: boolean;
  /** Its agent reaches the plane only once everything is healed. */
  readonly hasSilentAgent?: boolean;
}

/** The disks of a plane that serves its kinds and of an empty member. */
export function freshImages(): Promise<Images> {
  images ??= makeImages();
  return images;
}

async function makeImages(): Promise<Images> {
  const [planeDisk, memberDisk] = [portsOfDisk(1), portsOfDisk(2)];
  const plane = await createControlPlane(planeDisk, PLANE_SERVER);
  await plane.close();
  const member = await createApiServer(memberDisk, MEMBER_SERVER);
  await member.close();
  return {
    takenAt: START_TIME,
    plane: planeDisk.storage.image(),
    member: memberDisk.storage.image(),
    joined: new Map(),
  };
}

/** What a server needs that runs on its own, on a disk with this on it; absent: nothing. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- said by what it calls
export function portsOfDisk(seed: number, image?: DiskImage) {
  const clock = new VirtualClock(START_TIME, () => Promise.resolve());
  const random = createRandom(seed);
  return {
    clock,
    random,
    ids: createSeededIds(random),
    log: silentLog,
    metrics: silentMetrics,
    storage: createMemoryStorage(clock, { syncDelayMs: 0, ...(image && { image }) }),
  };
}
