/** Validation of Services. The addresses themselves are given out by admission, not here. */
import { duplicate, forbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems } from "../../metadata/names.ts";
import {
  count,
  isAbsent,
  items,
  part,
  partOf,
  type Problems,
  pushInvalid,
  pushUnsupported,
  text,
  textMap,
  texts,
} from "./fields.ts";
import { CIDR_TEXT, IP_TEXT, parseCidr, parseIp, specialAddressProblems } from "./ip.ts";
import { checkLabels } from "./label-selector.ts";
import { portNameProblems, portNumberProblems } from "./field-texts.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const POLICIES = ["Cluster", "Local"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const FAMILY_POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];

export function checkService(problems: Problems, service: JsonObject): void {
  const spec = partOf(service, "spec");
  const type = text(spec, "type");
  const headless = text(spec, "clusterIP") === "None";
  const ports = items(spec, "ports");
  if (ports.length === 0 && !headless && type !== "ExternalName") {
    problems.push(required("spec.ports"));
  }
  checkTypeFields(problems, spec);
  checkPorts(problems, ports, headless);
  checkLabels(problems, "spec.selector", textMap(spec, "selector"));
  checkAffinity(problems, spec);
  checkClusterAddresses(problems, spec);
  checkExternalIps(problems, texts(spec, "externalIPs"));
  if (isAbsent(spec["type"]) || type === "") problems.push(required("spec.type"));
  else pushUnsupported(problems, "spec.type", type, TYPES);
  checkNodePorts(problems, ports, type);
  checkUniquePorts(problems, ports);
  checkSourceRanges(problems, spec);
  checkBalancerFields(problems, spec);
  checkTraffic(problems, spec);
}

function checkTypeFields(problems: Problems, spec: JsonObject): void {
  const type = text(spec, "type");
  if (type === "LoadBalancer" && text(spec, "clusterIP") === "None") {
    problems.push(
      invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for LoadBalancer services"),
    );
  }
  if (type === "NodePort" && text(spec, "clusterIP") === "None") {
    problems.push(
      invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for NodePort services"),
    );
  }
  if (type !== "ExternalName") return;
  if (text(spec, "clusterIP") !== "" || texts(spec, "clusterIPs").length > 0) {
    problems.push(forbidden("spec.clusterIPs", "may not be set for ExternalName services"));
  }
  const name = text(spec, "externalName");
  const plain = name.endsWith(".") ? name.slice(0, -1) : name;
  if (plain === "") problems.push(required("spec.externalName"));
  else pushInvalid(problems, "spec.externalName", name, dnsSubdomainProblems(plain));
}

function checkPorts(problems: Problems, ports: readonly JsonObject[], headless: boolean): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    const name = text(port, "name");
    if (name === "") {
      if (ports.length > 1) problems.push(required(`${at}.name`));
    } else {
      pushInvalid(problems, `${at}.name`, name, dnsLabelProblems(name));
      if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    const number = count(port, "port");
    pushInvalid(problems, `${at}.port`, number, portNumberProblems(number));
    const protocol = text(port, "protocol");
    if (protocol === "") problems.push(required(`${at}.protocol`));
    else pushUnsupported(problems, `${at}.protocol`, protocol, PROTOCOLS);
    checkTarget(problems, `${at}.targetPort`, port["targetPort"]);
    const application = port["appProtocol"];
    if (typeof application === "string") {
      pushInvalid(problems, `${at}.appProtocol`, application, labelKeyProblems(application));
    }
    // Headless services have no proxy that could translate ports, but old ones may say so.
    if (headless) continue;
  }
}

function checkTarget(problems: Problems, field: string, target: unknown): void {
  if (typeof target === "string") pushInvalid(problems, field, target, portNameProblems(target));
  else if (typeof target === "number")
    pushInvalid(problems, field, target, portNumberProblems(target));
}

function checkAffinity(problems: Problems, spec: JsonObject): void {
  const affinity = text(spec, "sessionAffinity");
  pushUnsupported(problems, "spec.sessionAffinity", affinity, ["ClientIP", "None"]);
  if (affinity !== "ClientIP") return;
  const seconds = part(part(spec, "sessionAffinityConfig"), "clientIP")?.["timeoutSeconds"];
  if (typeof seconds === "number" && (seconds <= 0 || seconds > 86_400)) {
    problems.push(
      invalid(
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
        seconds,
        "must be greater than 0 and less than 86400",
      ),
    );
  }
}

function checkClusterAddresses(problems: Problems, spec: JsonObject): void {
  for (const [index, family] of texts(spec, "ipFamilies").entries()) {
    pushUnsupported(problems, `spec.ipFamilies[${index}]`, family, ["IPv4", "IPv6"]);
  }
  const policy = spec["ipFamilyPolicy"];
  if (!isAbsent(policy)) {
    pushUnsupported(problems, "spec.ipFamilyPolicy", policy, FAMILY_POLICIES);
  }
  if (text(spec, "type") === "ExternalName") return;
  const listed = texts(spec, "clusterIPs");
  const first = text(spec, "clusterIP");
  const addresses = listed.length > 0 ? listed : first === "" ? [] : [first];
  for (const [index, address] of addresses.entries()) {
    if (address === "None" || parseIp(address) !== undefined) continue;
    problems.push(invalid(`spec.clusterIPs[${index}]`, address, IP_TEXT));
  }
}

function checkExternalIps(problems: Problems, addresses: readonly string[]): void {
  for (const [index, address] of addresses.entries()) {
    const field = `spec.externalIPs[${index}]`;
    const parsed = parseIp(address);
    if (parsed === undefined) problems.push(invalid(field, address, IP_TEXT));
    else pushInvalid(problems, field, address, specialAddressProblems(parsed));
  }
}

function checkNodePorts(problems: Problems, ports: readonly JsonObject[], type: string): void {
  if (type === "NodePort" || type === "LoadBalancer") return;
  for (const [index, port] of ports.entries()) {
    if (count(port, "nodePort") === 0) continue;
    problems.push(
      forbidden(`spec.ports[${index}].nodePort`, `may not be used when \`type\` is '${type}'`),
    );
  }
}

function checkUniquePorts(problems: Problems, ports: readonly JsonObject[]): void {
  const seen = new Set<string>();
  const nodePorts = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const protocol = text(port, "protocol");
    const nodePort = count(port, "nodePort");
    const nodeKey = `${protocol}/${nodePort}`;
    if (nodePort !== 0 && nodePorts.has(nodeKey)) {
      problems.push(
        invalid(`spec.ports[${index}].nodePort`, nodePort, "provided port is already allocated"),
      );
    }
    nodePorts.add(nodeKey);
    const key = `${protocol}/${count(port, "port")}`;
    if (seen.has(key)) {
      const shown = {
        Name: "",
        Protocol: protocol,
        AppProtocol: null,
        Port: count(port, "port"),
        TargetPort: 0,
        NodePort: 0,
      };
      problems.push(duplicate(`spec.ports[${index}]`, shown));
    }
    seen.add(key);
  }
}

function checkSourceRanges(problems: Problems, spec: JsonObject): void {
  const ranges = texts(spec, "loadBalancerSourceRanges");
  if (ranges.length === 0) return;
  const field = "spec.LoadBalancerSourceRanges";
  if (text(spec, "type") !== "LoadBalancer") {
    problems.push(forbidden(field, "may only be used when `type` is 'LoadBalancer'"));
  }
  for (const [index, range] of ranges.entries()) {
    if (parseCidr(range.trim()) === undefined) {
      problems.push(invalid(`${field}[${index}]`, range, CIDR_TEXT));
    }
  }
}

function checkBalancerFields(problems: Problems, spec: JsonObject): void {
  const balanced = text(spec, "type") === "LoadBalancer";
  if (!balanced && !isAbsent(spec["allocateLoadBalancerNodePorts"])) {
    problems.push(
      forbidden(
        "spec.allocateLoadBalancerNodePorts",
        "may only be used when `type` is 'LoadBalancer'",
      ),
    );
  }
  const name = spec["loadBalancerClass"];
  if (typeof name !== "string") return;
  if (balanced) pushInvalid(problems, "spec.loadBalancerClass", name, labelKeyProblems(name));
  else {
    problems.push(
      forbidden("spec.loadBalancerClass", "may only be used when `type` is 'LoadBalancer'"),
    );
  }
}

function checkTraffic(problems: Problems, spec: JsonObject): void {
  const type = text(spec, "type");
  const outside =
    type === "LoadBalancer" ||
    type === "NodePort" ||
    (type === "ClusterIP" && texts(spec, "externalIPs").length > 0);
  const external = text(spec, "externalTrafficPolicy");
  if (!outside && external !== "") {
    problems.push(
      invalid(
        "spec.externalTrafficPolicy",
        external,
        "may only be set for externally-accessible services",
      ),
    );
  }
  if (outside && external !== "") {
    pushUnsupported(problems, "spec.externalTrafficPolicy", external, POLICIES);
  }
  const health = count(spec, "healthCheckNodePort");
  if (health !== 0 && (type !== "LoadBalancer" || external !== "Local")) {
    problems.push(
      invalid(
        "spec.healthCheckNodePort",
        health,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
  }
  const internal = spec["internalTrafficPolicy"];
  if (!isAbsent(internal)) {
    pushUnsupported(problems, "spec.internalTrafficPolicy", internal, POLICIES);
  }
  const distribution = spec["trafficDistribution"];
  const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
  if (typeof distribution === "string" && !distributions.includes(distribution)) {
    problems.push(notSupported("spec.trafficDistribution", distribution, distributions));
  }
}

export function checkServiceUpdate(
  problems: Problems,
  service: JsonObject,
  oldService: JsonObject,
): void {
  const spec = partOf(service, "spec");
  const old = partOf(oldService, "spec");
  checkAddressUpdate(problems, spec, old);
  const balanced = text(spec, "type") === "LoadBalancer" && text(old, "type") === "LoadBalancer";
  if (balanced && spec["loadBalancerClass"] !== old["loadBalancerClass"]) {
    problems.push(
      invalid(
        "spec.loadBalancerClass",
        spec["loadBalancerClass"] ?? null,
        "may not change once set",
      ),
    );
  }
}

/** An address is given once; only changing the type to or from ExternalName lets it go. */
function checkAddressUpdate(problems: Problems, spec: JsonObject, old: JsonObject): void {
  if (text(spec, "type") === "ExternalName" || text(old, "type") === "ExternalName") return;
  const before = texts(old, "clusterIPs")[0] ?? text(old, "clusterIP");
  const listed = texts(spec, "clusterIPs");
  const after = listed[0] ?? text(spec, "clusterIP");
  if (before === "" || after === before || after === "") return;
  problems.push(
    invalid("spec.clusterIPs[0]", listed.length > 0 ? listed : [after], "may not change once set"),
  );
}
