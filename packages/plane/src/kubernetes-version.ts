/** The Kubernetes release whose API the embedded server speaks; clients read it from `/version`. */
export const KUBERNETES_VERSION = "v1.36.4";
