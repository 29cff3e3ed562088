/**
 * Moves a control plane to another API server, without a write in any member.
 *
 * 1. Nothing decides on half of it: the managers' Lease is held meanwhile, and the mark on the target (mark.ts) keeps managers from
 *    beginning until everything is there, also when this process dies.
 * 2. Every step finds out what is there already, so running it again after a death at any write completes it.
 * 3. Statuses come last: they are about generations that the target counts.
 * 4. It ends with the hold of a restore: nothing is deleted in any member until a person has seen the result.
 */
import {
  type AnyObject,
  customResourceDefinitions,
  equalJson,
  formatKey,
  humanDuration,
  isRefused,
  keyOf,
  type New,
} from "@lifeboat/api";
import { formatTime, type Ids } from "@lifeboat/base";
import { holdDeletionsAs } from "@lifeboat/controllers/operating";
import { movedInCondition } from "@lifeboat/core/propagation/brake";
import {
  type Client,
  createLeaderElection,
  fencedClient,
  type KitPorts,
  LEADER_ELECTION_TIMES,
} from "@lifeboat/kit";
import { untilServed } from "../install/install.ts";
import { MANAGER_LEASE } from "../manager.ts";
import { carriedObject, carriedStatus, correctedObject, originAnnotation } from "./carried.ts";
import { isOwnKind, mayBeThere, type MovedObject, rankOf } from "./inventory.ts";
import { readMark, writeMark } from "./mark.ts";
import { type MigrationPlan, tableKey } from "./plan-migration.ts";
import { MovingRefused } from "./refusal.ts";
import { describe, patiently, pauseWebhooks } from "./webhook-pause.ts";

export type MovingPorts = KitPorts & { readonly ids: Ids };

/** Gets what is done while it goes on: `made 500 objects`. */
export type Tell = (sentence: string) => void;

/** Carries out a plan. `identity`: of this process, for the Lease. */
export async function migrate(
  ports: MovingPorts,
  target: Client,
  plan: MigrationPlan,
  { identity, tell }: { readonly identity: string; readonly tell: Tell },
): Promise<void> {
  if (plan.mark?.phase === "Done") return;
  await whileLeading(ports, target, identity, async (client) => {
    const since = await begin(ports, client, plan);
    const moving = new Moving(ports, client, plan);
    await moving.make();
    tell(`made ${plan.moved.length} objects`);
    await moving.correct();
    await moving.report();
    tell("wrote what they report");
    const whence = `was moved to this API server at ${since}`;
    await holdDeletionsAs(ports, client, movedInCondition(whence));
    await pauseWebhooks(client, false);
    await writeMark(client, { phase: "Done", source: plan.source, since });
  });
}

async function begin({ clock }: MovingPorts, client: Client, plan: MigrationPlan): Promise<string> {
  const mark = await readMark(client);
  if (mark !== undefined && mark.source !== plan.source)
    throw new MovingRefused("another migration to this API server began at the same time");
  const since = mark?.since ?? formatTime(clock.now());
  await writeMark(client, { phase: "Moving", source: plan.source, since });
  await pauseWebhooks(client, true);
  for (const { resource, object } of plan.removes)
    await client.delete(resource, keyOf(object), { preconditions: { uid: object.metadata.uid } });
  return since;
}

/** How many requests are under way at a time. */
const WIDTH = 16;

class Moving {
  readonly #ports: MovingPorts;
  readonly #client: Client;
  readonly #plan: MigrationPlan;
  /** What is on the target now, by `tableKey`. */
  readonly #made = new Map<string, AnyObject>();
  readonly #uids = new Map<string, string>();

  constructor(ports: MovingPorts, client: Client, plan: MigrationPlan) {
    this.#ports = ports;
    this.#client = client;
    this.#plan = plan;
  }

  /** Makes everything, owners first. */
  async make(): Promise<void> {
    const all = new Set(this.#plan.moved.map(({ object }) => object.metadata.uid));
    let waiting = this.#plan.moved;
    while (waiting.length > 0) {
      const isReady = ({ object }: MovedObject): boolean =>
        (object.metadata.ownerReferences ?? []).every(
          ({ uid }) => !all.has(uid) || this.#uids.has(uid),
        );
      const ready = waiting.filter(isReady);
      // Owners that own each other are none that a server would keep.
      const next = ready.length === 0 ? waiting : ready;
      const rank = Math.min(...next.map(rankOf));
      const turn = next.filter((one) => rankOf(one) === rank);
      await inParallel(turn, (one) => this.#makeOne(one));
      await this.#untilKindsServed(turn);
      const done = new Set(turn);
      waiting = waiting.filter((one) => !done.has(one));
    }
  }

  /** What names an object that was made later names it by its new uid now. */
  async correct(): Promise<void> {
    await inParallel(this.#plan.moved, async (moved) => {
      const key = tableKey(moved.resource, moved.object);
      const made = this.#made.get(key);
      const corrected = made && correctedObject(moved, made, this.#uids);
      if (corrected === undefined) return;
      this.#made.set(
        key,
        await this.#send(moved, () => this.#client.update(moved.resource, corrected)),
      );
    });
  }

  /** Writes the statuses. */
  async report(): Promise<void> {
    await inParallel(this.#plan.moved, async (moved) => {
      const made = this.#made.get(tableKey(moved.resource, moved.object));
      const status = made && carriedStatus(moved, made, this.#uids);
      if (made === undefined || status === undefined || equalJson(status, made["status"])) return;
      const object = { ...made, status };
      try {
        await this.#send(moved, () =>
          this.#client.update(moved.resource, object, { subresource: "status" }),
        );
      } catch (error) {
        // Of kinds of others the status is a sum that controllers make again; not all have one that can be written.
        if (isOwnKind(moved.resource) || !isRefusal(error)) throw error;
      }
    });
  }

  async #makeOne(moved: MovedObject): Promise<void> {
    const key = tableKey(moved.resource, moved.object);
    const found = this.#plan.found.get(key);
    const made = found === undefined ? await this.#create(moved) : await this.#take(moved, found);
    this.#made.set(key, made);
    this.#uids.set(moved.object.metadata.uid, made.metadata.uid);
  }

  async #create(moved: MovedObject): Promise<AnyObject> {
    const { resource } = moved;
    const carried = carriedObject(moved, this.#uids);
    try {
      return await this.#send(moved, () => this.#client.create(resource, carried));
    } catch (error) {
      // The answer to an earlier request was lost, or the server made it meanwhile.
      if (!isRefused(error, "AlreadyExists")) throw error;
      return this.#take(moved, await this.#client.get(resource, keyOf(moved.object)));
    }
  }

  /** What is there already, brought in line where that is needed. */
  #take(moved: MovedObject, found: AnyObject): Promise<AnyObject> | AnyObject {
    const { resource, object } = moved;
    const may = mayBeThere(moved);
    if (may === "replaced") {
      const merged = replaced(found, carriedObject(moved, this.#uids));
      return equalJson(merged, found)
        ? found
        : this.#send(moved, () => this.#client.update(resource, merged));
    }
    const { labels } = object.metadata;
    const annotations = { ...object.metadata.annotations, ...originAnnotation(moved) };
    if (may !== "kept" || resource.kind !== "Namespace" || hasAll(found, { labels, annotations }))
      return found;
    const body = { metadata: { labels: labels ?? {}, annotations } };
    return this.#send(moved, () =>
      this.#client.patch(resource, keyOf(object), { type: "merge", body }),
    );
  }

  #send<T>({ object }: MovedObject, send: () => Promise<T>): Promise<T> {
    return patiently(this.#ports.clock, describe(object), send);
  }

  async #untilKindsServed(turn: readonly MovedObject[]): Promise<void> {
    const crds = turn.filter(
      ({ resource }) => resource.plural === customResourceDefinitions.plural,
    );
    await untilServed(
      this.#ports.clock,
      this.#client,
      crds.map(({ resource, object }) => ({ resource, object, leaves: "never" })),
    );
  }
}

function isRefusal(error: unknown): boolean {
  return ["NotFound", "MethodNotAllowed", "Invalid"].some((reason) => isRefused(error, reason));
}

function replaced(found: AnyObject, carried: New<AnyObject>): AnyObject {
  const { metadata, ...content } = carried;
  return {
    ...found,
    ...content,
    metadata: { ...found.metadata, ...metadata },
  };
}

function hasAll(
  { metadata }: AnyObject,
  wanted: {
    readonly labels: Readonly<Record<string, string>> | undefined;
    readonly annotations: Readonly<Record<string, string>>;
  },
): boolean {
  const has = (texts: Readonly<Record<string, string>> = {}, within: typeof texts = {}): boolean =>
    Object.entries(texts).every(([key, value]) => within[key] === value);
  return has(wanted.labels, metadata.labels) && has(wanted.annotations, metadata.annotations);
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(WIDTH, items.length) }, worker));
}

/** Longer than any leader's Lease that was left behind. What cannot be got in this time does not come by itself. */
const GET_LEASE_MS = 120_000;

/**
 * Runs while no manager may lead. The client sends no write once the Lease is lost. Throws MovingRefused where the Lease cannot be got:
 * waiting without a word is no answer.
 */
export async function whileLeading(
  ports: MovingPorts,
  client: Client,
  identity: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const outcome: { error?: unknown; hasLed?: true } = {};
  const election = createLeaderElection(ports, client, {
    ...LEADER_ELECTION_TIMES,
    lease: MANAGER_LEASE,
    identity,
    giveUpAfterMs: GET_LEASE_MS,
    lead: async (_signal, term) => {
      outcome.hasLed = true;
      try {
        await work(fencedClient(client, term));
      } catch (error) {
        outcome.error = error;
      } finally {
        stop.abort();
      }
    },
  });
  await election.run(stop.signal);
  if ("error" in outcome) throw outcome.error;
  if (outcome.hasLed !== true)
    throw new MovingRefused(
      `the Lease ${formatKey(MANAGER_LEASE)} could not be got within ${humanDuration(GET_LEASE_MS)}: a manager still holds it, or this user ` +
        "may not change it; stop the managers, and run this again",
    );
}
