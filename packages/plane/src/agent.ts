/**
 * The agent of a Pull cluster, composed on ports: what the control plane does for a Push cluster, beside the member.
 *
 *   registration   the own Cluster is made or taken over; when it is deleted, the agent stops
 *   beside         status of the Cluster, and its Lease: independent of each other, in every replica
 *   leading        execution of Works, in the replica that leads (a Lease in the member)
 *
 * 1. It loads neither API server nor store nor simulation, and reads of the plane only its own Cluster, its own execution
 *    namespace and interpreter customizations (D25). It never reads bindings (D26).
 * 2. Execution and status are the code of `member-side/` and `clusters/cluster-status`, as in the control plane.
 * 3. Without the plane what runs keeps running: caches stay as they are, no first copy is made, nothing is removed. When the
 *    plane returns, Works and member are reconciled (D11). Nothing is removed before the Works were listed (D20).
 * 4. A member whose API hangs does not stop the Lease: the Lease speaks to the plane alone, and does not depend on leading.
 */
import {
  type Cluster,
  clusters,
  hasCondition,
  isRefused,
  keyOf,
  orNothing,
  resourceInterpreterCustomizations,
  type ResourceInterpreterCustomization,
  type Work,
  works,
} from "@lifeboat/api";
import type { Ids } from "@lifeboat/base";
import { createClusterStatus } from "@lifeboat/controllers/clusters";
import {
  builtinInterpretation,
  type Interpretation,
  type MemberConnection,
} from "@lifeboat/controllers/context";
import {
  clusterGone,
  createClusterExecution,
  createClusterLease,
  ensureNamespace,
  readEndorsements,
  registerCluster,
  reportingClusterLeft,
  StrayReports,
} from "@lifeboat/controllers/member-side";
import type { MemberIdentity } from "@lifeboat/core/clusters";
import type { ReadyThresholds } from "@lifeboat/core/failover/health";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import {
  type Client,
  createController,
  createEventRecorder,
  createLeaderElection,
  createManager,
  done,
  type EventRecorder,
  Informer,
  type KitPorts,
  LEADER_ELECTION_TIMES,
  type Service,
} from "@lifeboat/kit";

export { AGENT_SECRET } from "./registration/agent-manifest.ts";

export interface AgentPorts extends KitPorts {
  readonly ids: Ids;
  /** Answers by users' scripts; absent: built-in answers alone. */
  readonly interpretation?: (
    ports: KitPorts & { readonly events: EventRecorder },
    customizations: Informer<ResourceInterpreterCustomization>,
  ) => Interpretation & Service;
}

export interface AgentOptions extends Omit<MemberIdentity, "id" | "cluster">, ReadyThresholds {
  readonly cluster: string;
  readonly plane: Client;
  readonly member: Client;
  /** From the beginning of one probe of the member to that of the next. */
  readonly statusUpdateFrequencyMs: number;
  readonly leaseDurationMs: number;
  /** The part of the lease's duration after which it is renewed. */
  readonly leaseRenewFraction: number;
  /** Whether several replicas elect one that executes Works. */
  readonly leaderElect: boolean;
  /** The namespace of the agent in the member: of its Lease and of what it remembers. */
  readonly namespace: string;
  /** Which of several replicas: the pod's name. */
  readonly instance: string;
  /** What else runs in the replica that leads, such as the tunnel: a cluster has one. */
  readonly leading?: readonly Service[];
}

export const DEFAULT_AGENT = Object.freeze({
  statusUpdateFrequencyMs: 10_000,
  failureThresholdMs: 30_000,
  successThresholdMs: 30_000,
  leaseDurationMs: 40_000,
  leaseRenewFraction: 0.25,
  leaderElect: true,
  namespace: "karmada-system",
});

/** The agent stops for good, and why. */
export class AgentStopped extends Error {}

export interface Agent extends Service {
  /** Resolves when the Cluster is registered and the Works are known; false: it stopped before. */
  whenReady(signal: AbortSignal): Promise<boolean>;
}

/**
 * Builds the agent. Its `run` ends when the signal aborts, and rejects with AgentStopped when its Cluster was deleted or cannot be
 * its own: to start again is of no use before a person did something.
 */
export function createAgent(ports: AgentPorts, options: AgentOptions): Agent {
  return new RunningAgent(ports, options);
}

/** As much as an agent takes from its own member. */
const MAX_OBJECTS = 500_000;
const PAGE_SIZE = 500;

class RunningAgent implements Agent {
  readonly name: string;
  readonly #ports: AgentPorts;
  readonly #options: AgentOptions;
  readonly #cluster: Informer<Cluster>;
  readonly #works: Informer<Work>;
  readonly #customizations: Informer<ResourceInterpreterCustomization>;
  readonly #events: EventRecorder;
  readonly #interpretation: Interpretation;
  readonly #scripts: readonly Service[];
  readonly #strays: StrayReports;
  #registered: () => void = () => undefined;
  /** Called when the control plane refuses this agent because its cluster left. */
  #left: () => void = () => undefined;
  readonly #whenRegistered: Promise<void>;

  constructor(ports: AgentPorts, given: AgentOptions) {
    const plane = reportingClusterLeft(given.plane, () => this.#left());
    const options = { ...given, plane };
    const { cluster, instance } = options;
    const namespace = executionNamespace(cluster);
    this.name = `agent ${cluster}`;
    this.#ports = ports;
    this.#options = options;
    this.#cluster = new Informer(ports, plane, clusters, {
      fieldSelector: `metadata.name=${cluster}`,
    });
    this.#works = new Informer(ports, plane, works, { namespace });
    this.#customizations = new Informer(ports, plane, resourceInterpreterCustomizations, {});
    const recorder = createEventRecorder(ports, plane, { component: "lifeboat-agent", instance });
    this.#events = ownEvents(recorder, namespace);
    const scripts = ports.interpretation?.(
      { ...ports, events: this.#events },
      this.#customizations,
    );
    this.#interpretation = scripts ?? builtinInterpretation;
    this.#scripts = scripts === undefined ? [] : [this.#customizations, scripts];
    this.#strays = new StrayReports(ports.clock);
    this.#whenRegistered = new Promise((resolve) => {
      this.#registered = resolve;
    });
  }

  async whenReady(signal: AbortSignal): Promise<boolean> {
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([this.#whenRegistered, stopped]);
    return !signal.aborted && (await this.#works.whenSynced(signal));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { plane, member, namespace, cluster, provider, region, zones, apiEndpoint } =
      this.#options;
    const identity = {
      cluster,
      ...(provider !== undefined && { provider }),
      ...(region !== undefined && { region }),
      ...(zones !== undefined && { zones }),
      ...(apiEndpoint !== undefined && { apiEndpoint }),
    };
    const parts = { plane, member, namespace, identity };
    const registered = await registerCluster(this.#ports, parts, signal);
    if (registered === undefined) return;
    if (registered.kind === "refused") throw new AgentStopped(registered.message);
    this.#ports.log.info("the cluster is registered", { cluster });
    this.#registered();
    await this.#work(registered.cluster, signal);
  }

  /** Works until the signal aborts or the Cluster is gone. */
  async #work({ metadata: { uid, name } }: Cluster, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) stop.abort();
    let isGone = false;
    const gone = (): void => {
      isGone = true;
      stop.abort();
    };
    this.#left = gone;
    const watch = this.#ownWatch(uid, gone);
    try {
      await createManager(this.#ports, [...this.#services(), watch]).run(stop.signal);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
    if (isGone && !signal.aborted) throw new AgentStopped(clusterGone(name));
  }

  /** Calls `gone` when the Cluster is gone, or another one has its name: as the server answers, not as a cache has it (D20). */
  #ownWatch(uid: string, gone: () => void): Service {
    const { cluster: name, plane } = this.#options;
    const key = { namespace: "", name };
    return createController(this.#ports, {
      name: "own-cluster",
      concurrency: 1,
      watches: [
        {
          whenSynced: (signal) => this.#cluster.whenSynced(signal),
          subscribe: (add) => {
            add(key);
            return this.#cluster.onChange(() => add(key));
          },
        },
      ],
      reconcile: async (_key, signal) => {
        if (this.#cluster.get(key)?.metadata.uid === uid) return done;
        try {
          const found = await orNothing(plane.get(clusters, key, { signal }));
          if (found?.metadata.uid !== uid) gone();
        } catch (error) {
          // Beside a kube-apiserver an agent's rights go with its Cluster: the server has shown that it is gone, and lets it read no more.
          if (!isRefused(error, "Forbidden")) throw error;
          gone();
        }
        return done;
      },
    });
  }

  #services(): readonly Service[] {
    const { leaseDurationMs, leaseRenewFraction, cluster, plane } = this.#options;
    const own = { namespace: "", name: cluster };
    return [
      this.#cluster,
      this.#works,
      ...this.#scripts,
      this.#events,
      createClusterLease(
        this.#ports,
        {
          cluster,
          plane,
          own: () => this.#cluster.get(own),
          annotations: () => this.#strays.annotations(),
        },
        { leaseDurationMs, renewMs: leaseDurationMs * leaseRenewFraction },
      ),
      ...this.#status(),
      this.#elected(this.#leading()),
    ];
  }

  #status(): readonly Service[] {
    const { statusUpdateFrequencyMs, failureThresholdMs, successThresholdMs } = this.#options;
    const context = {
      ...this.#ports,
      plane: this.#options.plane,
      informers: { clusters: this.#cluster },
      connections: soleConnection(this.#options.cluster, this.#options.member),
    };
    return createClusterStatus(context, {
      syncMode: "Pull",
      updateFrequencyMs: statusUpdateFrequencyMs,
      failureThresholdMs,
      successThresholdMs,
    });
  }

  #execution(): Service {
    const { cluster, plane, member } = this.#options;
    const informer = this.#works;
    const interpretation = this.#interpretation;
    const execution = createClusterExecution(this.#ports, {
      cluster,
      plane,
      member,
      works: {
        get: (key) => informer.get(key),
        whenSynced: async (signal) =>
          (await interpretation.whenSynced(signal)) && informer.whenSynced(signal),
        subscribe: (add) =>
          informer.onChange((old, now) => {
            const work = now ?? old;
            if (work !== undefined) add(keyOf(work));
          }),
      },
      word: readEndorsements(plane, cluster, (stray) => this.#strays.note(stray)),
      events: this.#events,
      interpretation,
      own: () => this.#cluster.get({ namespace: "", name: cluster }),
    });
    return {
      name: execution.name,
      run: async (signal) => {
        const subscriptions = [
          interpretation.onChange((apiVersion, kind) => execution.lookAtKind(apiVersion, kind)),
          this.#cluster.onChange((old, now) => {
            if (isReady(now) && !isReady(old)) execution.lookAgain();
          }),
        ];
        try {
          await execution.run(signal);
        } finally {
          for (const unsubscribe of subscriptions) unsubscribe();
        }
      },
    };
  }

  #leading(): Service {
    const { leading = [] } = this.#options;
    const execution = this.#execution();
    return leading.length === 0 ? execution : createManager(this.#ports, [execution, ...leading]);
  }

  /** Runs a service in the replica that leads. */
  #elected(service: Service): Service {
    const { leaderElect, member, namespace, cluster, instance } = this.#options;
    if (!leaderElect) return service;
    const election = createLeaderElection(this.#ports, member, {
      ...LEADER_ELECTION_TIMES,
      lease: { namespace, name: `karmada-agent-${cluster}` },
      identity: instance,
      lead: (signal) => service.run(signal),
    });
    return {
      name: election.name,
      run: async (signal) => {
        await ensureNamespace(member, namespace, signal);
        await election.run(signal);
      },
    };
  }
}

function isReady(cluster: Cluster | undefined): boolean {
  return hasCondition(cluster?.status?.conditions, "Ready");
}

/** An agent may write Events in its execution namespace and about its Cluster; the plane records the rest. */
function ownEvents(recorder: EventRecorder, namespace: string): EventRecorder {
  return {
    name: recorder.name,
    run: (signal) => recorder.run(signal),
    record: (involved, event) => {
      const { namespace: where = "" } = involved.metadata;
      if (where === namespace || where === "") recorder.record(involved, event);
    },
  };
}

/** The one member of an agent. It trusts it: there is nothing else that it could harm. */
function soleConnection(cluster: string, client: Client) {
  const connection: MemberConnection = Object.freeze({
    kind: "connected",
    client,
    access: { cluster, endpoint: "", token: "", insecureSkipTlsVerification: false },
    limits: { maxObjects: MAX_OBJECTS, pageSize: PAGE_SIZE, tell: () => undefined },
  });
  const none: MemberConnection = { kind: "none" };
  return {
    whenSynced: () => Promise.resolve(true),
    of: (name: string) => (name === cluster ? connection : none),
    onChange: () => () => undefined,
    excessOf: () => undefined,
    onExcess: () => () => undefined,
  };
}
