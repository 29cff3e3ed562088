/** MultiClusterIngress: an Ingress whose backends are in several clusters. Its spec is that of an Ingress, and so are its rules. */
import { checkIngress } from "../builtin/rules/networking.ts";
import { type FieldError, invalid } from "../field-error.ts";
import type { JsonObject } from "../json.ts";
import { ageColumn, declareKind, type DeclaredObject } from "./builder/kind-declaration.ts";
import { integer, list, object, optional, type Static, text } from "./builder/shape.ts";
import { conditions } from "./shared/conditions.ts";

const backend = object("Where requests go.", {
  service: optional(
    object("A Service in the namespace.", {
      name: text("Its name."),
      port: optional(
        object("Its port.", {
          name: optional(text("By name.")),
          number: optional(integer("By number.")),
        }),
      ),
    }),
  ),
  resource: optional(
    object("Another object in the namespace.", {
      apiGroup: optional(text("Its group.")),
      kind: text("Its kind."),
      name: text("Its name."),
    }),
  ),
});

const rule = object("What to do with requests for a host.", {
  host: optional(text("The host; absent: any.")),
  http: optional(
    object("By path.", {
      paths: list(
        "The paths.",
        object("One path.", {
          path: optional(text("The path.")),
          pathType: text("Exact, Prefix or ImplementationSpecific."),
          backend,
        }),
      ),
    }),
  ),
});

const loadBalancer = object("Where it can be reached.", {
  ingress: optional(
    list(
      "The addresses.",
      object("One address.", {
        ip: optional(text("By number.")),
        hostname: optional(text("By name.")),
        ports: optional(
          list(
            "Its ports.",
            object("One port.", {
              port: integer("Its number."),
              protocol: text("TCP, UDP or SCTP."),
              error: optional(text("What is wrong with it.")),
            }),
          ),
        ),
      }),
    ),
  ),
});

export const multiClusterIngressKind = declareKind({
  group: "networking.karmada.io",
  version: "v1alpha1",
  kind: "MultiClusterIngress",
  plural: "multiclusteringresses",
  namespaced: true,
  description: "An Ingress whose backends are in several clusters.",
  shortNames: ["mci"],
  categories: ["karmada-io"],
  columns: [
    { name: "CLASS", type: "string", jsonPath: ".spec.ingressClassName" },
    { name: "HOSTS", type: "string", jsonPath: ".spec.rules[*].host" },
    { name: "ADDRESS", type: "string", jsonPath: ".status.loadBalancer.ingress[*].ip" },
    { name: "BLOCKED", type: "string", jsonPath: ".status.trafficBlockClusters" },
    ageColumn,
  ],
  spec: object("As of an Ingress.", {
    ingressClassName: optional(text("The IngressClass that serves it.")),
    defaultBackend: optional(backend),
    tls: optional(
      list(
        "Certificates.",
        object("A certificate.", {
          hosts: optional(list("Its hosts.", text("A host."))),
          secretName: optional(text("The Secret that holds it.")),
        }),
      ),
    ),
    rules: optional(list("What goes where.", rule)),
  }),
  status: object("What became of it.", {
    loadBalancer: optional(loadBalancer),
    trafficBlockClusters: optional(
      list("Clusters that get no traffic.", text("A cluster's name.")),
    ),
    serviceLocations: optional(
      list(
        "Where the backends are.",
        object("One Service.", {
          name: text("Its name."),
          clusters: optional(list("The clusters that have it.", text("A cluster's name."))),
        }),
      ),
    ),
    conditions: optional(
      conditions(
        "AllBackendsBlocked is True while Remedies would block every cluster that has a confirmed backend: then none is blocked. " +
          "BackendsLocated is False while a backend is in no cluster.",
      ),
    ),
  }),
  rules: (ingress) => {
    const problems: FieldError[] = [];
    checkIngress(problems, ingress as unknown as JsonObject);
    return [...problems, ...pathProblems(ingress.spec.rules ?? [])];
  },
});

export type MultiClusterIngress = DeclaredObject<typeof multiClusterIngressKind>;
export const multiClusterIngresses = multiClusterIngressKind.resource;

/** Providers write paths into configurations of other programs: a line must not end there. */
function pathProblems(rules: readonly Static<typeof rule>[]): readonly FieldError[] {
  return rules.flatMap(({ http }, index) =>
    (http?.paths ?? []).flatMap(({ path = "" }, at) =>
      /[\p{Cc}\p{Zl}\p{Zp}]/u.test(path)
        ? [
            invalid(
              `spec.rules[${index}].http.paths[${at}].path`,
              path,
              "must not contain control characters",
            ),
          ]
        : [],
    ),
  );
}
