/** Which requests the API server passes on, and how it names their users: followed, because the authority of fronts is rotated. */
import { type AnyObject, configMaps } from "@lifeboat/api";
import { type RequestHeaderRules, requestHeaderRules } from "@lifeboat/apiserver";
import { type Client, Informer, type KitPorts } from "@lifeboat/kit";

/** Written by every kube-apiserver that aggregates others. */
export const FRONT_CONFIG = Object.freeze({
  namespace: "kube-system",
  name: "extension-apiserver-authentication",
});

export interface Front {
  readonly informer: Informer<AnyObject>;
  /** Undefined: the API server passes nothing on, or it is not known yet. */
  rules(): RequestHeaderRules | undefined;
}

export function followFront(ports: KitPorts, client: Client): Front {
  const informer = new Informer(ports, client, configMaps, {
    namespace: FRONT_CONFIG.namespace,
    fieldSelector: `metadata.name=${FRONT_CONFIG.name}`,
  });
  return { informer, rules: () => frontRules(informer.get(FRONT_CONFIG)) };
}

export function frontRules(config: AnyObject | undefined): RequestHeaderRules | undefined {
  return requestHeaderRules((config?.["data"] ?? {}) as Readonly<Record<string, string>>);
}
