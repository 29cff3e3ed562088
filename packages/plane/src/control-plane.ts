/**
 * A control plane, composed on ports: the embedded API server and the controllers that run on it. No
 * process and no socket here; the command adds those, and the simulation adds its own.
 */
import {
  type ApiServer,
  type ApiServerOptions,
  type ApiServerPorts,
  type Auditor,
  createApiServer,
  installRights,
  type TokenAuthenticator,
  type User,
} from "@lifeboat/apiserver";
import {
  ensureOwnNamespace,
  type PlaneContext,
  type ScriptEngine,
} from "@lifeboat/controllers/context";
import { holdDeletions } from "@lifeboat/controllers/operating";
import { neverGranted } from "@lifeboat/core/clusters/certificates";
import { createManager, type Signer } from "@lifeboat/kit";
import { createBootstrapTokenAdmission } from "./bootstrap-tokens/admission.ts";
import { createBootstrapTokenAuthenticator } from "./bootstrap-tokens/authenticator.ts";
import { readKeptSwitches } from "./gates.ts";
import { establishKinds, installKinds } from "./install-kinds.ts";
import { memberRoutes } from "./member-routes.ts";
import { CONTROLLERS_USER, planeRights } from "./plane-rights.ts";
import { createRevocations, type Revocations } from "./revocations.ts";
import { KUBERNETES_VERSION } from "./kubernetes-version.ts";
import { agentRules, planeAdmission } from "./plane-admission.ts";
import { createPlaneWork, type PlaneWork } from "./plane-work.ts";

export type ControlPlanePorts = ApiServerPorts;

export interface ControlPlaneOptions {
  /** Of Lifeboat itself, such as `0.1.0`. */
  readonly version: string;
  readonly tokens: ReadonlyMap<string, User>;
  /** Of tokens that others issue. */
  readonly tokenAuthenticators?: readonly TokenAuthenticator[];
  /** What checks users' scripts before they are stored; absent: they are stored unread. */
  readonly scripts?: Pick<ScriptEngine, "check">;
  /** What else `/readyz` depends on. */
  readonly readyChecks?: ApiServerOptions["readyChecks"];
  /** Records requests that come over HTTP. */
  readonly auditor?: Auditor | undefined;
  /** The storage holds a backup of this time ("": not known): nothing is deleted in members until a person agrees. */
  readonly restoredFrom?: string | undefined;
  /** Reads and signs certificate requests; absent: requests are stored unread and stay without an answer. */
  readonly signer?: Signer;
  /** What works on the control plane by itself; absent: it only serves its API. */
  readonly work?: PlaneWork;
  /** Gets a sentence for each gate that is not as flags alone would have it. */
  readonly tell?: (sentence: string) => void;
}

export interface ControlPlane {
  readonly server: ApiServer;
  /** Which certificates of clients are void. */
  readonly revocations: Revocations;
  /** Everything that works by itself, until the signal aborts. Serving requests needs no run. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends watches in order, waits for writes under way, closes the storage. */
  close(): Promise<void>;
}

const HISTORY_MAX_EVENTS = 50_000;
/**
 * What a watch can resume from: some ten thousand changes of bindings and Works. It is in memory and on disk (and what is on
 * disk is mapped into memory): a client that was away for longer lists again.
 */
const HISTORY_MAX_BYTES = 32 * 1024 * 1024;

/** The user that installs kinds and roles, and as which admission reads. */
const PLANE_USER: User = { name: "system:lifeboat:setup", groups: ["system:masters"] };

/**
 * Opens the storage and builds the plane; rejects with a sentence when the storage cannot be used. From then on the kinds
 * of the control plane are served.
 */
export async function createControlPlane(
  ports: ControlPlanePorts,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { scripts, signer, work } = options;
  const { tokenCrypto } = ports;
  let context: PlaneContext | undefined;
  let controllers = work?.controllers;
  const members = work?.proxy?.(memberRoutes(() => context?.connections));
  const server: ApiServer = await createApiServer(ports, {
    gitVersion: `${KUBERNETES_VERSION}+lifeboat.${options.version}`,
    tokens: options.tokens,
    tokenAuthenticators: (store) => [
      ...(tokenCrypto === undefined
        ? []
        : [createBootstrapTokenAuthenticator(ports.clock, store, tokenCrypto)]),
      ...(options.tokenAuthenticators ?? []),
    ],
    authorizer: "RBAC",
    admissionPlugins: [
      ...agentRules(ports.clock),
      ...planeAdmission(
        ports,
        {
          ...(scripts === undefined ? {} : { scripts }),
          controllers: () => controllers,
        },
        () => server.client(PLANE_USER),
      ),
      ...(tokenCrypto === undefined
        ? []
        : [
            createBootstrapTokenAdmission(ports.clock, tokenCrypto, () =>
              server.client(PLANE_USER),
            ),
          ]),
    ],
    ...(signer === undefined ? {} : { readRequest: readerOf(signer) }),
    historyMaxEvents: HISTORY_MAX_EVENTS,
    historyMaxBytes: HISTORY_MAX_BYTES,
    unreadyWhenFull: true,
    readyChecks: options.readyChecks,
    auditor: options.auditor,
    ...(members === undefined ? {} : { members }),
  });
  try {
    await serveKinds(ports, server);
    // Some of the rights are in it.
    await ensureOwnNamespace(server.client(PLANE_USER));
    await installRights(server.client(PLANE_USER), planeRights());
    if (options.restoredFrom !== undefined)
      await holdDeletions(ports, server.client(PLANE_USER), options.restoredFrom);
    if (controllers !== undefined)
      controllers = await readKeptSwitches(server.client(PLANE_USER), controllers, options.tell);
  } catch (error) {
    await server.close();
    throw error;
  }
  const services = [{ name: "api-server", run: (signal: AbortSignal) => server.run(signal) }];
  const revocations = createRevocations(ports, server, server.client(PLANE_USER));
  const working =
    work === undefined || controllers === undefined
      ? undefined
      : createPlaneWork(
          { ...ports, registration: signer === undefined ? {} : { signer } },
          server.client(CONTROLLERS_USER),
          { ...work, controllers },
        );
  context = working?.context;
  const manager = createManager(ports, [
    ...services,
    ...revocations.services,
    ...(working?.services ?? []),
  ]);
  return { server, revocations, run: (signal) => manager.run(signal), close: () => server.close() };
}

/** What the server has to know of a request when it is made. */
function readerOf(signer: Signer): NonNullable<ApiServerOptions["readRequest"]> {
  return (pem) => {
    const read = signer.read(pem);
    if ("refusal" in read) return read;
    const organizations = read.subject
      .flat()
      .flatMap(({ type, value }) => (type === ORGANIZATION ? [value] : []));
    const never = neverGranted(read);
    return { organizations, ...(never !== undefined && { never }) };
  };
}

const ORGANIZATION = "2.5.4.10";

async function serveKinds({ clock }: ControlPlanePorts, server: ApiServer): Promise<void> {
  const client = server.client(PLANE_USER);
  await establishKinds(clock, client, await installKinds(client));
}
