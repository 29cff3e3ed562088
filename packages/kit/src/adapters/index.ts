export { answerHead } from "./answer-head.ts";
export { isCertificateOf, readCertificate, type ReadCertificate } from "./certificate.ts";
export {
  type KubeconfigEntry,
  kubeconfigText,
  writeKubeconfig,
  writePrivateFile,
} from "./write-kubeconfig.ts";
export {
  makeCertificateRequest,
  type RequestAndKey,
  type RequestedSubject,
} from "./certificate-request.ts";
export {
  createCredentialSource,
  type Credential,
  type CredentialPorts,
  type CredentialSource,
  fixedCredential,
  type ReplaceableCredential,
  replaceableCredential,
} from "./credentials.ts";
export { AgentPool, type PoolConfig } from "./http-pool.ts";
export { type HttpProxy, httpProxyOf } from "./http-proxy.ts";
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
export { judgedLookup } from "./judged-dial.ts";
export { MEMBER_LIMITS, type ResponseLimits } from "./response-limits.ts";
export { createPinoLog, type LogLevel, type PinoLogOptions } from "./pino-log.ts";
export { createPromMetrics } from "./prom-metrics.ts";
