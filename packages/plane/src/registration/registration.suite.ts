/** A control plane and a member to join, and clients that die at a given write. */
import {
  clusterRoleBindings,
  clusterRoles,
  clusters,
  type KubeObject,
  namespaces,
  notFound,
  type Resource,
  secrets,
  serviceAccounts,
} from "@lifeboat/api";
import type { VirtualClock } from "@lifeboat/base";
import { createClusterController } from "@lifeboat/controllers/clusters";
import type { Client } from "@lifeboat/kit";
import { createFleet, type Fleet, type FleetMember, wrapped } from "@lifeboat/testkit";
import { type JoinOutcome, type JoinRequest, joinCluster } from "./join.ts";
import { TOKEN_ACCOUNT, TOKEN_TYPE } from "./resources.ts";

export const AUTHORITY = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";

export interface Ground {
  readonly fleet: Fleet;
  readonly clock: VirtualClock;
  readonly plane: Client;
  readonly member: Client;
  request(changes?: Partial<JoinRequest>): JoinRequest;
  join(changes?: Partial<JoinRequest>): Promise<JoinOutcome>;
  /** Lets a promise that needs time come to its end. */
  finish<T>(promise: Promise<T>): Promise<T>;
}

/** A fleet without joined members, whose member `m1` issues tokens as a real cluster does unless `issuesTokens` is false. */
export async function createGround(
  options: { readonly issuesTokens?: boolean; readonly embedded?: boolean } = {},
): Promise<Ground> {
  const fleet = await createFleet({
    memberModel: false,
    services: (context) => createClusterController(context),
  });
  const found = await fleet.addMember("m1");
  const { embedded = false, issuesTokens = true } = options;
  const member = embedded ? found.client : asReal(found.client);
  if (issuesTokens && !embedded) issueTokens(fleet, found);
  const request = (changes: Partial<JoinRequest> = {}): JoinRequest => ({
    plane: fleet.plane,
    member,
    name: "m1",
    access: { server: "https://m1.test:6443", insecureSkipTlsVerify: false, caBundle: AUTHORITY },
    ...changes,
  });
  const finish = async <T>(promise: Promise<T>): Promise<T> => {
    const state = { ended: false };
    const mark = (): void => {
      state.ended = true;
    };
    promise.then(mark, mark);
    while (!state.ended) await fleet.advance(500);
    return promise;
  };
  return {
    fleet,
    clock: fleet.clock,
    plane: fleet.plane,
    member,
    request,
    finish,
    join: (changes) => finish(joinCluster({ clock: fleet.clock }, request(changes))),
  };
}

/** The member as one that is not recognized as ours. */
export function asReal(client: Client): Client {
  return wrapped(client, {
    read: (path, options) =>
      path === "/version" ? Promise.resolve({ gitVersion: "v1.36.4" }) : client.read(path, options),
  });
}

/** A server that does not have the object of this name. */
export function without(client: Client, name: string): Client {
  return wrapped(client, {
    get: (resource, key, options) =>
      key.name === name
        ? Promise.reject(notFound(resource, name))
        : client.get(resource, key, options),
  });
}

/** Two clients whose n-th write (from 1, of both together) is the last thing that happens: it takes no effect, or it does. */
export function dyingPair(
  [a, b]: readonly [Client, Client],
  n: number,
  when: "before" | "after",
): { readonly clients: readonly [Client, Client]; readonly counter: { writes: number } } {
  const counter = { writes: 0 };
  return { clients: [dying(a, counter, n, when), dying(b, counter, n, when)], counter };
}

class Died extends Error {}

function dying(
  client: Client,
  counter: { writes: number },
  n: number,
  when: "before" | "after",
): Client {
  const write = async <T>(run: () => Promise<T>): Promise<T> => {
    counter.writes += 1;
    if (counter.writes < n) return run();
    if (counter.writes === n && when === "after") await run().catch(() => undefined);
    throw new Died();
  };
  return wrapped(client, {
    create: (resource, object, options) =>
      options?.dryRun === true
        ? client.create(resource, object, options)
        : write(() => client.create(resource, object, options)),
    update: (resource, object, options) =>
      options?.dryRun === true
        ? client.update(resource, object, options)
        : write(() => client.update(resource, object, options)),
    patch: (...given) => write(() => client.patch(...given)),
    delete: (...given) => write(() => client.delete(...given)),
  });
}

/**
 * Repeats an order whose caller dies before or after its first write, then its second, and so on, until it gets through.
 * Answers how often the caller died.
 */
export async function deathsUntilDone(
  ground: Pick<Ground, "plane" | "member">,
  when: "before" | "after",
  order: (clients: { readonly plane: Client; readonly member: Client }) => Promise<unknown>,
): Promise<number> {
  for (let deaths = 0; ; deaths += 1) {
    const { clients } = dyingPair([ground.plane, ground.member], deaths + 1, when);
    try {
      await order({ plane: clients[0], member: clients[1] });
      return deaths;
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
  }
}

/** Does what the token controller of a kube-controller-manager does. */
function issueTokens(fleet: Fleet, { client }: FleetMember): void {
  client.watch(
    secrets,
    {},
    {
      end: () => {},
      event: (event) => {
        if (event.type !== "ADDED" || event.object["type"] !== TOKEN_TYPE) return;
        const { object } = event;
        const { name, namespace = "", annotations } = object.metadata;
        const token = btoa(`token of ${annotations?.[TOKEN_ACCOUNT]}`);
        const body = { data: { token, "ca.crt": btoa("internal authority") } };
        fleet.clock.after(300, () => {
          void client
            .patch(secrets, { namespace, name }, { type: "merge", body })
            .catch(() => undefined);
        });
      },
    },
  );
}

/** Everything that registration can leave behind, by name, without what every server has. */
export async function traces(client: Client, isPlane: boolean): Promise<readonly string[]> {
  const kinds: readonly Resource<KubeObject>[] = [
    namespaces,
    secrets,
    serviceAccounts,
    clusterRoles,
    clusterRoleBindings,
    ...(isPlane ? [clusters as unknown as Resource] : []),
  ] as readonly Resource<KubeObject>[];
  const found: string[] = [];
  for (const kind of kinds)
    for (const { metadata } of (await client.list(kind)).items)
      if (
        /karmada|^m1/.test(`${metadata.namespace ?? ""} ${metadata.name}`) ||
        metadata.name === "m1"
      )
        found.push(`${kind.kind} ${metadata.namespace ?? ""}/${metadata.name}`);
  return found.toSorted();
}
