export { connectMemberOverHttp } from "./connect-member.ts";
export { createInProcessScriptEngine } from "./script-in-process.ts";
export {
  createScriptWorkers,
  type ScriptWorkers,
  type ScriptWorkersOptions,
} from "./script-workers.ts";
