/** Tables of who may do what, and what is asked before it is done. */
import type { JsonObject } from "../../../json.ts";
import type { TablePrinter } from "../../../table.ts";
import { items, part, partOf, text } from "../fields.ts";
import { humanDuration } from "../human-duration.ts";
import { formatSelector } from "../label-selector.ts";
import {
  countPrinter,
  nameOf,
  objectAge,
  plainPrinter,
  printer,
  type Printers,
} from "../printer.ts";

const binding = printer(
  ["Name:name", "Role", "Age", "Users*", "Groups*", "ServiceAccounts*"],
  (object, now) => {
    const role = partOf(object, "roleRef");
    const subjects = items(object, "subjects");
    const named = (kind: string, show: (subject: JsonObject) => string): string =>
      subjects
        .filter((subject) => text(subject, "kind") === kind)
        .map(show)
        .join(", ");
    return [
      nameOf(object),
      `${text(role, "kind")}/${text(role, "name")}`,
      objectAge(object, now),
      named("User", (subject) => text(subject, "name")),
      named("Group", (subject) => text(subject, "name")),
      named("ServiceAccount", accountText),
    ];
  },
);

function accountText(subject: JsonObject): string {
  const namespace = text(subject, "namespace");
  return namespace === "" ? text(subject, "name") : `${namespace}/${text(subject, "name")}`;
}

const webhooks = countPrinter("Webhooks", (object) => items(object, "webhooks").length);

function policyPrinter(column: string, field: string): TablePrinter {
  return printer(["Name:name", `${column}:integer`, "ParamKind", "Age"], (object, now) => {
    const spec = partOf(object, "spec");
    const kind = part(spec, "paramKind");
    return [
      nameOf(object),
      items(spec, field).length,
      kind === undefined ? "<unset>" : `${text(kind, "apiVersion")}/${text(kind, "kind")}`,
      objectAge(object, now),
    ];
  });
}

const policyBinding = printer(["Name:name", "PolicyName", "ParamRef", "Age"], (object, now) => {
  const spec = partOf(object, "spec");
  return [
    nameOf(object),
    text(spec, "policyName"),
    parameterText(part(spec, "paramRef")),
    objectAge(object, now),
  ];
});

function parameterText(reference: JsonObject | undefined): string {
  if (reference === undefined) return "<unset>";
  const name = text(reference, "name");
  if (name !== "") return `${text(reference, "namespace") || "*"}/${name}`;
  const selector = part(reference, "selector");
  return selector === undefined ? "<unset>" : formatSelector(selector);
}

const signingRequest = printer(
  ["Name:name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"],
  (object, now) => {
    const spec = partOf(object, "spec");
    const seconds = spec["expirationSeconds"];
    return [
      nameOf(object),
      objectAge(object, now),
      text(spec, "signerName") || "<none>",
      text(spec, "username"),
      typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>",
      signingCondition(partOf(object, "status")),
    ];
  },
);

function signingCondition(status: JsonObject): string {
  const types = new Set(items(status, "conditions").map((condition) => text(condition, "type")));
  const words = [types.has("Denied") ? "Denied" : types.has("Approved") ? "Approved" : "Pending"];
  if (types.has("Failed")) words.push("Failed");
  if (text(status, "certificate") !== "") words.push("Issued");
  return words.join(",");
}

export const accessPrinters: Printers = {
  "v1/Secret": printer(["Name:name", "Type", "Data", "Age"], (object, now) => [
    nameOf(object),
    text(object, "type"),
    Object.keys(partOf(object, "data")).length,
    objectAge(object, now),
  ]),
  "v1/ServiceAccount": printer(["Name:name", "Age"], (object, now) => [
    nameOf(object),
    objectAge(object, now),
  ]),
  "rbac.authorization.k8s.io/v1/Role": plainPrinter,
  "rbac.authorization.k8s.io/v1/ClusterRole": plainPrinter,
  "rbac.authorization.k8s.io/v1/RoleBinding": binding,
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": binding,
  "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": webhooks,
  "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": webhooks,
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": policyPrinter(
    "Validations",
    "validations",
  ),
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": policyBinding,
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": policyPrinter(
    "Mutations",
    "mutations",
  ),
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding": policyBinding,
  "certificates.k8s.io/v1/CertificateSigningRequest": signingRequest,
};
