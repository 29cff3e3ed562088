export {
  type ControlPlane,
  type ControlPlaneOptions,
  type ControlPlanePorts,
  createControlPlane,
} from "./control-plane.ts";
export { establishKinds, installKinds } from "./install-kinds.ts";
