/**
 * A simulated member cluster, composed on ports: an embedded API server with its own storage, the model of what runs in
 * a cluster, and a gate in which the way to it can go wrong. No process and no socket here.
 *
 * 1. Faults of the connection hit `handle` alone: what runs in the member goes on undisturbed.
 * 2. Faults are forgotten with the process; they have to be set again.
 * 3. A change of size or delays starts the model again, which loses nothing: what it knows is in the cluster.
 */
import {
  type ApiServer,
  type ApiServerPorts,
  createApiServer,
  type Handle,
  type User,
} from "@lifeboat/apiserver";
import type { SimulatedFault } from "@lifeboat/api";
import { createManager } from "@lifeboat/kit";
import type { MemberOptions } from "@lifeboat/members";
import { KUBERNETES_VERSION } from "../kubernetes-version.ts";
import { createFaultGate } from "./fault-gate.ts";
import { createPodLogs } from "./pod-logs.ts";
import { createPodStreams } from "./pod-streams.ts";
import { ReplaceableModel } from "./replaceable-model.ts";

export interface SimulatedMemberOptions {
  readonly name: string;
  /** Of Lifeboat itself, such as `0.1.0`. */
  readonly version: string;
  /** Static bearer tokens that its API accepts. */
  readonly tokens: ReadonlyMap<string, User>;
  readonly model: MemberOptions;
}

export type ServingListener = (isServing: boolean) => Promise<void>;

export interface SimulatedMember {
  readonly name: string;
  /** Without the gate: a way in that no fault disturbs. */
  readonly server: ApiServer;
  /** Its API as the outside sees it, faults included. */
  readonly handle: Handle;
  /** What goes wrong from now on, in the place of what went wrong before; none heals it. */
  setFaults(faults: readonly SimulatedFault[]): Promise<void>;
  /** What the member is like from now on. Nodes that it had and shall not have any more stay. */
  setModel(model: MemberOptions): void;
  /** Calls the transport when it shall stop listening for connections (`api-down`) and when it may listen again. */
  onServing(listener: ServingListener): void;
  /** Housekeeping of its API and everything that runs in it, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const HISTORY_MAX_EVENTS = 20_000;
const HISTORY_MAX_BYTES = 32 * 1024 * 1024;
/** The user of the member's own controllers. */
const MODEL_USER: User = { name: "system:member-model", groups: ["system:masters"] };

/** Opens the storage and builds the member; rejects with a sentence when the storage cannot be used. */
export async function createSimulatedMember(
  ports: ApiServerPorts,
  options: SimulatedMemberOptions,
): Promise<SimulatedMember> {
  const { name, version, tokens } = options;
  const server: ApiServer = await createApiServer(ports, {
    gitVersion: `${KUBERNETES_VERSION}+lifeboat.${version}`,
    tokens,
    authorizer: "RBAC",
    admissionPlugins: [],
    podLogs: createPodLogs(ports.clock, () => server.client(MODEL_USER)),
    podStreams: createPodStreams(() => server.client(MODEL_USER)),
    historyMaxEvents: HISTORY_MAX_EVENTS,
    historyMaxBytes: HISTORY_MAX_BYTES,
  });
  const model = new ReplaceableModel(ports, server.client(MODEL_USER), options.model);
  const gate = createFaultGate(ports, server.handle);
  const manager = createManager(ports, [
    { name: "api-server", run: (signal) => server.run(signal) },
    model,
  ]);
  const listeners: ServingListener[] = [];
  let isServing = true;
  const setFaults = async (faults: readonly SimulatedFault[]): Promise<void> => {
    const has = (mode: SimulatedFault["mode"]): boolean => faults.some((f) => f.mode === mode);
    gate.setFaults(faults);
    model.setPodsReady(!has("pods-not-ready"));
    if (isServing !== has("api-down")) return;
    isServing = !isServing;
    await Promise.all(listeners.map((listener) => listener(isServing)));
  };
  return {
    name,
    server,
    handle: gate.handle,
    setFaults,
    setModel: (wanted) => model.replace(wanted),
    onServing: (listener) => listeners.push(listener),
    run: (signal) => manager.run(signal),
    close: () => server.close(),
  };
}
