export { defaultInterpreter, hasOwnAnswer, interpreterOf } from "./interpretation.ts";
export type {
  Dependency,
  Health,
  Interpreter,
  ReplicaRequirements,
  Replicas,
  StatusItem,
} from "./interpreter.ts";
export { podDependencies } from "./pod-dependencies.ts";
export { requirementsOf } from "./pod-requirements.ts";
export {
  aggregateFromScript,
  dependenciesFromScript,
  healthFromScript,
  mergedDependencies,
  objectFromScript,
  replicasFromScript,
  type ScriptAnswer,
  statusFromScript,
} from "./script-answers.ts";
