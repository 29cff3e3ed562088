export { connectMemberOverHttp } from "./connect-member.ts";
export { deliverToWebhook, type Webhook } from "./deliver-webhook.ts";
export { httpProbe, type HttpTarget } from "./probe-http.ts";
export { tcpProbe, type TcpTarget } from "./probe-tcp.ts";
export { resolveNameProbe, type ResolveNameOptions } from "./resolve-name.ts";
export { createInProcessScriptEngine } from "./script-in-process.ts";
export {
  createScriptWorkers,
  type ScriptWorkers,
  type ScriptWorkersOptions,
} from "./script-workers.ts";
