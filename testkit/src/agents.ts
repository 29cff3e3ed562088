/**
 * Agents of Pull clusters in the process of a test: the real agent on the clock of a fleet, with links that can fail to the plane and
 * to the member, a clock of its own that may be wrong, and a death between any two writes.
 */
import { failure, Refused } from "@lifeboat/api";
import { addMs, createSeededIds, type Clock } from "@lifeboat/base";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { type AgentOptions, createAgent, DEFAULT_AGENT } from "@lifeboat/plane/agent";
import type { Fleet } from "./fleet.ts";
import { type Link, linked, openLink } from "./link.ts";
import { wrapped } from "./wrapped-client.ts";

export interface FleetAgentOptions extends Partial<
  Omit<AgentOptions, "cluster" | "plane" | "member">
> {
  /** The name of its Cluster; that of the member when absent. */
  readonly cluster?: string;
  /** By how much its wall clock is wrong. */
  readonly clockWrongByMs?: number;
  /** It dies at this write, to the plane or the member, counted from 1: the write arrives, its answer does not. */
  readonly diesAtWrite?: number;
}

export interface FleetAgent {
  /** From the agent to the plane. */
  readonly toPlane: Link;
  /** From the agent to its member. */
  readonly toMember: Link;
  /** How many writes it sent. */
  readonly writes: number;
  readonly isAlive: boolean;
  /** Why it stopped by itself; undefined: it has not. */
  readonly stopped: string | undefined;
  /** Plurals of what the plane does not let it get; lists and watches go on. */
  readonly mayNotGet: Set<string>;
  /** Ends in order. */
  stop(): void;
  /** Dies: what it has sent arrives, and it does nothing more. */
  kill(): void;
}

/** Starts an agent beside a member of the fleet. */
export function startAgent(
  fleet: Fleet,
  member: string,
  options: FleetAgentOptions = {},
): FleetAgent {
  return new RunningFleetAgent(fleet, member, options);
}

class RunningFleetAgent implements FleetAgent {
  readonly toPlane: Link;
  readonly toMember: Link;
  writes = 0;
  isAlive = true;
  stopped: string | undefined;
  readonly mayNotGet = new Set<string>();
  readonly #stop = new AbortController();
  readonly #diesAtWrite: number;

  constructor(fleet: Fleet, member: string, options: FleetAgentOptions) {
    const { cluster = member, clockWrongByMs = 0, diesAtWrite = Infinity, ...given } = options;
    this.#diesAtWrite = diesAtWrite;
    this.toPlane = openLink(() => this.#counted(this.#limited(fleet.plane)), "agent");
    this.toMember = openLink(() => this.#counted(fleet.member(member).client), "agent");
    const isAlive = (): boolean => this.isAlive;
    const random = fleet.random.fork(`agent ${member}`);
    const clock = wrongClock(fleet.clock, clockWrongByMs);
    const ports = {
      clock,
      random,
      ids: createSeededIds(random),
      log: silentLog,
      metrics: silentMetrics,
    };
    const agent = createAgent(ports, {
      ...DEFAULT_AGENT,
      instance: `${member}-agent`,
      ...given,
      cluster,
      plane: linked(fleet.clock, this.toPlane, "agent", isAlive).client,
      member: linked(fleet.clock, this.toMember, "agent", isAlive).client,
    });
    agent.run(this.#stop.signal).catch((error: unknown) => {
      this.stopped = error instanceof Error ? error.message : String(error);
    });
  }

  stop(): void {
    this.#stop.abort();
  }

  kill(): void {
    this.isAlive = false;
    this.#stop.abort();
  }

  #limited(client: Client): Client {
    return wrapped(client, {
      get: (resource, ...given) =>
        this.mayNotGet.has(resource.plural)
          ? Promise.reject(new Refused(failure(403, "Forbidden", "not allowed")))
          : client.get(resource, ...given),
    });
  }

  #counted(client: Client): Client {
    const count = async <T>(write: () => Promise<T>): Promise<T> => {
      this.writes += 1;
      if (this.writes === this.#diesAtWrite) this.kill();
      return write();
    };
    return wrapped(client, {
      create: (...given) => count(() => client.create(...given)),
      update: (...given) => count(() => client.update(...given)),
      patch: (...given) => count(() => client.patch(...given)),
      delete: (...given) => count(() => client.delete(...given)),
    });
  }
}

function wrongClock(clock: Clock, byMs: number): Clock {
  return {
    now: () => addMs(clock.now(), byMs),
    monotonic: () => clock.monotonic(),
    after: (delayMs, callback) => clock.after(delayMs, callback),
  };
}
