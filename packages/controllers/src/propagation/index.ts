export { createEndorsement } from "./endorsement/create-endorsement.ts";
export { createBindingStatus } from "./binding-status/create-binding-status.ts";
export { createBindingController } from "./binding/create-binding-controller.ts";
export { createDeletionGate } from "./deletion-gate/create-deletion-gate.ts";
export { createDependencies } from "./dependencies/create-dependencies.ts";
export { createDetector, type DetectorOptions } from "./detector/create-detector.ts";
export { createExecution } from "./execution/create-execution.ts";
export {
  createNamespaceSync,
  type NamespaceSyncOptions,
} from "./namespace-sync/create-namespace-sync.ts";
