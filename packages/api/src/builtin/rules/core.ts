/** Validation of the smaller kinds of the core group. */
import { equalJson } from "../../equal-json.ts";
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { compareQuantities, parseQuantity } from "../../quantity/quantity.ts";
import { dnsLabelProblems, labelKeyProblems, labelValueProblems } from "../../metadata/names.ts";
import {
  checkAccessModes,
  checkClaimSpec,
  checkClassName,
  checkVolumeMode,
  pushPositive,
} from "./claim-spec.ts";
import {
  count,
  isAbsent,
  items,
  part,
  partOf,
  type Problems,
  pushImmutable,
  pushInvalid,
  pushRequired,
  pushUnsupported,
  sameOrEmpty,
  text,
  textMap,
  texts,
} from "./fields.ts";
import { CIDR_TEXT, IP_TEXT, parseCidr, parseIp, specialAddressProblems } from "./ip.ts";
import { configKeyProblems, portNumberProblems } from "./field-texts.ts";
import { checkNodeSelector, checkTaintEffect } from "./pod-scheduling.ts";
import { checkHostPath, checkNfs } from "./pod-volumes.ts";
import {
  checkAmount,
  checkQuotaResource,
  checkResourceName,
  quantityIn,
} from "./resource-lists.ts";

const MAX_DATA = 1_048_576;
const IMMUTABLE_TEXT = "field is immutable when `immutable` is set";
const UTF8 = new TextEncoder();

/** Bytes that a string takes on the wire, without encoding plain text. */
function byteLength(value: string): number {
  // Three bytes per UTF-16 unit is the most there can be.
  return value.length * 3 <= MAX_DATA ? value.length : UTF8.encode(value).length;
}

function base64Length(value: string): number {
  const padding = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0;
  return (value.length / 4) * 3 - padding;
}

export function checkConfigMap(problems: Problems, object: JsonObject): void {
  const data = textMap(object, "data");
  const binary = textMap(object, "binaryData");
  let size = 0;
  for (const key of Object.keys(data).toSorted()) {
    pushInvalid(problems, `data[${key}]`, key, configKeyProblems(key));
    if (Object.hasOwn(binary, key)) {
      problems.push(invalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
    }
    size += byteLength(data[key] as string);
  }
  for (const key of Object.keys(binary).toSorted()) {
    pushInvalid(problems, `binaryData[${key}]`, key, configKeyProblems(key));
    size += base64Length(binary[key] as string);
  }
  if (size > MAX_DATA) problems.push(tooLong("", MAX_DATA));
}

export function checkConfigMapUpdate(
  problems: Problems,
  object: JsonObject,
  old: JsonObject,
): void {
  checkFrozen(problems, object, old, ["data", "binaryData"]);
}

function checkFrozen(
  problems: Problems,
  object: JsonObject,
  old: JsonObject,
  fields: readonly string[],
): void {
  if (old["immutable"] !== true) return;
  if (object["immutable"] !== true) problems.push(forbidden("immutable", IMMUTABLE_TEXT));
  for (const field of fields) {
    if (!sameOrEmpty(object[field], old[field])) problems.push(forbidden(field, IMMUTABLE_TEXT));
  }
}

const ACCOUNT_NAME = "kubernetes.io/service-account.name";

/** Which keys a type of Secret needs. */
const SECRET_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

export function checkSecret(problems: Problems, object: JsonObject): void {
  const data = textMap(object, "data");
  let size = 0;
  for (const key of Object.keys(data).toSorted()) {
    pushInvalid(problems, `data[${key}]`, key, configKeyProblems(key));
    size += base64Length(data[key] as string);
  }
  if (size > MAX_DATA) problems.push(tooLong("data", MAX_DATA));
  const type = text(object, "type");
  if (type === "kubernetes.io/service-account-token") {
    const annotations = textMap(partOf(object, "metadata"), "annotations");
    if ((annotations[ACCOUNT_NAME] ?? "") === "") {
      problems.push(required(`metadata.annotations[${ACCOUNT_NAME}]`));
    }
  }
  if (type === "kubernetes.io/basic-auth") {
    if (Object.hasOwn(data, "username") || Object.hasOwn(data, "password")) return;
    problems.push(required("data[username]"), required("data[password]"));
  }
  for (const key of (Object.hasOwn(SECRET_KEYS, type) ? SECRET_KEYS[type] : undefined) ?? []) {
    if (!Object.hasOwn(data, key)) problems.push(required(`data[${key}]`));
    else if (key.startsWith(".docker")) checkJsonText(problems, key, data[key] as string);
  }
}

function checkJsonText(problems: Problems, key: string, encoded: string): void {
  try {
    JSON.parse(atob(encoded));
  } catch {
    problems.push(
      invalid(`data[${key}]`, "<secret contents redacted>", "unexpected end of JSON input"),
    );
  }
}

export function checkSecretUpdate(problems: Problems, object: JsonObject, old: JsonObject): void {
  pushImmutable(problems, "type", object["type"], old["type"]);
  checkFrozen(problems, object, old, ["data"]);
}

export function checkClaim(problems: Problems, object: JsonObject): void {
  checkClaimSpec(problems, "spec", partOf(object, "spec"));
}

export function checkClaimUpdate(
  problems: Problems,
  object: JsonObject,
  oldObject: JsonObject,
): void {
  const spec = partOf(object, "spec");
  const old = partOf(oldObject, "spec");
  const bound = text(partOf(oldObject, "status"), "phase") === "Bound";
  const next: Record<string, JsonObject[string]> = { ...spec };
  // A claim may be given to a volume once.
  if (text(old, "volumeName") === "") next["volumeName"] = old["volumeName"];
  if (isAbsent(old["storageClassName"])) next["storageClassName"] = old["storageClassName"];
  next["volumeAttributesClassName"] = old["volumeAttributesClassName"];
  if (bound) next["resources"] = old["resources"];
  if (!equalJson(next, old)) {
    problems.push(
      forbidden(
        "spec",
        "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
      ),
    );
  }
  const wanted = quantityIn(part(part(spec, "resources"), "requests"), "storage");
  const before = quantityIn(part(part(old, "resources"), "requests"), "storage");
  if (wanted === undefined || before === undefined || compareQuantities(wanted, before) >= 0) {
    return;
  }
  const capacity = quantityIn(part(partOf(oldObject, "status"), "capacity"), "storage");
  if (capacity !== undefined && compareQuantities(wanted, capacity) > 0) return;
  problems.push(
    forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"),
  );
}

const VOLUME_FIELDS = new Set([
  "capacity",
  "accessModes",
  "claimRef",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "mountOptions",
  "volumeMode",
  "nodeAffinity",
  "volumeAttributesClassName",
]);

export function checkVolume(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  const modes = texts(spec, "accessModes");
  if (modes.length === 0) problems.push(required("spec.accessModes"));
  checkAccessModes(problems, "spec.accessModes", modes);
  checkCapacity(problems, part(spec, "capacity"));
  const policy = spec["persistentVolumeReclaimPolicy"];
  if (!isAbsent(policy)) {
    pushUnsupported(problems, "spec.persistentVolumeReclaimPolicy", policy, [
      "Delete",
      "Recycle",
      "Retain",
    ]);
  }
  const affinity = part(part(spec, "nodeAffinity"), "required");
  if (affinity !== undefined) checkNodeSelector(problems, "spec.nodeAffinity.required", affinity);
  checkVolumeSources(problems, spec);
  checkClassName(problems, "spec.storageClassName", text(spec, "storageClassName"));
  checkVolumeMode(problems, "spec.volumeMode", spec["volumeMode"]);
}

function checkCapacity(problems: Problems, capacity: JsonObject | undefined): void {
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) problems.push(required("spec.capacity"));
  if (names.length !== 1 || names[0] !== "storage") {
    problems.push(notSupported("spec.capacity", capacity ?? null, ["storage"]));
  }
  for (const name of names) {
    checkResourceName(problems, `spec.capacity[${name}]`, name);
    pushPositive(problems, `spec.capacity[${name}]`, text(capacity, name));
  }
}

function checkVolumeSources(problems: Problems, spec: JsonObject): void {
  let sources = 0;
  for (const name in spec) {
    const source = part(spec, name);
    if (VOLUME_FIELDS.has(name) || source === undefined) continue;
    sources += 1;
    const at = `spec.${name}`;
    if (sources > 1) problems.push(forbidden(at, "may not specify more than 1 volume type"));
    else if (name === "hostPath") checkHostPath(problems, at, source);
    else if (name === "nfs") checkNfs(problems, at, source);
    else if (name === "csi") {
      pushRequired(problems, `${at}.driver`, text(source, "driver"));
      pushRequired(problems, `${at}.volumeHandle`, text(source, "volumeHandle"));
    } else if (name === "local") {
      pushRequired(problems, `${at}.path`, text(source, "path"));
      if (part(part(spec, "nodeAffinity"), "required") === undefined) {
        problems.push(required("spec.nodeAffinity", "Local volume requires node affinity"));
      }
    }
  }
  if (sources === 0) problems.push(required("spec", "must specify a volume type"));
}

export function checkVolumeUpdate(
  problems: Problems,
  object: JsonObject,
  oldObject: JsonObject,
): void {
  const spec = partOf(object, "spec");
  const old = partOf(oldObject, "spec");
  const sourcesOf = (of: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(of).filter(([name]) => !VOLUME_FIELDS.has(name)));
  if (!equalJson(sourcesOf(spec), sourcesOf(old))) {
    problems.push(
      forbidden(
        "spec.persistentvolumesource",
        "spec.persistentvolumesource is immutable after creation",
      ),
    );
  }
  pushImmutable(problems, "volumeMode", spec["volumeMode"], old["volumeMode"]);
}

export function checkNode(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  checkTaints(problems, items(spec, "taints"));
  for (const [index, cidr] of texts(spec, "podCIDRs").entries()) {
    if (parseCidr(cidr) === undefined) {
      problems.push(invalid(`spec.podCIDRs[${index}]`, cidr, CIDR_TEXT));
    }
  }
}

function checkTaints(problems: Problems, taints: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    // The server calls it metadata.taints, from a time when taints were annotations.
    const at = `metadata.taints[${index}]`;
    const key = text(taint, "key");
    const value = text(taint, "value");
    const effect = text(taint, "effect");
    pushInvalid(problems, `${at}.key`, key, labelKeyProblems(key));
    pushInvalid(problems, `${at}.value`, value, labelValueProblems(value));
    checkTaintEffect(problems, `${at}.effect`, effect);
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) {
      const shown = {
        Key: key,
        Value: value,
        Effect: effect,
        TimeAdded: taint["timeAdded"] ?? null,
      };
      const error = duplicate(at, shown);
      problems.push({
        ...error,
        message: `${error.message}: taints must be unique by key and effect pair`,
      });
    }
    seen.add(pair);
  }
}

export function checkNodeUpdate(
  problems: Problems,
  object: JsonObject,
  oldObject: JsonObject,
): void {
  const before = text(partOf(oldObject, "spec"), "providerID");
  if (before === "" || before === text(partOf(object, "spec"), "providerID")) return;
  problems.push(
    forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'),
  );
}

export function checkEndpoints(problems: Problems, object: JsonObject): void {
  for (const [index, subset] of items(object, "subsets").entries()) {
    const at = `subsets[${index}]`;
    const ready = items(subset, "addresses");
    const unready = items(subset, "notReadyAddresses");
    if (ready.length === 0 && unready.length === 0) {
      problems.push(required(at, "must specify `addresses` or `notReadyAddresses`"));
    }
    checkAddresses(problems, `${at}.addresses`, ready);
    checkAddresses(problems, `${at}.notReadyAddresses`, unready);
    const ports = items(subset, "ports");
    for (const [portIndex, port] of ports.entries()) {
      checkEndpointPort(problems, `${at}.ports[${portIndex}]`, port, ports.length > 1);
    }
  }
}

function checkAddresses(problems: Problems, field: string, addresses: readonly JsonObject[]): void {
  for (const [index, address] of addresses.entries()) {
    const at = `${field}[${index}]`;
    const ip = text(address, "ip");
    const parsed = parseIp(ip);
    const hostname = text(address, "hostname");
    if (parsed === undefined) problems.push(invalid(`${at}.ip`, ip, IP_TEXT));
    if (hostname !== "")
      pushInvalid(problems, `${at}.hostname`, hostname, dnsLabelProblems(hostname));
    // The server asks twice whether it is an address.
    if (parsed === undefined) problems.push(invalid(`${at}.ip`, ip, "must be a valid IP address"));
    else pushInvalid(problems, `${at}.ip`, ip, specialAddressProblems(parsed));
  }
}

function checkEndpointPort(
  problems: Problems,
  field: string,
  port: JsonObject,
  named: boolean,
): void {
  const name = text(port, "name");
  if (name !== "") pushInvalid(problems, `${field}.name`, name, dnsLabelProblems(name));
  else if (named) problems.push(required(`${field}.name`));
  const number = count(port, "port");
  pushInvalid(problems, `${field}.port`, number, portNumberProblems(number));
  pushUnsupported(problems, `${field}.protocol`, text(port, "protocol"), ["SCTP", "TCP", "UDP"]);
}

export function checkLimitRange(problems: Problems, object: JsonObject): void {
  const types = new Set<string>();
  for (const [index, limit] of items(partOf(object, "spec"), "limits").entries()) {
    const at = `spec.limits[${index}]`;
    const type = text(limit, "type");
    pushInvalid(problems, `${at}.type`, type, labelKeyProblems(type));
    if (types.has(type)) problems.push(duplicate(`${at}.type`, type));
    types.add(type);
    checkLimit(problems, at, limit, type);
  }
}

function checkLimit(problems: Problems, field: string, limit: JsonObject, type: string): void {
  const names = new Set<string>();
  for (const list of ["max", "min"]) {
    for (const name in partOf(limit, list)) {
      checkResourceName(problems, `${field}.${list}[${name}]`, name);
      names.add(name);
    }
  }
  for (const list of ["default", "defaultRequest"]) {
    const values = part(limit, list);
    if (values === undefined) continue;
    if (type === "Pod") {
      problems.push(forbidden(`${field}.${list}`, "may not be specified when `type` is 'Pod'"));
      continue;
    }
    for (const name in values) {
      checkResourceName(problems, `${field}.${list}[${name}]`, name);
      names.add(name);
    }
  }
  if (type === "PersistentVolumeClaim") {
    const stated = text(part(limit, "min"), "storage") || text(part(limit, "max"), "storage");
    if (stated === "") {
      problems.push(
        required(
          `${field}.limits`,
          "either minimum or maximum storage value is required, but neither was provided",
        ),
      );
    }
  }
  for (const name in partOf(limit, "maxLimitRequestRatio")) names.add(name);
  for (const name of names) checkLimitOrder(problems, field, limit, name);
}

/** Pairs that must be in order: what is checked, against what, and how the two are called. */
const LIMIT_ORDERS = [
  ["min", "max", "min value", "max value"],
  ["defaultRequest", "max", "default request value", "max value"],
  ["defaultRequest", "default", "default request value", "default limit value"],
] as const;

function checkLimitOrder(problems: Problems, field: string, limit: JsonObject, name: string): void {
  const amount = (list: string): string => text(part(limit, list), name);
  const above = (a: string, b: string): boolean => {
    const left = parseQuantity(a);
    const right = parseQuantity(b);
    return left !== undefined && right !== undefined && compareQuantities(left, right) > 0;
  };
  if (text(limit, "type") !== "Pod") {
    for (const [low, high, lowName, highName] of LIMIT_ORDERS) {
      if (!above(amount(low), amount(high))) continue;
      problems.push(
        invalid(
          `${field}.${low}[${name}]`,
          amount(low),
          `${lowName} ${amount(low)} is greater than ${highName} ${amount(high)}`,
        ),
      );
    }
    if (above(amount("default"), amount("max"))) {
      problems.push(
        invalid(
          `${field}.default[${name}]`,
          amount("max"),
          `default value ${amount("default")} is greater than max value ${amount("max")}`,
        ),
      );
    }
  } else if (above(amount("min"), amount("max"))) {
    problems.push(
      invalid(
        `${field}.min[${name}]`,
        amount("min"),
        `min value ${amount("min")} is greater than max value ${amount("max")}`,
      ),
    );
  }
  const ratio = amount("maxLimitRequestRatio");
  if (above("1", ratio)) {
    problems.push(
      invalid(`${field}.maxLimitRequestRatio[${name}]`, ratio, `ratio ${ratio} is less than 1`),
    );
  }
}

const SCOPES = new Set([
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
]);

export function checkResourceQuota(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  const hard = textMap(spec, "hard");
  for (const name in hard) {
    const field = `spec.hard[${name}]`;
    checkQuotaResource(problems, field, name);
    checkAmount(problems, field, name, hard[name] as string);
  }
  const scopes = texts(spec, "scopes");
  if (scopes.some((scope) => !SCOPES.has(scope))) {
    problems.push(invalid("spec.scopes", scopes, "unsupported scope"));
  }
  const both = (a: string, b: string): boolean => scopes.includes(a) && scopes.includes(b);
  if (both("Terminating", "NotTerminating") || both("BestEffort", "NotBestEffort")) {
    problems.push(invalid("spec.scopes", scopes, "conflicting scopes"));
  }
  for (const requirement of items(part(spec, "scopeSelector"), "matchExpressions")) {
    checkScope(problems, "spec.scopeSelector.matchExpressions", requirement);
  }
}

function checkScope(problems: Problems, field: string, requirement: JsonObject): void {
  const scope = text(requirement, "scopeName");
  const operator = text(requirement, "operator");
  const values = texts(requirement, "values");
  if (!SCOPES.has(scope)) {
    problems.push(invalid(`${field}.scopeName`, scope, "unsupported scope"));
  }
  if (operator === "In" || operator === "NotIn") {
    if (values.length > 0) return;
    problems.push(
      required(
        `${field}.values`,
        "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ),
    );
  } else if (operator !== "Exists" && operator !== "DoesNotExist") {
    problems.push(invalid(`${field}.operator`, operator, "not a valid selector operator"));
  }
}

export function checkResourceQuotaUpdate(
  problems: Problems,
  object: JsonObject,
  oldObject: JsonObject,
): void {
  const scopes = texts(partOf(object, "spec"), "scopes").toSorted();
  const old = texts(partOf(oldObject, "spec"), "scopes").toSorted();
  if (equalJson(scopes, old)) return;
  problems.push(
    invalid("spec.scopes", texts(partOf(object, "spec"), "scopes"), "field is immutable"),
  );
}
