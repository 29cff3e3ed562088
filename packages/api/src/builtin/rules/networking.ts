/** Validation of Ingresses, IngressClasses, NetworkPolicies and EndpointSlices. */
import { duplicate, forbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  pathSegmentProblems,
  wildcardSubdomainProblems,
} from "../../metadata/names.ts";
import {
  count,
  isAbsent,
  items,
  part,
  partOf,
  type Problems,
  pushImmutable,
  pushInvalid,
  pushRequiredName,
  pushUnsupported,
  text,
  texts,
} from "./fields.ts";
import {
  CIDR_TEXT,
  IP_TEXT,
  isStrictSubset,
  parseCidr,
  parseIp,
  specialAddressProblems,
} from "./ip.ts";
import { checkLabelSelector } from "./label-selector.ts";
import { domainPrefixedPathProblems, portNumberProblems } from "./field-texts.ts";
import { checkPort } from "./pod-containers.ts";

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
const BAD_PATHS = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDS = ["/..", "/."];

export function checkIngress(problems: Problems, ingress: JsonObject): void {
  const spec = partOf(ingress, "spec");
  const rules = items(spec, "rules");
  const backend = part(spec, "defaultBackend");
  if (rules.length === 0 && backend === undefined) {
    problems.push(invalid("spec", null, "either `defaultBackend` or `rules` must be specified"));
  }
  if (backend !== undefined) checkBackend(problems, "spec.defaultBackend", backend);
  for (const [index, rule] of rules.entries()) {
    checkRule(problems, `spec.rules[${index}]`, rule);
  }
  for (const [index, tls] of items(spec, "tls").entries()) {
    for (const [at, host] of texts(tls, "hosts").entries()) {
      pushInvalid(problems, `spec.tls[${index}].hosts[${at}]`, host, hostProblems(host));
    }
    const secret = text(tls, "secretName");
    if (secret !== "") {
      pushInvalid(problems, `spec.tls[${index}].secretName`, secret, dnsSubdomainProblems(secret));
    }
  }
  const className = spec["ingressClassName"];
  if (typeof className === "string") {
    pushInvalid(problems, "spec.ingressClassName", className, dnsSubdomainProblems(className));
  }
}

function hostProblems(host: string): readonly string[] {
  return host.includes("*") ? wildcardSubdomainProblems(host) : dnsSubdomainProblems(host);
}

function checkRule(problems: Problems, field: string, rule: JsonObject): void {
  const host = text(rule, "host");
  if (host !== "") {
    if (parseIp(host) !== undefined) {
      problems.push(invalid(`${field}.host`, host, "must be a DNS name, not an IP address"));
    }
    pushInvalid(problems, `${field}.host`, host, hostProblems(host));
  }
  const http = part(rule, "http");
  if (http === undefined) return;
  const paths = items(http, "paths");
  if (paths.length === 0) problems.push(required(`${field}.http.paths`));
  for (const [index, path] of paths.entries()) {
    checkPath(problems, `${field}.http.paths[${index}]`, path);
  }
}

function checkPath(problems: Problems, field: string, path: JsonObject): void {
  const type = path["pathType"];
  const value = text(path, "path");
  if (isAbsent(type)) {
    problems.push(required(`${field}.pathType`, "pathType must be specified"));
  } else if (type === "Exact" || type === "Prefix") {
    if (!value.startsWith("/")) {
      problems.push(invalid(`${field}.path`, value, "must be an absolute path"));
    }
    for (const bad of BAD_PATHS) {
      if (!value.includes(bad)) continue;
      problems.push(invalid(`${field}.path`, value, `must not contain '${bad}'`));
    }
    for (const bad of BAD_ENDS) {
      if (!value.endsWith(bad)) continue;
      problems.push(invalid(`${field}.path`, value, `cannot end with '${bad}'`));
    }
  } else if (type === "ImplementationSpecific") {
    if (value !== "" && !value.startsWith("/")) {
      problems.push(invalid(`${field}.path`, value, "must be an absolute path"));
    }
  } else {
    problems.push(notSupported(`${field}.pathType`, type, PATH_TYPES));
  }
  checkBackend(problems, `${field}.backend`, partOf(path, "backend"));
}

function checkBackend(problems: Problems, field: string, backend: JsonObject): void {
  const resource = part(backend, "resource");
  const service = part(backend, "service");
  if (resource !== undefined && service !== undefined) {
    problems.push(invalid(field, "", "cannot set both resource and service backends"));
  } else if (resource !== undefined) {
    pushRequiredName(
      problems,
      `${field}.resource.kind`,
      text(resource, "kind"),
      pathSegmentProblems,
    );
    pushRequiredName(
      problems,
      `${field}.resource.name`,
      text(resource, "name"),
      pathSegmentProblems,
    );
  } else if (service === undefined) {
    problems.push(invalid(field, "", "resource or service backend is required"));
  } else {
    checkServiceBackend(problems, field, service);
  }
}

function checkServiceBackend(problems: Problems, field: string, service: JsonObject): void {
  pushRequiredName(problems, `${field}.service.name`, text(service, "name"), dnsLabelProblems);
  const port = partOf(service, "port");
  const name = text(port, "name");
  const number = count(port, "number");
  if (name !== "" && number !== 0) {
    problems.push(invalid(field, "", "cannot set both port name & port number"));
  } else if (name !== "") {
    checkPort(problems, `${field}.service.port.name`, name);
  } else if (number === 0) {
    problems.push(required(field, "port name or number is required"));
  } else {
    pushInvalid(problems, `${field}.service.port.number`, number, portNumberProblems(number));
  }
}

export function checkIngressClass(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  const controller = text(spec, "controller");
  if (controller.length > 250) {
    problems.push(invalid("spec.controller", controller, "must be no more than 250 characters"));
  }
  pushRequiredName(problems, "spec.controller", controller, domainPrefixedPathProblems);
  const parameters = part(spec, "parameters");
  if (parameters === undefined) return;
  const field = "spec.parameters";
  pushRequiredName(problems, `${field}.kind`, text(parameters, "kind"), pathSegmentProblems);
  pushRequiredName(problems, `${field}.name`, text(parameters, "name"), pathSegmentProblems);
  const scope = text(parameters, "scope");
  const namespace = parameters["namespace"];
  if (scope !== "Cluster" && scope !== "Namespace") {
    problems.push(notSupported(`${field}.scope`, scope, ["Cluster", "Namespace"]));
  } else if (scope === "Cluster" && !isAbsent(namespace)) {
    problems.push(forbidden(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  } else if (scope === "Namespace" && isAbsent(namespace)) {
    problems.push(required(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'"));
  }
}

export function checkIngressClassUpdate(
  problems: Problems,
  object: JsonObject,
  old: JsonObject,
): void {
  pushImmutable(
    problems,
    "spec.controller",
    partOf(object, "spec")["controller"],
    partOf(old, "spec")["controller"],
  );
}

export function checkNetworkPolicy(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  checkLabelSelector(problems, "spec.podSelector", part(spec, "podSelector"));
  for (const [direction, peers] of [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const) {
    for (const [index, rule] of items(spec, direction).entries()) {
      checkPolicyRule(problems, `spec.${direction}[${index}]`, rule, peers);
    }
  }
  const types = texts(spec, "policyTypes");
  if (types.length > 2) {
    problems.push(invalid("spec.policyTypes", types, "may not specify more than two policyTypes"));
    return;
  }
  for (const [index, type] of types.entries()) {
    if (type === "Ingress" || type === "Egress") continue;
    problems.push(notSupported(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"]));
  }
}

function checkPolicyRule(problems: Problems, field: string, rule: JsonObject, peers: string): void {
  for (const [index, port] of items(rule, "ports").entries()) {
    checkPolicyPort(problems, `${field}.ports[${index}]`, port);
  }
  for (const [index, peer] of items(rule, peers).entries()) {
    checkPeer(problems, `${field}.${peers}[${index}]`, peer);
  }
}

function checkPolicyPort(problems: Problems, field: string, port: JsonObject): void {
  const protocol = port["protocol"];
  if (!isAbsent(protocol)) {
    pushUnsupported(problems, `${field}.protocol`, protocol, ["TCP", "UDP", "SCTP"]);
  }
  const start = port["port"];
  const end = port["endPort"];
  if (isAbsent(start)) {
    if (!isAbsent(end)) {
      problems.push(
        invalid(`${field}.endPort`, end, "may not be specified when `port` is not specified"),
      );
    }
    return;
  }
  checkPort(problems, `${field}.port`, start);
  if (typeof end !== "number") return;
  if (typeof start === "string") {
    problems.push(
      invalid(`${field}.endPort`, end, "may not be specified when `port` is non-numeric"),
    );
  } else if (end < (start as number)) {
    problems.push(invalid(`${field}.endPort`, start, "must be greater than or equal to `port`"));
  }
}

function checkPeer(problems: Problems, field: string, peer: JsonObject): void {
  const block = part(peer, "ipBlock");
  const pods = part(peer, "podSelector");
  const namespaces = part(peer, "namespaceSelector");
  checkLabelSelector(problems, `${field}.podSelector`, pods);
  checkLabelSelector(problems, `${field}.namespaceSelector`, namespaces);
  if (block !== undefined) checkBlock(problems, `${field}.ipBlock`, block);
  const selected = pods !== undefined || namespaces !== undefined;
  if (block === undefined && !selected) problems.push(required(field, "must specify a peer"));
  if (block !== undefined && selected) {
    problems.push(forbidden(field, "may not specify both ipBlock and another peer"));
  }
}

function checkBlock(problems: Problems, field: string, block: JsonObject): void {
  const cidr = text(block, "cidr");
  if (cidr === "") {
    problems.push(required(`${field}.cidr`));
    return;
  }
  const network = parseCidr(cidr);
  if (network === undefined) problems.push(invalid(`${field}.cidr`, cidr, CIDR_TEXT));
  for (const [index, except] of texts(block, "except").entries()) {
    const inner = parseCidr(except);
    if (inner === undefined) {
      problems.push(invalid(`${field}.except[${index}]`, except, CIDR_TEXT));
    } else if (network !== undefined && !isStrictSubset(inner, network)) {
      problems.push(
        invalid(`${field}.except[${index}]`, except, "must be a strict subset of `cidr`"),
      );
    }
  }
}

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];

export function checkEndpointSlice(problems: Problems, object: JsonObject): void {
  const type = text(object, "addressType");
  if (type === "") problems.push(required("addressType"));
  else pushUnsupported(problems, "addressType", type, ADDRESS_TYPES);
  for (const [index, endpoint] of items(object, "endpoints").entries()) {
    checkEndpoint(problems, `endpoints[${index}]`, endpoint, type);
  }
  const names = new Set<string>();
  for (const [index, port] of items(object, "ports").entries()) {
    const at = `ports[${index}]`;
    const name = text(port, "name");
    if (name !== "") pushInvalid(problems, `${at}.name`, name, dnsLabelProblems(name));
    if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
    pushUnsupported(problems, `${at}.protocol`, port["protocol"], ["SCTP", "TCP", "UDP"]);
  }
}

function checkEndpoint(
  problems: Problems,
  field: string,
  endpoint: JsonObject,
  type: string,
): void {
  const addresses = texts(endpoint, "addresses");
  if (addresses.length === 0) {
    problems.push(required(`${field}.addresses`, "must contain at least 1 address"));
  }
  for (const [index, address] of addresses.entries()) {
    const at = `${field}.addresses[${index}]`;
    if (type === "FQDN") {
      pushInvalid(problems, at, address, dnsSubdomainProblems(address));
      continue;
    }
    if (type !== "IPv4" && type !== "IPv6") continue;
    const parsed = parseIp(address);
    if (parsed === undefined) {
      problems.push(invalid(at, address, IP_TEXT));
    } else if ((parsed.family === 4) !== (type === "IPv4")) {
      problems.push(invalid(`${field}.addresses`, address, `must be an ${type} address`));
    } else {
      pushInvalid(problems, at, address, specialAddressProblems(parsed));
    }
  }
  const hostname = endpoint["hostname"];
  if (typeof hostname === "string") {
    pushInvalid(problems, `${field}.hostname`, hostname, dnsLabelProblems(hostname));
  }
}

export function checkEndpointSliceUpdate(
  problems: Problems,
  object: JsonObject,
  old: JsonObject,
): void {
  pushImmutable(problems, "addressType", object["addressType"], old["addressType"]);
}
