/**
 * What real `kubectl` is asked to do, once against a real kube-apiserver and once against ours. Each step must give the
 * same exit code and, after `normalize`, the same output, unless the step says what else to compare and why.
 */

export interface Step {
  readonly args: readonly string[];
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Compare less than everything; the text says why. */
  readonly only?: { readonly part: "code" | "stdout" | "words"; readonly because: string };
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

const yaml = (value: unknown): string => JSON.stringify(value);

const deployment = (image: string, extra: Record<string, unknown> = {}): string =>
  yaml({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          containers: [
            {
              name: "web",
              image,
              ports: [{ containerPort: 80 }],
              resources: { requests: { cpu: "1000m", memory: "0.5Gi" } },
              ...extra,
            },
          ],
        },
      },
    },
  });

const env = { env: [{ name: "MODE", value: "fast" }] };

const configMap = (data: Record<string, string>): string =>
  yaml({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", namespace: "shop" },
    data,
  });

const listOfTwo = yaml({
  apiVersion: "v1",
  kind: "List",
  items: ["first", "second"].map((name) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "shop" },
  })),
});

const widgetDefinition = yaml({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.test.lifeboat.dev" },
  spec: {
    group: "test.lifeboat.dev",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wd"], categories: ["all"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [
          { name: "Color", type: "string", jsonPath: ".spec.color" },
          { name: "Replicas", type: "integer", jsonPath: ".spec.replicas", priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["color"],
                properties: {
                  color: { type: "string", enum: ["red", "green"] },
                  replicas: { type: "integer", default: 1, minimum: 0 },
                  parts: {
                    type: "array",
                    items: { type: "string" },
                    "x-kubernetes-list-type": "set",
                  },
                },
              },
              status: { type: "object", properties: { replicas: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
});

const widget = (spec: Record<string, unknown>): string =>
  yaml({
    apiVersion: "test.lifeboat.dev/v1",
    kind: "Widget",
    metadata: { name: "one", namespace: "shop" },
    spec,
  });

const inShop = ["-n", "shop"];
const apply = (input: string): Step => ({ args: ["apply", "-f", "-"], input });
const run = (...args: string[]): Step => ({ args });
const sedEditor = (expression: string): Record<string, string> => ({
  KUBE_EDITOR: `sed -i ${expression}`,
});

const namespaces: Scenario = {
  name: "namespaces",
  steps: [
    run("create", "namespace", "shop"),
    run("create", "namespace", "shop"),
    run("get", "namespace", "shop"),
    run("get", "namespace", "shop", "-o", "jsonpath={.status.phase}"),
    run("get", "namespace", "nowhere"),
    run("label", "namespace", "shop", "team=blue"),
    run("get", "namespace", "-l", "team=blue", "-o", "name"),
    run("get", "namespace", "-l", "team in (blue,red),!gone", "-o", "name"),
    run("get", "namespace", "-l", "team in (", "-o", "name"),
    run("get", "namespace", "--field-selector", "metadata.name=shop", "-o", "name"),
    run(
      "get",
      "namespace",
      "--field-selector",
      "status.phase=Active,metadata.name!=default,metadata.name!=lifeboat-system",
      "-o",
      "name",
    ),
  ],
};

const configMaps: Scenario = {
  name: "config maps in every output form",
  steps: [
    { args: ["create", "-f", "-"], input: configMap({ a: "1" }) },
    { args: ["create", "-f", "-"], input: configMap({ a: "1" }) },
    run("get", "cm", ...inShop),
    run("get", "cm", "settings", ...inShop, "-o", "wide"),
    run("get", "cm", "settings", ...inShop, "-o", "yaml"),
    run("get", "cm", "settings", ...inShop, "-o", "json"),
    run("get", "cm", ...inShop, "-o", "yaml"),
    run("get", "cm", ...inShop, "-o", "name"),
    run("get", "cm", "settings", ...inShop, "-o", "jsonpath={.data.a}"),
    run("get", "cm", ...inShop, "-o", "jsonpath={range .items[*]}{.metadata.name}={.data.a}{end}"),
    run("get", "cm", ...inShop, "-o", "custom-columns=NAME:.metadata.name,A:.data.a"),
    run("get", "cm", ...inShop, "-o", "go-template={{range .items}}{{.metadata.name}}{{end}}"),
    run("get", "cm", ...inShop, "--sort-by", ".metadata.name"),
    run("get", "cm", ...inShop, "--show-labels"),
    run("get", "cm", ...inShop, "-L", "app"),
    run("get", "cm", "-A", "--no-headers", "--field-selector", "metadata.namespace=shop"),
    run("get", "cm", ...inShop, "--chunk-size=1"),
    run("create", "configmap", "typed", ...inShop, "--from-literal=k=v"),
    run("get", "cm", "typed", ...inShop, "-o", "jsonpath={.data}"),
    run("create", "secret", "generic", "hidden", ...inShop, "--from-literal=p=w"),
    run("get", "secret", "hidden", ...inShop, "-o", "jsonpath={.data.p} {.type}"),
    run("describe", "cm", "settings", ...inShop),
    run("describe", "secret", "hidden", ...inShop),
    { args: ["apply", "-f", "-"], input: listOfTwo },
    { args: ["apply", "-f", "-"], input: listOfTwo },
    { args: ["delete", "-f", "-"], input: listOfTwo },
    run("patch", "cm", "settings", ...inShop, "--type=merge", "-p", '{"data":{"b":"2","a":null}}'),
    run(
      "patch",
      "cm",
      "settings",
      ...inShop,
      "--type=json",
      "-p",
      '[{"op":"add","path":"/data/c","value":"3"}]',
    ),
    run("patch", "cm", "settings", ...inShop, "--type=strategic", "-p", '{"data":{"d":"4"}}'),
    run("patch", "cm", "settings", ...inShop, "--type=strategic", "-p", '{"data":{"d":"4"}}'),
    run(
      "patch",
      "cm",
      "settings",
      ...inShop,
      "--type=json",
      "-p",
      '[{"op":"remove","path":"/data/zz"}]',
    ),
    run("get", "cm", "settings", ...inShop, "-o", "jsonpath={.data}"),
    run("annotate", "cm", "settings", ...inShop, "note=hello"),
    run("annotate", "cm", "settings", ...inShop, "note=again"),
    run("annotate", "cm", "settings", ...inShop, "note-"),
    run("label", "cm", "settings", ...inShop, "bad key=x"),
    { args: ["replace", "-f", "-"], input: configMap({ z: "26" }) },
    run("get", "cm", "settings", ...inShop, "-o", "jsonpath={.data}"),
    { args: ["edit", "cm", "settings", ...inShop], environment: sedEditor('s/z:.*/z:\\ "27"/') },
    { args: ["edit", "cm", "settings", ...inShop], environment: sedEditor('s/z:.*/z:\\ "27"/') },
    run("get", "cm", "settings", ...inShop, "-o", "jsonpath={.data.z}"),
    run("delete", "cm", "settings", "typed", ...inShop),
    run("delete", "cm", "settings", ...inShop),
    run("delete", "cm", "settings", ...inShop, "--ignore-not-found"),
    run("get", "cm", ...inShop),
  ],
};

const deployments: Scenario = {
  name: "deployments: apply with a change and a removal, scale, rollout, wait",
  steps: [
    apply(deployment("nginx:1", env)),
    apply(deployment("nginx:1", env)),
    apply(deployment("nginx:2", env)),
    apply(deployment("nginx:2")),
    run("get", "deploy", "web", ...inShop, "-o", "yaml"),
    run("get", "deploy", ...inShop),
    run("get", "deploy", "web", ...inShop, "-o", "wide"),
    run("describe", "deploy", "web", ...inShop),
    run("scale", "deploy", "web", ...inShop, "--replicas=5"),
    run("scale", "deploy", "web", ...inShop, "--current-replicas=4", "--replicas=6"),
    run(
      "get",
      "deploy",
      "web",
      ...inShop,
      "-o",
      "jsonpath={.spec.replicas} {.metadata.generation}",
    ),
    run(
      "get",
      "deploy",
      "web",
      ...inShop,
      "--subresource=scale",
      "-o",
      "jsonpath={.spec.replicas} {.status.selector}",
    ),
    run("set", "image", "deploy/web", ...inShop, "web=nginx:3"),
    run("set", "env", "deploy/web", ...inShop, "A=1", "B=2"),
    run("rollout", "pause", "deploy/web", ...inShop),
    run("rollout", "resume", "deploy/web", ...inShop),
    run("get", "deploy", "web", ...inShop, "-o", "jsonpath={.spec.template.spec.containers[0]}"),
    run(
      "patch",
      "deploy",
      "web",
      ...inShop,
      "-p",
      '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:4"}]}}}}',
    ),
    run(
      "patch",
      "deploy",
      "web",
      ...inShop,
      "-p",
      '{"spec":{"selector":{"matchLabels":{"x":"y"}}}}',
    ),
    run("patch", "deploy", "web", ...inShop, "-p", '{"spec":{"replicas":"many"}}'),
    run("patch", "deploy", "web", ...inShop, "-p", '{"spec":{"unknown":1}}'),
    run(
      "patch",
      "deploy",
      "web",
      ...inShop,
      "--subresource=status",
      "--type=merge",
      "-p",
      '{"status":{"replicas":6,"readyReplicas":6}}',
    ),
    run("get", "deploy", "web", ...inShop),
    run(
      "wait",
      "deploy/web",
      ...inShop,
      "--for=jsonpath={.status.readyReplicas}=6",
      "--timeout=10s",
    ),
    run("wait", "deploy/web", ...inShop, "--for=condition=Available", "--timeout=1s"),
    apply(deployment("nginx:5", { bogus: true })),
    apply(deployment("")),
    run("diff", "-f", "/dev/null"),
    run("delete", "deploy", "web", ...inShop, "--wait=true"),
    run("get", "deploy", "web", ...inShop),
  ],
};

const services: Scenario = {
  name: "other built-in kinds",
  steps: [
    run("create", "service", "clusterip", "front", ...inShop, "--tcp=80:8080", "--clusterip=None"),
    run("get", "svc", "front", ...inShop, "-o", "yaml"),
    run("get", "svc", ...inShop),
    run("create", "deployment", "api", ...inShop, "--image=nginx", "--replicas=3"),
    run("expose", "deployment", "api", ...inShop, "--port=80", "--cluster-ip=None"),
    run("create", "job", "once", ...inShop, "--image=busybox", "--", "true"),
    run("create", "cronjob", "nightly", ...inShop, "--image=busybox", "--schedule=0 3 * * *"),
    run("get", "job,cronjob", ...inShop),
    run("get", "cronjob", "nightly", ...inShop, "-o", "yaml"),
    run("create", "ingress", "door", ...inShop, "--rule=shop.example/*=front:80"),
    run("get", "ingress", ...inShop),
    run("create", "role", "reader", ...inShop, "--verb=get,list", "--resource=configmaps"),
    run("create", "rolebinding", "reader", ...inShop, "--role=reader", "--user=bob"),
    run("get", "role,rolebinding", ...inShop, "-o", "name"),
    run("create", "serviceaccount", "robot", ...inShop),
    run(
      "create",
      "poddisruptionbudget",
      "keep",
      ...inShop,
      "--selector=app=api",
      "--min-available=1",
    ),
    run("get", "pdb", ...inShop),
    run("autoscale", "deployment", "api", ...inShop, "--min=1", "--max=5", "--cpu=80%"),
    run("get", "hpa", ...inShop),
    run("create", "quota", "limits", ...inShop, "--hard=pods=10"),
    run("create", "priorityclass", "high", "--value=1000"),
    run("get", "priorityclass", "high"),
    run("create", "clusterrole", "viewer", "--verb=get", "--resource=pods"),
    run("get", "clusterrole", "viewer", "-o", "jsonpath={.rules}"),
    run("delete", "clusterrole/viewer", "priorityclass/high"),
    run(
      "delete",
      "svc,deploy,job,cronjob,ingress,pdb,hpa,quota,role,rolebinding",
      "--all",
      ...inShop,
    ),
  ],
};

const bodyInMessage = {
  part: "code",
  because: "the message quotes the stored object with its managedFields, which we do not keep",
} as const;

const customResources: Scenario = {
  name: "a custom resource",
  steps: [
    apply(widgetDefinition),
    run("wait", "crd/widgets.test.lifeboat.dev", "--for=condition=Established", "--timeout=10s"),
    run(
      "get",
      "crd",
      "widgets.test.lifeboat.dev",
      "-o",
      "jsonpath={.status.acceptedNames} {.status.storedVersions}",
    ),
    apply(widget({ color: "red", parts: ["a"] })),
    apply(widget({ color: "red", parts: ["a"] })),
    apply(widget({ color: "green" })),
    run("get", "wd", ...inShop),
    run("get", "widgets", ...inShop, "-o", "wide"),
    run("get", "widget", "one", ...inShop, "-o", "yaml"),
    run("get", "wd", ...inShop, "-o", "json"),
    run("describe", "widget", "one", ...inShop),
    apply(widget({ color: "blue" })),
    apply(widget({ color: "red", replicas: -1, parts: ["a", "a"] })),
    { ...apply(widget({ color: "red", surplus: 1 })), only: bodyInMessage },
    apply(widget({})),
    run("scale", "widget", "one", ...inShop, "--replicas=4"),
    run("get", "widget", "one", ...inShop, "-o", "jsonpath={.spec} {.metadata.generation}"),
    run("patch", "widget", "one", ...inShop, "--type=merge", "-p", '{"spec":{"replicas":7}}'),
    run(
      "patch",
      "widget",
      "one",
      ...inShop,
      "--type=json",
      "-p",
      '[{"op":"replace","path":"/spec/replicas","value":8}]',
    ),
    run("patch", "widget", "one", ...inShop, "--type=strategic", "-p", '{"spec":{"replicas":9}}'),
    run(
      "patch",
      "widget",
      "one",
      ...inShop,
      "--subresource=status",
      "--type=merge",
      "-p",
      '{"status":{"replicas":8},"spec":{"color":"green"}}',
    ),
    run("get", "widget", "one", ...inShop, "-o", "jsonpath={.status} {.spec.color}"),
    run("label", "widget", "one", ...inShop, "a=b"),
    {
      args: ["edit", "widget", "one", ...inShop],
      environment: sedEditor("s/replicas:.8/replicas:\\ 3/"),
    },
    run("get", "widget", "one", ...inShop, "-o", "jsonpath={.spec}"),
    { args: ["replace", "-f", "-"], input: widget({ color: "green" }) },
    run("explain", "widget.spec"),
    run("explain", "widget.spec.color"),
    run("api-resources", "--api-group=test.lifeboat.dev"),
    run("delete", "widget", "one", ...inShop),
    run("get", "wd", ...inShop),
    apply(widget({ color: "red" })),
    run("delete", "crd", "widgets.test.lifeboat.dev"),
    run("wait", "crd/widgets.test.lifeboat.dev", "--for=delete", "--timeout=20s"),
    {
      args: ["get", "wd", ...inShop],
      only: { part: "code", because: "kubectl prints its own cache's state" },
    },
  ],
};

const ownDescriptions = "our descriptions of built-in kinds are empty: no texts are taken over";

const discovery: Scenario = {
  name: "discovery, explain and dry runs",
  steps: [
    run("api-resources", "--api-group=apps", "-o", "wide"),
    run("api-resources", "--api-group=batch"),
    run(
      "api-resources",
      "--namespaced=false",
      "--api-group=rbac.authorization.k8s.io",
      "-o",
      "name",
    ),
    {
      args: ["explain", "deployment.spec.replicas"],
      only: { part: "code", because: ownDescriptions },
    },
    { args: ["explain", "pods.spec.containers"], only: { part: "code", because: ownDescriptions } },
    {
      args: ["explain", "deployment.spec.nothing"],
      only: { part: "code", because: ownDescriptions },
    },
    { args: ["create", "-f", "-", "--dry-run=server", "-o", "yaml"], input: deployment("nginx:1") },
    { args: ["apply", "-f", "-", "--dry-run=server"], input: deployment("nginx:1") },
    run("get", "deploy", ...inShop),
    {
      args: ["create", "-f", "-"],
      input: "kind: ConfigMap\napiVersion: v1\nmetadata: {name: Bad_Name, namespace: shop}",
    },
    {
      args: ["create", "-f", "-"],
      input: "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x, namespace: nowhere}",
    },
    {
      args: ["create", "-f", "-"],
      input: "kind: ConfigMap\napiVersion: v1\nmetadata: {generateName: made-, namespace: shop}",
    },
    {
      args: ["create", "-f", "-"],
      input: "kind: Nonsense\napiVersion: v1\nmetadata: {name: x}",
      only: {
        part: "code",
        because: "for unknown kinds kubectl asks OpenAPI v2, which is not served",
      },
    },
    { args: ["create", "-f", "-"], input: "{{{" },
    run("get", "nonsense"),
    run("get", "--raw", "/api/v1/namespaces/shop/configmaps/none"),
    run("get", "--raw", "/readyz"),
    run("get", "--raw", "/nowhere"),
    run("auth", "can-i", "create", "deployments"),
    run("auth", "whoami", "-o", "jsonpath={.status.userInfo.groups}"),
  ],
};

const rights: Scenario = {
  name: "rights",
  steps: [
    run("create", "namespace", "ward"),
    run("create", "role", "reader", "-n", "ward", "--verb=get,list", "--resource=pods,pods/log"),
    run("create", "rolebinding", "reader", "-n", "ward", "--role=reader", "--user=tess"),
    run("auth", "can-i", "list", "pods", "-n", "ward", "--as=tess"),
    run("auth", "can-i", "get", "pods/log", "-n", "ward", "--as=tess"),
    run("auth", "can-i", "list", "pods", "--as=tess"),
    run("auth", "can-i", "delete", "pods", "-n", "ward", "--as=tess"),
    run("auth", "can-i", "get", "/apis", "--as=tess"),
    {
      ...run("auth", "can-i", "--list", "-n", "ward", "--as=tess"),
      only: { part: "words", because: "the order of rules is that of no list" },
    },
    run("get", "pods", "-n", "ward", "--as=tess"),
    run("get", "secrets", "-n", "ward", "--as=tess"),
    run("get", "pods", "-A", "--as=tess"),
    run("get", "namespace", "ward", "--as=tess"),
    run("delete", "namespace", "ward", "--as=tess"),
    run("get", "pods", "-n", "ward", "--as=system:anonymous"),
    run("get", "pods", "-n", "ward", "--as=tess", "--as-group=system:masters"),
    run(
      "create",
      "clusterrole",
      "role-writer",
      "--verb=create,update,patch,get",
      "--resource=roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io",
    ),
    run("create", "clusterrolebinding", "rob", "--clusterrole=role-writer", "--user=rob"),
    run("create", "role", "more", "-n", "ward", "--verb=get", "--resource=secrets", "--as=rob"),
    run("create", "rolebinding", "grab", "-n", "ward", "--role=reader", "--user=rob", "--as=rob"),
    run(
      "create",
      "rolebinding",
      "grab",
      "-n",
      "ward",
      "--clusterrole=cluster-admin",
      "--user=rob",
      "--as=rob",
    ),
    run("create", "rolebinding", "grab", "-n", "ward", "--role=nowhere", "--user=rob", "--as=rob"),
    run(
      "create",
      "rolebinding",
      "same",
      "-n",
      "ward",
      "--clusterrole=role-writer",
      "--user=al",
      "--as=rob",
    ),
    run("get", "pods", "--as=eve", "--as-group=devs"),
    run("get", "configmaps", "-n", "ward", "--as=rob"),
    run("patch", "clusterrolebinding", "rob", "-p", '{"roleRef":{"name":"view"}}'),
    run("describe", "role", "reader", "-n", "ward"),
    run("describe", "rolebinding", "reader", "-n", "ward"),
    run("get", "clusterrolebinding", "cluster-admin", "system:discovery", "-o", "wide"),
    run("describe", "clusterrole", "system:basic-user"),
    run("delete", "rolebinding", "reader", "-n", "ward"),
    run("auth", "can-i", "list", "pods", "-n", "ward", "--as=tess"),
  ],
};

export const scenarios: readonly Scenario[] = [
  namespaces,
  configMaps,
  deployments,
  services,
  customResources,
  discovery,
  rights,
];

const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "TIME"],
  [/("?resourceVersion"?: )"\d+"/g, '$1"RV"'],
  [/Resource Version: +\d+/g, "Resource Version: RV"],
  [/\b\d+m?s\b/g, "AGE"],
  [/made-[a-z0-9]{5}/g, "made-SUFFIX"],
  [/\/tmp\/\S+/g, "FILE"],
  [/[ \t]+/g, " "],
];

/** Takes out what differs between two runs of the same server. */
export function normalize(text: string): string {
  return REPLACEMENTS.reduce((result, [pattern, by]) => result.replace(pattern, by), text);
}
