/**
 * A control plane, composed on ports: the embedded API server and the controllers that run on it. No
 * process and no socket here; the command adds those, and the simulation adds its own.
 */
import {
  allowMasters,
  type ApiServer,
  type ApiServerPorts,
  createApiServer,
  type User,
} from "@lifeboat/apiserver";
import type { ScriptEngine } from "@lifeboat/controllers/context";
import { createManager } from "@lifeboat/kit";
import { establishKinds, installKinds } from "./install-kinds.ts";
import { KUBERNETES_VERSION } from "./kubernetes-version.ts";
import { planeAdmission } from "./plane-admission.ts";
import { createPlaneWork, type PlaneWork } from "./plane-work.ts";

export type ControlPlanePorts = ApiServerPorts;

export interface ControlPlaneOptions {
  /** Of Lifeboat itself, such as `0.1.0`. */
  readonly version: string;
  readonly tokens: ReadonlyMap<string, User>;
  /** What checks users' scripts before they are stored; absent: they are stored unread. */
  readonly scripts?: Pick<ScriptEngine, "check">;
  /** What works on the control plane by itself; absent: it only serves its API. */
  readonly work?: PlaneWork;
}

export interface ControlPlane {
  readonly server: ApiServer;
  /** Everything that works by itself, until the signal aborts. Serving requests needs no run. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends watches in order, waits for writes under way, closes the storage. */
  close(): Promise<void>;
}

const HISTORY_MAX_EVENTS = 50_000;
/**
 * What a watch can resume from: some ten thousand changes of bindings and Works. It is in memory and on disk (and what is on
 * disk is mapped into memory): a client that was away for longer lists anew.
 */
const HISTORY_MAX_BYTES = 32 * 1024 * 1024;

/** Who installs the kinds, and as whom controllers act. */
const PLANE_USER: User = { name: "system:lifeboat", groups: ["system:masters"] };

/**
 * Opens the storage and builds the plane; rejects with a sentence when the storage cannot be used. From then on the kinds
 * of the control plane are served.
 */
export async function createControlPlane(
  ports: ControlPlanePorts,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { scripts, work } = options;
  const server: ApiServer = await createApiServer(ports, {
    gitVersion: `${KUBERNETES_VERSION}+lifeboat.${options.version}`,
    tokens: options.tokens,
    authorizer: allowMasters,
    admissionPlugins: planeAdmission(
      ports,
      {
        ...(scripts === undefined ? {} : { scripts }),
        ...(work === undefined ? {} : { controllers: work.controllers }),
      },
      () => server.client(PLANE_USER),
    ),
    historyMaxEvents: HISTORY_MAX_EVENTS,
    historyMaxBytes: HISTORY_MAX_BYTES,
    unreadyWhenFull: true,
  });
  try {
    await serveKinds(ports, server);
  } catch (error) {
    await server.close();
    throw error;
  }
  const services = [{ name: "api-server", run: (signal: AbortSignal) => server.run(signal) }];
  const working = work === undefined ? [] : createPlaneWork(ports, server.client(PLANE_USER), work);
  const manager = createManager(ports, [...services, ...working]);
  return { server, run: (signal) => manager.run(signal), close: () => server.close() };
}

async function serveKinds({ clock }: ControlPlanePorts, server: ApiServer): Promise<void> {
  const client = server.client(PLANE_USER);
  await establishKinds(clock, client, await installKinds(client));
}
