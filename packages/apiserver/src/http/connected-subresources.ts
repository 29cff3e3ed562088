/** The subresources that are connections and not objects, as discovery lists them: those that this server serves. */
import type { ConnectedSubresource } from "./discovery.ts";
import type { MemberProxy } from "./member-proxy.ts";
import type { PodLogs } from "./pod-logs.ts";
import type { PodStreams } from "./pod-streams.ts";

const PODS = { group: "", plural: "pods" };
const EVERY_VERB = ["create", "delete", "get", "patch", "update"];

export function connectedSubresources(served: {
  readonly members?: MemberProxy | undefined;
  readonly podLogs?: PodLogs | undefined;
  readonly podStreams?: PodStreams | undefined;
}): readonly ConnectedSubresource[] {
  const all: ConnectedSubresource[] = [];
  if (served.members !== undefined)
    all.push({ group: "cluster.karmada.io", plural: "clusters", name: "proxy", verbs: EVERY_VERB });
  if (served.podLogs !== undefined) all.push({ ...PODS, name: "log", verbs: ["get"] });
  if (served.podStreams === undefined) return all;
  const verbs = ["create", "get"];
  return [
    ...all,
    { ...PODS, name: "exec", kind: "PodExecOptions", verbs },
    { ...PODS, name: "attach", kind: "PodAttachOptions", verbs },
    { ...PODS, name: "portforward", kind: "PodPortForwardOptions", verbs },
  ];
}
