/**
 * A control plane, composed on ports: the embedded API server and the controllers that run on it. No
 * process and no socket here; the command adds those, and the simulation adds its own.
 */
import type { KindSettings } from "@lifeboat/api";
import {
  allowMasters,
  type ApiServer,
  type ApiServerPorts,
  type Auditor,
  createApiServer,
  createKindsAdmission,
  deletionProtection,
  type User,
} from "@lifeboat/apiserver";
import type { ConnectMember, ScriptEngine } from "@lifeboat/controllers/context";
import { holdDeletions } from "@lifeboat/controllers/operating";
import { createManager, type Service } from "@lifeboat/kit";
import { type ControllersOptions, createControllers } from "./controllers.ts";
import { createCustomizationAdmission } from "./customization-admission.ts";
import { establishKinds, installKinds } from "./install-kinds.ts";
import { createPlaneContext, type PlaneContextPorts } from "./plane-context.ts";
import { KUBERNETES_VERSION } from "./kubernetes-version.ts";

export type ControlPlanePorts = ApiServerPorts;

export interface ControlPlaneOptions {
  /** Of Lifeboat itself, such as `0.1.0`. */
  readonly version: string;
  readonly tokens: ReadonlyMap<string, User>;
  /** What checks users' scripts before they are stored; absent: they are stored unread. */
  readonly scripts?: Pick<ScriptEngine, "check">;
  /** Records requests that come over HTTP. */
  readonly auditor?: Auditor | undefined;
  /** The storage holds a backup of this time ("": not known): nothing is deleted in members until a person agrees. */
  readonly restoredFrom?: string | undefined;
  /** What works on the control plane by itself; absent: it only serves its API. */
  readonly work?: PlaneWork;
}

export interface PlaneWork extends Pick<PlaneContextPorts, "interpretation" | "instance"> {
  readonly connect: ConnectMember;
  readonly controllers: ControllersOptions;
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
  const { scripts } = options;
  const server: ApiServer = await createApiServer(ports, {
    gitVersion: `${KUBERNETES_VERSION}+lifeboat.${options.version}`,
    tokens: options.tokens,
    authorizer: allowMasters,
    admissionPlugins: [
      createKindsAdmission(ports, settingsOf(options)),
      deletionProtection,
      ...(scripts === undefined
        ? []
        : [createCustomizationAdmission(scripts, () => server.client(PLANE_USER))]),
    ],
    historyMaxEvents: HISTORY_MAX_EVENTS,
    historyMaxBytes: HISTORY_MAX_BYTES,
    unreadyWhenFull: true,
    auditor: options.auditor,
  });
  try {
    await serveKinds(ports, server);
    if (options.restoredFrom !== undefined)
      await holdDeletions(ports, server.client(PLANE_USER), options.restoredFrom);
  } catch (error) {
    await server.close();
    throw error;
  }
  const services = [{ name: "api-server", run: (signal: AbortSignal) => server.run(signal) }];
  const manager = createManager(ports, [...services, ...workServices(ports, server, options.work)]);
  return { server, run: (signal) => manager.run(signal), close: () => server.close() };
}

/** What this process alone knows: without controllers of its own it cannot tell the gates of those that work on it. */
function settingsOf({ work }: ControlPlaneOptions): KindSettings {
  if (work === undefined) return {};
  const { statefulFailoverInjection } = work.controllers;
  return { statefulFailoverInjection };
}

function workServices(
  ports: ControlPlanePorts,
  server: ApiServer,
  work: PlaneWork | undefined,
): readonly Service[] {
  if (work === undefined) return [];
  const { controllers, ...shared } = work;
  const running = createPlaneContext(
    { ...ports, ...shared, skippedApis: controllers.skippedPropagatingApis },
    server.client(PLANE_USER),
  );
  return [...running.services, ...createControllers(running.context, controllers)];
}

async function serveKinds({ clock }: ControlPlanePorts, server: ApiServer): Promise<void> {
  const client = server.client(PLANE_USER);
  await establishKinds(clock, client, await installKinds(client));
}
