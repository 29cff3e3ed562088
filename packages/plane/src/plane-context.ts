/** What the controllers of a control plane share: each kind watched once, templates, connections, events. */
import type { Ids } from "@lifeboat/base";
import {
  builtinInterpretation,
  type ConnectMember,
  createFleetView,
  createMemberConnections,
  createPlaneInformers,
  createTemplates,
  type Interpretation,
  type PlaneContext,
  type Reading,
  TargetRoom,
  type TokenRegistration,
} from "@lifeboat/controllers/context";
import { createClockWatch } from "@lifeboat/controllers/operating";
import { skipsApi } from "@lifeboat/core/propagation/matching";
import { type Client, createEventRecorder, type KitPorts, type Service } from "@lifeboat/kit";

export interface PlaneContextPorts extends KitPorts {
  readonly ids: Ids;
  /** How connections to members are opened. */
  readonly connect: ConnectMember;
  /** Answers by users' scripts; absent: built-in answers alone. */
  readonly interpretation?: (
    ports: KitPorts & Pick<PlaneContext, "events">,
    informers: PlaneContext["informers"],
  ) => Interpretation & Service;
  /** How clusters register by a token; absent: they do not. */
  readonly registration?: TokenRegistration;
  /** Kinds that are not even watched: `group`, `group/version` or `group/version/Kind`. */
  readonly skippedApis?: readonly string[];
  /** How the collections of the control plane are read; in pages when absent. */
  readonly reading?: Reading;
  /** Whether Secrets of Clusters are bound to their endpoints here; absent: yes. */
  readonly bindsSecrets?: boolean;
  /** How often clusters count their room; 10 seconds when absent. */
  readonly clusterStatusUpdateFrequencyMs?: number;
  /** Which of several instances reports Events: the host's or pod's name. */
  readonly instance: string;
}

/** A context, and what has to run for it. */
export interface RunningContext {
  readonly context: PlaneContext;
  /** What answers by users' scripts, if anything does. */
  readonly scripts: readonly Service[];
  /** In this order: what controllers need comes before them. */
  readonly services: readonly Service[];
}

/** Builds what controllers share over any API that serves the control plane's kinds. */
export function createPlaneContext(ports: PlaneContextPorts, plane: Client): RunningContext {
  const { clock, random, log, metrics, ids, reading = {} } = ports;
  const kit = { clock, random, log, metrics };
  const informers = createPlaneInformers(kit, plane, reading);
  const events = createEventRecorder({ clock, ids, log, metrics }, plane, {
    component: "lifeboat",
    instance: ports.instance,
  });
  const clockWatch = createClockWatch({ ...kit, events, informers, plane });
  const { time } = clockWatch;
  const templates = createTemplates(kit, plane, {
    skips: (resource) => skipsApi(ports.skippedApis ?? [], resource),
    reading,
  });
  const connections = createMemberConnections(
    kit,
    plane,
    informers.clusters,
    ports.connect,
    reading,
    ports.bindsSecrets === undefined ? {} : { bindsSecrets: ports.bindsSecrets },
  );
  const scripts = ports.interpretation?.({ ...kit, events }, informers);
  const fleetView = createFleetView(informers);
  const countMs = ports.clusterStatusUpdateFrequencyMs;
  const targetRoom = new TargetRoom({ informers, fleetView, time, countMs });
  const scriptServices: readonly Service[] = scripts === undefined ? [] : [scripts];
  const interpretation = scripts ?? builtinInterpretation;
  const watched: readonly Service[] = Object.values(informers);
  return {
    context: {
      ...kit,
      ids,
      time,
      plane,
      informers,
      fleetView,
      targetRoom,
      events,
      templates,
      connections,
      interpretation,
      ...(ports.registration === undefined ? {} : { registration: ports.registration }),
    },
    scripts: scriptServices,
    services: [clockWatch, ...watched, events, templates, connections, ...scriptServices],
  };
}
