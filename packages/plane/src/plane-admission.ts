/**
 * The rules of admission of a control plane, inside the embedded API server and behind the webhooks of a kube-apiserver: first
 * what agents and detectors may write, as it was sent, then what holds for every writer.
 */
import type { KindSettings } from "@lifeboat/api";
import {
  type AdmissionPlugin,
  createKindsAdmission,
  deletionProtection,
  type KindsAdmissionPorts,
} from "@lifeboat/apiserver";
import type { Clock } from "@lifeboat/base";
import type { ScriptEngine } from "@lifeboat/controllers/context";
import type { Client } from "@lifeboat/kit";
import { createActAdmission } from "./act-admission.ts";
import { agentAdmission, createAgentEventLimit } from "./agent-admission.ts";
import type { ControllersOptions } from "./controllers.ts";
import { createFederatedAdmission } from "./federated-admission.ts";
import { createCustomizationAdmission } from "./customization-admission.ts";
import { trafficAdmission } from "./traffic-admission.ts";

export interface PlaneAdmission {
  /** Checks users' scripts before they are stored; absent: they are stored unread. */
  readonly scripts?: Pick<ScriptEngine, "check">;
  /** Of the controllers of this process; nothing: it runs none now, and does not know the gates of those that run. */
  readonly controllers: () => Pick<ControllersOptions, "statefulFailoverInjection"> | undefined;
}

/** They come first: what is judged is what was sent. */
export function agentRules(clock: Clock): readonly AdmissionPlugin[] {
  return [agentAdmission, createAgentEventLimit(clock)];
}

/** `plane` reads what is there; it is asked for when a plugin needs it. */
export function planeAdmission(
  ports: KindsAdmissionPorts,
  { scripts, controllers }: PlaneAdmission,
  plane: () => Client,
): readonly AdmissionPlugin[] {
  return [
    createKindsAdmission(ports, settingsOf(controllers)),
    createActAdmission(ports.clock),
    deletionProtection,
    trafficAdmission,
    createFederatedAdmission(plane),
    ...(scripts === undefined ? [] : [createCustomizationAdmission(scripts, plane)]),
  ];
}

function settingsOf(controllers: PlaneAdmission["controllers"]): KindSettings {
  return {
    get statefulFailoverInjection() {
      return controllers()?.statefulFailoverInjection;
    },
  };
}
