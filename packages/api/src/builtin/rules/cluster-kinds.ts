/** Validation of storage kinds, priority classes, webhooks, aggregated APIs and signing requests. */
import { duplicate, forbidden, invalid, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { parseQuantity } from "../../quantity/quantity.ts";
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
} from "../../metadata/names.ts";
import {
  count,
  isAbsent,
  isEmpty,
  items,
  part,
  partOf,
  type Problems,
  pushImmutable,
  pushInvalid,
  pushRequired,
  pushUnsupported,
  text,
  textMap,
  texts,
} from "./fields.ts";
import { checkLabelSelector } from "./label-selector.ts";
import { portNumberProblems } from "./field-texts.ts";

export function checkStorageClass(problems: Problems, object: JsonObject): void {
  const provisioner = text(object, "provisioner");
  if (provisioner === "") problems.push(required("provisioner"));
  else
    pushInvalid(problems, "provisioner", provisioner, labelKeyProblems(provisioner.toLowerCase()));
  checkParameters(problems, object);
  const reclaim = object["reclaimPolicy"];
  if (!isAbsent(reclaim)) {
    pushUnsupported(problems, "reclaimPolicy", reclaim, ["Delete", "Retain"]);
  }
  const binding = object["volumeBindingMode"];
  if (isAbsent(binding)) problems.push(required("volumeBindingMode"));
  else {
    pushUnsupported(problems, "volumeBindingMode", binding, ["Immediate", "WaitForFirstConsumer"]);
  }
}

function checkParameters(problems: Problems, object: JsonObject): void {
  const parameters = textMap(object, "parameters");
  if (Object.hasOwn(parameters, "")) {
    problems.push(invalid("parameters", "", "field can not be empty."));
  }
}

export function checkStorageClassUpdate(
  problems: Problems,
  object: JsonObject,
  old: JsonObject,
): void {
  for (const name of ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"]) {
    pushImmutable(problems, name, object[name], old[name]);
  }
}

export function checkCsiDriver(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  const policy = spec["fsGroupPolicy"];
  if (!isAbsent(policy)) {
    pushUnsupported(problems, "spec.fsGroupPolicy", policy, [
      "File",
      "None",
      "ReadWriteOnceWithFSType",
    ]);
  }
  const audiences = new Set<string>();
  for (const [index, token] of items(spec, "tokenRequests").entries()) {
    const at = `spec.tokenRequests[${index}]`;
    const audience = text(token, "audience");
    if (audiences.has(audience)) problems.push(duplicate(`${at}.audience`, audience));
    audiences.add(audience);
    const seconds = token["expirationSeconds"];
    if (typeof seconds === "number" && seconds < 600) {
      problems.push(
        invalid(
          `${at}.expirationSeconds`,
          seconds,
          "may not specify a duration less than 10 minutes",
        ),
      );
    }
  }
  for (const mode of texts(spec, "volumeLifecycleModes")) {
    pushUnsupported(problems, "spec.volumeLifecycleModes", mode, ["Persistent", "Ephemeral"]);
  }
}

export function checkCsiDriverUpdate(
  problems: Problems,
  object: JsonObject,
  old: JsonObject,
): void {
  const spec = partOf(object, "spec");
  const before = partOf(old, "spec");
  // The server spells the first one this way.
  pushImmutable(
    problems,
    "spec.attachedRequired",
    spec["attachRequired"],
    before["attachRequired"],
  );
  pushImmutable(
    problems,
    "spec.volumeLifecycleModes",
    spec["volumeLifecycleModes"],
    before["volumeLifecycleModes"],
  );
}

export function checkCsiNode(problems: Problems, object: JsonObject): void {
  const names = new Set<string>();
  for (const [index, driver] of items(partOf(object, "spec"), "drivers").entries()) {
    const at = `spec.drivers[${index}]`;
    const name = text(driver, "name");
    if (name === "") problems.push(required(`${at}.name`));
    else pushInvalid(problems, `${at}.name`, name, dnsSubdomainProblems(name.toLowerCase()));
    pushRequired(problems, `${at}.nodeID`, text(driver, "nodeID"));
    for (const key of texts(driver, "topologyKeys")) {
      pushInvalid(problems, at, key, labelKeyProblems(key));
    }
    if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
  }
}

export function checkCsiCapacity(problems: Problems, object: JsonObject): void {
  checkLabelSelector(problems, "nodeTopology", part(object, "nodeTopology"));
  const name = text(object, "storageClassName");
  pushInvalid(problems, "storageClassName", name, dnsSubdomainProblems(name));
  for (const field of ["capacity", "maximumVolumeSize"]) {
    const quantity = parseQuantity(text(object, field));
    if (quantity === undefined || quantity.nanos >= 0n) continue;
    problems.push(invalid(field, text(object, field), "must be greater than or equal to 0"));
  }
}

export function checkVolumeAttachment(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  const source = partOf(spec, "source");
  pushRequired(problems, "spec.attacher", text(spec, "attacher"));
  const named = !isAbsent(source["persistentVolumeName"]);
  const inline = !isAbsent(source["inlineVolumeSpec"]);
  if (named === inline) {
    problems.push(
      named
        ? forbidden(
            "spec.source",
            "must specify exactly one of inlineVolumeSpec and persistentVolumeName",
          )
        : required(
            "spec.source",
            "must specify exactly one of inlineVolumeSpec and persistentVolumeName",
          ),
    );
  }
  const node = text(spec, "nodeName");
  pushInvalid(problems, "spec.nodeName", node, dnsSubdomainProblems(node));
}

export function checkAttributesClass(problems: Problems, object: JsonObject): void {
  pushRequired(problems, "driverName", text(object, "driverName"));
  if (isEmpty(part(object, "parameters"))) {
    problems.push(required("parameters", "must contain at least one key/value pair"));
  }
}

const MAX_PRIORITY = 1_000_000_000;
const SYSTEM_PRIORITIES = ["system-cluster-critical", "system-node-critical"];

export function checkPriorityClass(problems: Problems, object: JsonObject): void {
  const name = text(partOf(object, "metadata"), "name");
  if (name.startsWith("system-")) {
    if (!SYSTEM_PRIORITIES.includes(name)) {
      problems.push(
        forbidden(
          "metadata.name",
          `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
        ),
      );
    }
  } else if (count(object, "value") > MAX_PRIORITY) {
    problems.push(
      forbidden("value", `maximum allowed value of a user defined priority is ${MAX_PRIORITY}`),
    );
  }
  const policy = object["preemptionPolicy"];
  if (!isAbsent(policy)) {
    pushUnsupported(problems, "preemptionPolicy", policy, ["PreemptLowerPriority", "Never"]);
  }
}

export function checkPriorityClassUpdate(
  problems: Problems,
  object: JsonObject,
  old: JsonObject,
): void {
  if (count(object, "value") !== count(old, "value")) {
    problems.push(forbidden("value", "may not be changed in an update."));
  }
  pushImmutable(problems, "preemptionPolicy", object["preemptionPolicy"], old["preemptionPolicy"]);
}

export function checkValidatingWebhooks(problems: Problems, object: JsonObject): void {
  checkWebhooks(problems, object);
}

export function checkMutatingWebhooks(problems: Problems, object: JsonObject): void {
  checkWebhooks(problems, object);
}

function checkWebhooks(problems: Problems, object: JsonObject): void {
  const names = new Set<string>();
  for (const [index, webhook] of items(object, "webhooks").entries()) {
    const at = `webhooks[${index}]`;
    const name = text(webhook, "name");
    checkWebhook(problems, at, webhook);
    if (name !== "" && names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
  }
}

const REVIEW_VERSIONS = ["v1", "v1beta1"];

function checkWebhook(problems: Problems, field: string, webhook: JsonObject): void {
  checkQualifiedDomain(problems, `${field}.name`, text(webhook, "name"));
  for (const [index, rule] of items(webhook, "rules").entries()) {
    checkRule(problems, `${field}.rules[${index}]`, rule);
  }
  checkChoice(problems, `${field}.failurePolicy`, webhook["failurePolicy"], ["Fail", "Ignore"]);
  checkChoice(problems, `${field}.matchPolicy`, webhook["matchPolicy"], ["Equivalent", "Exact"]);
  const effects = webhook["sideEffects"];
  if (isAbsent(effects)) {
    problems.push(required(`${field}.sideEffects`, "must specify one of None, NoneOnDryRun"));
  }
  const timeout = webhook["timeoutSeconds"];
  if (typeof timeout === "number" && (timeout < 1 || timeout > 30)) {
    problems.push(
      invalid(
        `${field}.timeoutSeconds`,
        timeout,
        "the timeout value must be between 1 and 30 seconds",
      ),
    );
  }
  checkChoice(problems, `${field}.sideEffects`, effects, ["None", "NoneOnDryRun"]);
  checkLabelSelector(problems, `${field}.namespaceSelector`, part(webhook, "namespaceSelector"));
  checkLabelSelector(problems, `${field}.objectSelector`, part(webhook, "objectSelector"));
  checkClient(problems, `${field}.clientConfig`, partOf(webhook, "clientConfig"));
  checkReviewVersions(problems, `${field}.admissionReviewVersions`, webhook);
  checkChoice(problems, `${field}.reinvocationPolicy`, webhook["reinvocationPolicy"], [
    "IfNeeded",
    "Never",
  ]);
}

function checkChoice(
  problems: Problems,
  field: string,
  value: unknown,
  supported: readonly string[],
): void {
  if (!isAbsent(value)) pushUnsupported(problems, field, value, supported);
}

function checkQualifiedDomain(problems: Problems, field: string, name: string): void {
  if (name === "") {
    problems.push(required(field));
    return;
  }
  const wrong = dnsSubdomainProblems(name);
  pushInvalid(problems, field, name, wrong);
  if (wrong.length === 0 && name.split(".").length < 3) {
    problems.push(
      invalid(field, name, "should be a domain with at least three segments separated by dots"),
    );
  }
}

function checkReviewVersions(problems: Problems, field: string, webhook: JsonObject): void {
  const versions = texts(webhook, "admissionReviewVersions");
  if (versions.length === 0) {
    problems.push(required(field, `must specify one of ${REVIEW_VERSIONS.join(", ")}`));
    return;
  }
  for (const [index, version] of versions.entries()) {
    if (versions.indexOf(version) < index) {
      problems.push(invalid(`${field}[${index}]`, version, "duplicate version"));
    } else {
      pushInvalid(problems, `${field}[${index}]`, version, dns1035LabelProblems(version));
    }
  }
  if (versions.some((version) => REVIEW_VERSIONS.includes(version))) return;
  problems.push(
    invalid(field, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`),
  );
}

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

function checkRule(problems: Problems, field: string, rule: JsonObject): void {
  const operations = texts(rule, "operations");
  if (operations.length === 0) problems.push(required(`${field}.operations`));
  checkWildcard(problems, `${field}.operations`, operations, "operations");
  for (const [index, operation] of operations.entries()) {
    pushUnsupported(problems, `${field}.operations[${index}]`, operation, OPERATIONS);
  }
  const groups = texts(rule, "apiGroups");
  if (groups.length === 0) problems.push(required(`${field}.apiGroups`));
  checkWildcard(problems, `${field}.apiGroups`, groups, "API groups");
  const versions = texts(rule, "apiVersions");
  if (versions.length === 0) problems.push(required(`${field}.apiVersions`));
  checkWildcard(problems, `${field}.apiVersions`, versions, "API versions");
  for (const [index, version] of versions.entries()) {
    pushRequired(problems, `${field}.apiVersions[${index}]`, version);
  }
  const resources = texts(rule, "resources");
  if (resources.length === 0) problems.push(required(`${field}.resources`));
  for (const [index, resource] of resources.entries()) {
    pushRequired(problems, `${field}.resources[${index}]`, resource);
  }
  const plain = resources.filter((resource) => !resource.includes("/"));
  if (plain.length > 1 && plain.includes("*")) {
    problems.push(
      invalid(
        `${field}.resources`,
        resources,
        "if '*' is present, must not specify other resources without subresources",
      ),
    );
  }
  checkChoice(problems, `${field}.scope`, rule["scope"], ["*", "Cluster", "Namespaced"]);
}

function checkWildcard(
  problems: Problems,
  field: string,
  values: readonly string[],
  named: string,
): void {
  if (values.length < 2 || !values.includes("*")) return;
  problems.push(invalid(field, values, `if '*' is present, must not specify other ${named}`));
}

function checkClient(problems: Problems, field: string, client: JsonObject): void {
  const url = client["url"];
  const service = part(client, "service");
  if (isAbsent(url) === (service === undefined)) {
    problems.push(required(field, "exactly one of url or service is required"));
    return;
  }
  if (typeof url === "string") checkUrl(problems, `${field}.url`, url);
  if (service === undefined) return;
  const at = `${field}.service`;
  pushRequired(problems, `${at}.name`, text(service, "name"));
  pushRequired(problems, `${at}.namespace`, text(service, "namespace"));
  checkServicePort(problems, `${at}.port`, service["port"]);
  const path = service["path"];
  if (typeof path === "string" && path !== "" && path !== "/") {
    checkServicePath(problems, `${at}.path`, path);
  }
}

function checkServicePort(problems: Problems, field: string, port: unknown): void {
  if (typeof port !== "number" || portNumberProblems(port).length === 0) return;
  problems.push(invalid(field, port, `port is not valid: ${portNumberProblems(port)[0]}`));
}

function checkServicePath(problems: Problems, field: string, path: string): void {
  if (!path.startsWith("/")) problems.push(invalid(field, path, "must start with a '/'"));
  const steps = (path.endsWith("/") ? path.slice(0, -1) : path).slice(1).split("/");
  for (const [index, step] of steps.entries()) {
    if (step === "") {
      problems.push(invalid(field, path, `segment[${index}] may not be empty`));
    } else {
      pushInvalid(problems, field, path, dnsSubdomainProblems(step));
    }
  }
}

const URL_FORMAT = "; desired format: https://host[/path]";
const URL_PARTS = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/;

function checkUrl(problems: Problems, field: string, url: string): void {
  const parts = URL_PARTS.exec(url);
  if (parts === null) {
    problems.push(required(field, `url must be a valid URL${URL_FORMAT}`));
    return;
  }
  const [, scheme = "", host = "", , query, fragment] = parts;
  if (scheme !== "https") {
    problems.push(invalid(field, scheme, `'https' is the only allowed URL scheme${URL_FORMAT}`));
  }
  if (host === "") problems.push(invalid(field, host, `host must be specified${URL_FORMAT}`));
  if (host.includes("@")) {
    problems.push(
      invalid(
        field,
        host.slice(0, host.indexOf("@")),
        "user information is not permitted in the URL",
      ),
    );
  }
  if (fragment !== undefined) {
    problems.push(invalid(field, fragment.slice(1), "fragments are not permitted in the URL"));
  }
  if (query !== undefined) {
    problems.push(invalid(field, query.slice(1), "query parameters are not permitted in the URL"));
  }
}

export function checkPolicyBinding(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  pushRequired(problems, "spec.policyName", text(spec, "policyName"));
  if (texts(spec, "validationActions").length === 0) {
    problems.push(required("spec.validationActions", "at least one validation action is required"));
  }
}

export function checkApiService(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  const name = text(partOf(object, "metadata"), "name");
  const group = text(spec, "group");
  const version = text(spec, "version");
  const wanted = `${version}.${group}`;
  if (name !== wanted) {
    problems.push(
      invalid("metadata.name", name, `must be \`spec.version+"."+spec.group\`: "${wanted}"`),
    );
  }
  if (group === "") {
    if (version !== "v1") {
      problems.push(
        required("spec.group", "only v1 may have an empty group and it better be legacy kube"),
      );
    }
  } else {
    pushInvalid(problems, "spec.group", group, dnsSubdomainProblems(group));
  }
  pushInvalid(problems, "spec.version", version, dns1035LabelProblems(version));
  checkPriority(problems, "spec.groupPriorityMinimum", count(spec, "groupPriorityMinimum"), 20_000);
  checkPriority(problems, "spec.versionPriority", count(spec, "versionPriority"), 1000);
  const service = part(spec, "service");
  if (service === undefined) {
    if (!isAbsent(spec["caBundle"])) {
      problems.push(
        invalid(
          "spec.caBundle",
          `${text(spec, "caBundle").length} bytes`,
          "local APIServices may not have a caBundle",
        ),
      );
    }
    return;
  }
  pushRequired(problems, "spec.service.namespace", text(service, "namespace"));
  pushRequired(problems, "spec.service.name", text(service, "name"));
  checkServicePort(problems, "spec.service.port", service["port"]);
  if (spec["insecureSkipTLSVerify"] === true && text(spec, "caBundle") !== "") {
    problems.push(
      invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present"),
    );
  }
}

function checkPriority(problems: Problems, field: string, value: number, below: number): void {
  if (value > 0 && value <= below) return;
  problems.push(invalid(field, value, `must be positive and less than ${below}`));
}

export function checkSigningRequest(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  const request = text(spec, "request");
  if (!isPemRequest(request)) {
    problems.push(
      invalid(
        "spec.request",
        request === "" ? null : request,
        "PEM block type must be CERTIFICATE REQUEST",
      ),
    );
  }
  checkUsages(problems, texts(spec, "usages"));
  checkSignerName(problems, text(spec, "signerName"));
  const seconds = spec["expirationSeconds"];
  if (typeof seconds === "number" && seconds < MIN_EXPIRATION_SECONDS) {
    problems.push(
      invalid(
        "spec.expirationSeconds",
        seconds,
        `may not specify a duration less than ${MIN_EXPIRATION_SECONDS} seconds (10 minutes)`,
      ),
    );
  }
}

const MIN_EXPIRATION_SECONDS = 600;
const USAGES: readonly string[] = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

function checkUsages(problems: Problems, usages: readonly string[]): void {
  if (usages.length === 0) problems.push(required("spec.usages"));
  usages.forEach((usage, i) => {
    const field = `spec.usages[${i}]`;
    if (!USAGES.includes(usage)) pushUnsupported(problems, field, usage, USAGES);
    if (usages.indexOf(usage) < i) problems.push(duplicate(field, usage));
  });
}

const MAX_SIGNER_NAME = 571;
const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";

function checkSignerName(problems: Problems, name: string): void {
  const field = "spec.signerName";
  if (name === "") {
    problems.push(required(field));
    return;
  }
  if (name === LEGACY_SIGNER) {
    problems.push(
      invalid(field, name, "the legacy signerName is not allowed via this API version"),
    );
    return;
  }
  const [domain = "", path = "", ...more] = name.split("/");
  if (more.length > 0 || path === "") {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    problems.push(invalid(field, name, form));
    return;
  }
  pushInvalid(problems, field, domain, dnsSubdomainProblems(domain));
  pushInvalid(problems, field, path, path.split(".").flatMap(dnsSubdomainProblems));
  if (!domain.includes("."))
    problems.push(
      invalid(field, domain, "should be a domain with at least two segments separated by dots"),
    );
  if (name.length > MAX_SIGNER_NAME)
    problems.push(invalid(field, name, `may not be more than ${MAX_SIGNER_NAME} bytes`));
}

/** Base64 of `-----BEGIN CERTIFICATE REQUEST-----`, as far as whole characters go. */
function isPemRequest(encoded: string): boolean {
  try {
    return atob(encoded).trimStart().startsWith("-----BEGIN CERTIFICATE REQUEST-----");
  } catch {
    return false;
  }
}
