/**
 * The real kube-apiserver that recordings are made on. Admission plugins that change objects are off: what is recorded is
 * what the kinds themselves do.
 */
import { type RealApiServer, startRealApiServer } from "../../tests/support/real-api-server.ts";

const PLUGINS_OFF = [
  "DefaultIngressClass",
  "DefaultStorageClass",
  "DefaultTolerationSeconds",
  "LimitRanger",
  "PersistentVolumeClaimResize",
  "PodSecurity",
  "PodTopologyLabels",
  "Priority",
  "ResourceQuota",
  "RuntimeClass",
  "ServiceAccount",
  "StorageObjectInUseProtection",
  "TaintNodesByCondition",
];

/** Starts the server for the length of one recording. */
export function startRecordingServer(): Promise<RealApiServer> {
  return startRealApiServer({
    flags: ["--allow-privileged", `--disable-admission-plugins=${PLUGINS_OFF.join(",")}`],
  });
}
