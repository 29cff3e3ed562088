export {
  createCredentialSource,
  type Credential,
  type CredentialPorts,
  type CredentialSource,
  fixedCredential,
} from "./credentials.ts";
export { followAccess } from "./follow-kubeconfig.ts";
export { createHttpClient, type HttpClient, type HttpClientConfig } from "./http-client.ts";
export {
  checkCertificates,
  connectByKubeconfig,
  defaultKubeconfigPaths,
  httpConfigOf,
  type KubeconfigSource,
  loadInCluster,
  loadKubeconfig,
} from "./load-kubeconfig.ts";
export { MEMBER_LIMITS, type ResponseLimits } from "./response-limits.ts";
export { createPinoLog, type LogLevel, type PinoLogOptions } from "./pino-log.ts";
export { createPromMetrics } from "./prom-metrics.ts";
