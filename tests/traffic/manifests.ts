/** What the tests of traffic serve: a Deployment behind a Service in three clusters, and ingresses for it. */
import {
  type AnyObject,
  deployments,
  type MultiClusterIngress,
  type New,
  type Placement,
  propagationPolicies,
  type Resource,
  services,
} from "@lifeboat/api";

/** The port of the Service; loopback addresses differ, so that it need not be free elsewhere. */
export const SERVICE_PORT = 18_080;

/** The Deployment is placed as is asked, its Service is in every cluster. */
export function application(
  name = "web",
  type: "LoadBalancer" | "NodePort" = "LoadBalancer",
  serviceSpec: object = {},
  placement: Placement = {},
): readonly { readonly resource: Resource; readonly object: New<AnyObject> }[] {
  const labels = { app: name };
  const metadata = { name, namespace: "default" };
  const containers = [{ name, image: "registry.example.com/web:1" }];
  return [
    {
      resource: deployments,
      object: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata,
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers } },
        },
      },
    },
    {
      resource: services,
      object: {
        apiVersion: "v1",
        kind: "Service",
        metadata,
        spec: {
          ...serviceSpec,
          type,
          selector: labels,
          ports: [{ name: "http", port: SERVICE_PORT }],
        },
      },
    },
    policy(name, { apiVersion: "apps/v1", kind: "Deployment", name }, placement),
    policy(`${name}-service`, { apiVersion: "v1", kind: "Service", name }, {}),
  ];
}

function policy(
  name: string,
  selector: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  placement: Placement,
): { readonly resource: Resource; readonly object: New<AnyObject> } {
  return {
    resource: propagationPolicies as unknown as Resource,
    object: {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name, namespace: "default" },
      spec: { resourceSelectors: [selector], placement },
    },
  };
}

export function ingress(name: string, host: string, service = "web"): New<MultiClusterIngress> {
  const backend = { service: { name: service, port: { number: SERVICE_PORT } } };
  return {
    apiVersion: "networking.karmada.io/v1alpha1",
    kind: "MultiClusterIngress",
    metadata: { name, namespace: "default" },
    spec: { rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] },
  };
}
