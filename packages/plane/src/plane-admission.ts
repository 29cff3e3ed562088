/**
 * The rules of admission of a control plane: one list, inside the embedded API server and behind the webhook of a
 * kube-apiserver.
 */
import type { KindSettings } from "@lifeboat/api";
import {
  type AdmissionPlugin,
  createKindsAdmission,
  deletionProtection,
  type KindsAdmissionPorts,
} from "@lifeboat/apiserver";
import type { ScriptEngine } from "@lifeboat/controllers/context";
import type { Client } from "@lifeboat/kit";
import { createActAdmission } from "./act-admission.ts";
import { agentAdmission, createAgentEventLimit } from "./agent-admission.ts";
import type { ControllersOptions } from "./controllers.ts";
import { createFederatedAdmission } from "./federated-admission.ts";
import { createCustomizationAdmission } from "./customization-admission.ts";

export interface PlaneAdmission {
  /** Checks users' scripts before they are stored; absent: they are stored unread. */
  readonly scripts?: Pick<ScriptEngine, "check">;
  /** Of the controllers of this process; nothing: it runs none now, and does not know the gates of those that run. */
  readonly controllers: () => Pick<ControllersOptions, "statefulFailoverInjection"> | undefined;
}

/** `plane` reads what is there; it is asked for when a plugin needs it. */
export function planeAdmission(
  ports: KindsAdmissionPorts,
  { scripts, controllers }: PlaneAdmission,
  plane: () => Client,
): readonly AdmissionPlugin[] {
  return [
    agentAdmission,
    createAgentEventLimit(ports.clock),
    createKindsAdmission(ports, settingsOf(controllers)),
    createActAdmission(ports.clock),
    deletionProtection,
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
