/**
 * Replicas of the manager that share out members, on one control plane and one virtual clock, each with its own network to the
 * members. A replica can stand still: then neither its timers nor what its connections received reach it until it goes on.
 */
import { type Cluster, clusters, resourceBindings } from "@lifeboat/api";
import { type Cancel, type Clock, createRandom, createSeededIds } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { ownerOf, parseReport, type ReplicaReport } from "@lifeboat/core/clusters/shares";
import { type Client, leases, silentLog, silentMetrics } from "@lifeboat/kit";
import { createFleet, type Fleet, type Link, linked, openLink, wrapped } from "@lifeboat/testkit";
import { type ControllersOptions, DEFAULT_CONTROLLERS } from "./controllers.ts";
import { createPlaneManager, MANAGER_LEASE, type PlaneManager } from "./manager.ts";
import { SYSTEM_NAMESPACE } from "./webhook/resources.ts";
import { toyMaker } from "./webhook/toy-certificates.suite.ts";

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

/** What stands between a process and everything else: nothing passes while the process stands still. */
class Gate {
  #isOpen = true;
  #waiting: (() => void)[] = [];

  get isOpen(): boolean {
    return this.#isOpen;
  }

  pass(act: () => void): void {
    if (this.#isOpen) act();
    else this.#waiting.push(act);
  }

  passed(): Promise<void> {
    return new Promise((resolve) => this.pass(resolve));
  }

  close(): void {
    this.#isOpen = false;
  }

  open(): void {
    this.#isOpen = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const act of waiting) act();
  }
}

function gatedClock(clock: Clock, gate: Gate): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (delayMs, callback): Cancel => {
      let isCancelled = false;
      const cancel = clock.after(delayMs, () =>
        gate.pass(() => {
          if (!isCancelled) callback();
        }),
      );
      return () => {
        isCancelled = true;
        cancel();
      };
    },
  };
}

/** Requests leave, and answers and events arrive, only while the process runs. `note` is called with each write that leaves. */
function gatedClient(client: Client, gate: Gate, note: (write: string) => void): Client {
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    await gate.passed();
    try {
      return await call();
    } finally {
      await gate.passed();
    }
  };
  const write = <T>(verb: string, kind: string, name: string, call: () => Promise<T>) =>
    through(() => {
      note(`${verb} ${kind} ${name}`);
      return call();
    });
  return wrapped(client, {
    get: (...given) => through(() => client.get(...given)),
    list: (...given) => through(() => client.list(...given)),
    read: (...given) => through(() => client.read(...given)),
    create: (resource, object, ...given) =>
      write("create", resource.kind, object.metadata.name ?? "", () =>
        client.create(resource, object, ...given),
      ),
    update: (resource, object, ...given) =>
      write("update", resource.kind, object.metadata.name, () =>
        client.update(resource, object, ...given),
      ),
    patch: (resource, key, ...given) =>
      write("patch", resource.kind, key.name, () => client.patch(resource, key, ...given)),
    delete: (resource, key, ...given) =>
      write("delete", resource.kind, key.name, () => client.delete(resource, key, ...given)),
    watch: (resource, options, sink) =>
      client.watch(resource, options, {
        event: (event) => gate.pass(() => sink.event(event)),
        end: (why) => gate.pass(() => sink.end(why)),
      }),
  });
}

/** How a network is cut: connections are refused, or packets vanish. */
export interface Cut {
  readonly kind: "down" | "partition";
}

export interface SharedReplica {
  readonly name: string;
  readonly manager: PlaneManager;
  /** Writes to the control plane that left the process, as `update Cluster m1`, and to members, as `m1: create Deployment web`. */
  readonly writes: string[];
  /** Its network to the members; all of them when no name is given. */
  setNetwork(fault: Cut | undefined, member?: string): void;
  /** Stands still until `resume`; a replica that never goes on is dead. */
  pause(): void;
  resume(): void;
  /** Ends in order. */
  stop(): Promise<void>;
}

export interface SharedReplicas {
  readonly fleet: Fleet;
  readonly all: SharedReplica[];
  start(name: string): SharedReplica;
  /** Whose a member is by the Leases that are there, and what their replicas report. */
  owner(member: string): Promise<SharedReplica>;
  /** What the Lease of a replica reports; undefined: it has none. */
  report(replica: SharedReplica): Promise<ReplicaReport | undefined>;
  /** Lets time pass, a second at a time; whatever was seen of clusters and bindings meanwhile is in `seen`. */
  pass(seconds: number): Promise<void>;
  /** What must not happen: `m1 Ready=False`, `m1 tainted`, `web leaves m1`, each with the second at which it was first seen. */
  readonly seen: Map<string, number>;
  close(): Promise<void>;
}

export async function createSharedReplicas(
  members: readonly string[],
  controllers: Partial<ControllersOptions> = {},
): Promise<SharedReplicas> {
  const fleet = await createFleet({ members });
  const all: SharedReplica[] = [];
  const seen = new Map<string, number>();
  let passed = 0;
  const leasesNow = async () => {
    const labelSelector = wellKnown.MANAGER_REPLICA;
    const { items } = await fleet.plane.list(leases, {
      namespace: SYSTEM_NAMESPACE,
      labelSelector,
    });
    return items;
  };
  const replicas: SharedReplicas = {
    fleet,
    all,
    seen,
    start: (name) => {
      const replica = startReplica(fleet, members, name, controllers);
      all.push(replica);
      return replica;
    },
    owner: async (member) => {
      const views = (await leasesNow()).map(({ metadata, spec }) => ({
        name: metadata.name,
        holder: spec?.holderIdentity ?? "",
        report: parseReport(metadata.annotations?.[wellKnown.REPLICA_REPORT]),
      }));
      const owner = ownerOf(views, member);
      const holder = views.find(({ name }) => name === owner?.name)?.holder ?? "";
      const found = all.find(({ name }) => holder.startsWith(`${name}_`));
      if (found === undefined) throw new Error(`no replica owns ${member}`);
      return found;
    },
    report: async ({ name }) => {
      const lease = (await leasesNow()).find(({ spec }) =>
        spec?.holderIdentity?.startsWith(`${name}_`),
      );
      return lease && parseReport(lease.metadata.annotations?.[wellKnown.REPLICA_REPORT]);
    },
    pass: async (seconds) => {
      for (let second = 0; second < seconds; second++) {
        await fleet.advance("1s");
        passed++;
        for (const problem of await problemsOf(fleet))
          if (!seen.has(problem)) seen.set(problem, passed);
      }
    },
    close: async () => {
      await Promise.all(all.map((one) => one.stop()));
      await fleet.close();
    },
  };
  return replicas;
}

async function problemsOf({ plane }: Fleet): Promise<readonly string[]> {
  const { items } = await plane.list(clusters);
  const { items: bindings } = await plane.list(resourceBindings);
  return [
    ...items.filter(isDown).map(({ metadata }) => `${metadata.name} Ready=False`),
    ...items
      .filter(({ spec }) => (spec.taints ?? []).length > 0)
      .map(({ metadata }) => `${metadata.name} tainted`),
    ...bindings.flatMap(({ metadata, spec }) =>
      (spec.gracefulEvictionTasks ?? []).map(
        ({ fromCluster }) => `${metadata.name} leaves ${fromCluster}`,
      ),
    ),
  ];
}

function isDown({ status }: Cluster): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: value }) => type === "Ready" && value !== "True",
  );
}

function startReplica(
  fleet: Fleet,
  members: readonly string[],
  name: string,
  controllers: Partial<ControllersOptions>,
): SharedReplica {
  const gate = new Gate();
  const clock = gatedClock(fleet.clock, gate);
  const random = createRandom(7).fork(name);
  const writes: string[] = [];
  const links = new Map<string, Link>(
    members.map((member) => {
      const { client } = fleet.member(member);
      const note = (write: string): void => void writes.push(`${member}: ${write}`);
      return [member, openLink(() => gatedClient(client, gate, note), `${member}-token`)];
    }),
  );
  const ports = {
    clock,
    random,
    ids: createSeededIds(random.fork("ids")),
    log: silentLog,
    metrics: silentMetrics,
    certificates: toyMaker(),
  };
  const plane = gatedClient(fleet.plane, gate, (write) => void writes.push(write));
  const manager = createPlaneManager(ports, plane, {
    election: { lease: MANAGER_LEASE, ...TIMES },
    share: TIMES,
    work: {
      controllers: { ...DEFAULT_CONTROLLERS, ...controllers },
      connect: ({ endpoint, token }) =>
        linked(clock, links.get(new URL(endpoint).hostname.split(".")[0] ?? ""), token),
      instance: name,
    },
  });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  return {
    name,
    manager,
    writes,
    setNetwork: (fault, member) => {
      for (const [one, link] of links)
        if (member === undefined || one === member) link.setFault(fault);
    },
    pause: () => gate.close(),
    resume: () => gate.open(),
    stop: async () => {
      gate.open();
      stop.abort();
      const state = { hasEnded: false };
      void ended.finally(() => (state.hasEnded = true));
      while (!state.hasEnded) await fleet.advance("1s");
    },
  };
}
