/**
 * A member for tests: the model on the real API server in process, under the virtual clock, behind a client that
 * counts writes and can let the model die at one of them.
 */
import {
  apiVersionOf,
  type JsonObject,
  type KubeObject,
  type New,
  type NewMeta,
  type Resource,
} from "@lifeboat/api";
import { createRandom, hashText } from "@lifeboat/base";
import { type Client, NotSent, OutcomeUnknown, silentLog, silentMetrics } from "@lifeboat/kit";
import { createWorld, type World } from "@lifeboat/testkit";
import * as kinds from "./kinds.ts";
import { createMemberModel, type MemberModel } from "./member-model.ts";
import { MEMBER_DEFAULTS, type MemberOptions } from "./member-options.ts";

/** At which write the model dies, and whether that write still takes effect. A second later another one starts. */
export interface Death {
  readonly write: number;
  readonly moment: "before" | "after";
}

/** Which share of the model's writes is lost, half of them only after they took effect. */
export interface Loss {
  readonly share: number;
}

export interface MemberWorld {
  readonly world: World;
  readonly client: Client;
  readonly model: MemberModel;
  /** How many writes the model has asked for. */
  writes(): number;
  /** Over all writes of the model, in their order. */
  hash(): number;
  stop(): Promise<void>;
}

export async function createMemberWorld(
  options: Partial<MemberOptions> = {},
  seed = 1,
  trouble?: Death | Loss,
): Promise<MemberWorld> {
  const world = await createWorld({ seed });
  const ports = {
    clock: world.clock,
    random: createRandom(seed),
    log: silentLog,
    metrics: silentMetrics,
  };
  const resolved = { ...MEMBER_DEFAULTS, startDelayMs: 3000, stopDelayMs: 2000, ...options };
  let [writes, hash] = [0, 0];
  const chance = createRandom(seed).fork("loss");
  const lose = async ({ share }: Loss, write: () => Promise<unknown>): Promise<unknown> => {
    const drawn = chance.next();
    if (drawn >= share) return write();
    if (drawn >= share / 2) throw new NotSent("lost on the way");
    await write();
    throw new OutcomeUnknown("lost on the way back");
  };
  const watched = onWrites(world.client, async (what, write) => {
    writes += 1;
    hash = hashText(`${world.clock.now()} ${what}`, hash);
    if (trouble === undefined) return write();
    if ("share" in trouble) return lose(trouble, write);
    if (writes < trouble.write) return write();
    if (writes === trouble.write) {
      world.clock.after(1000, startAgain);
      if (trouble.moment === "after") await write();
    }
    return new Promise<never>(() => undefined);
  });
  let stop = new AbortController();
  let model = createMemberModel(ports, watched, resolved);
  const startAgain = (): void => {
    stop.abort();
    stop = new AbortController();
    model = createMemberModel(ports, world.client, resolved);
    void model.run(stop.signal);
  };
  void model.run(stop.signal);
  await world.settle();
  return {
    world,
    client: world.client,
    get model() {
      return model;
    },
    writes: () => writes,
    hash: () => hash,
    stop: async () => {
      stop.abort();
      await world.advance("31s");
      await world.close();
    },
  };
}

const WRITES = new Set(["create", "update", "patch", "delete", "deleteCollection"]);

function onWrites(
  client: Client,
  around: (what: string, write: () => Promise<unknown>) => Promise<unknown>,
): Client {
  return new Proxy(client, {
    get: (target, name: keyof Client) => {
      const method = target[name].bind(target) as (...values: unknown[]) => Promise<unknown>;
      if (!WRITES.has(name)) return method;
      return (resource: Resource, ...rest: unknown[]) =>
        around(`${name} ${resource.plural} ${JSON.stringify(rest[0])}`, () =>
          method(resource, ...rest),
        );
    },
  });
}

/** A pod template with one container that asks for this much. */
export function template(name: string, cpu = "100m", image = "app:1"): JsonObject {
  return {
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: "app", image, resources: { requests: { cpu } } }] },
  };
}

/** An object of a kind to be created, in the namespace default. */
export function newOf<T extends KubeObject>(
  resource: Resource<T>,
  metadata: NewMeta,
  fields: JsonObject,
): New<T> {
  const object = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { namespace: "default", ...metadata },
    ...fields,
  };
  return object as unknown as New<T>;
}

/** A workload of a kind with a selector. */
export function workload<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  spec: JsonObject,
): New<T> {
  const selector = { matchLabels: { app: name } };
  return newOf(resource, { name }, { spec: { selector, template: template(name), ...spec } });
}

export async function podsOf(client: Client, app: string): Promise<readonly kinds.Pod[]> {
  const { items } = await client.list(kinds.pods, {
    namespace: "default",
    labelSelector: `app=${app}`,
  });
  return items;
}
