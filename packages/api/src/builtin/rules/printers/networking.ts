/** Tables of Services, Ingresses and what is behind them. */
import type { JsonObject } from "../../../json.ts";
import { count, items, part, partOf, text, textMap, texts } from "../fields.ts";
import { formatLabels, formatSelectorOrNone } from "../label-selector.ts";
import {
  defaultMarked,
  nameOf,
  objectAge,
  printer,
  type Printers,
  someOf,
  textPrinter,
} from "../printer.ts";

const service = printer(
  ["Name:name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector*"],
  (object, now) => {
    const spec = partOf(object, "spec");
    return [
      nameOf(object),
      text(spec, "type"),
      texts(spec, "clusterIPs")[0] ?? "<none>",
      externalAddresses(spec, partOf(object, "status")),
      items(spec, "ports").map(servicePortText).join(",") || "<none>",
      objectAge(object, now),
      formatLabels(textMap(spec, "selector")),
    ];
  },
);

function externalAddresses(spec: JsonObject, status: JsonObject): string {
  const external = texts(spec, "externalIPs");
  switch (text(spec, "type")) {
    case "ClusterIP":
    case "NodePort":
      return external.join(",") || "<none>";
    case "LoadBalancer":
      return [...loadBalancerAddresses(status), ...external].join(",") || "<pending>";
    case "ExternalName":
      return text(spec, "externalName");
    default:
      return "<unknown>";
  }
}

function loadBalancerAddresses(status: JsonObject): readonly string[] {
  const addresses = items(partOf(status, "loadBalancer"), "ingress")
    .map((ingress) => text(ingress, "ip") || text(ingress, "hostname"))
    .filter((address) => address !== "");
  return [...new Set(addresses)].toSorted();
}

function servicePortText(port: JsonObject): string {
  const nodePort = count(port, "nodePort");
  const number = nodePort > 0 ? `${count(port, "port")}:${nodePort}` : `${count(port, "port")}`;
  return `${number}/${text(port, "protocol")}`;
}

const ingress = printer(
  ["Name:name", "Class", "Hosts", "Address", "Ports", "Age"],
  (object, now) => {
    const spec = partOf(object, "spec");
    const className = spec["ingressClassName"];
    return [
      nameOf(object),
      typeof className === "string" ? className : "<none>",
      ingressHosts(items(spec, "rules")),
      loadBalancerAddresses(partOf(object, "status")).join(","),
      items(spec, "tls").length > 0 ? "80, 443" : "80",
      objectAge(object, now),
    ];
  },
);

function ingressHosts(rules: readonly JsonObject[]): string {
  const hosts = rules.map((rule) => text(rule, "host")).filter((host) => host !== "");
  if (hosts.length === 0) return "*";
  const shown = hosts.slice(0, 3).join(",");
  return hosts.length > 3 ? `${shown} + ${rules.length - 3} more...` : shown;
}

const ingressClass = printer(["Name:name", "Controller", "Parameters", "Age"], (object, now) => {
  const spec = partOf(object, "spec");
  return [
    defaultMarked(object, "ingressclass.kubernetes.io/is-default-class"),
    text(spec, "controller"),
    classParameters(part(spec, "parameters")),
    objectAge(object, now),
  ];
});

function classParameters(parameters: JsonObject | undefined): string {
  if (parameters === undefined) return "<none>";
  const group = parameters["apiGroup"];
  const kind = text(parameters, "kind");
  return `${typeof group === "string" ? `${kind}.${group}` : kind}/${text(parameters, "name")}`;
}

const networkPolicy = printer(["Name:name", "Pod-Selector", "Age"], (object, now) => [
  nameOf(object),
  formatSelectorOrNone(part(partOf(object, "spec"), "podSelector")),
  objectAge(object, now),
]);

const endpoints = printer(["Name:name", "Endpoints", "Age"], (object, now) => [
  nameOf(object),
  endpointsText(items(object, "subsets")),
  objectAge(object, now),
]);

function endpointsText(subsets: readonly JsonObject[]): string {
  if (subsets.length === 0) return "<none>";
  const addresses: string[] = [];
  for (const subset of subsets) {
    const ips = items(subset, "addresses").map((address) => text(address, "ip"));
    const ports = items(subset, "ports");
    if (ports.length === 0) addresses.push(...ips);
    for (const port of ports) {
      for (const ip of ips) {
        addresses.push(`${ip.includes(":") ? `[${ip}]` : ip}:${count(port, "port")}`);
      }
    }
  }
  return someOf(addresses, 3);
}

const endpointSlice = printer(
  ["Name:name", "AddressType", "Ports", "Endpoints", "Age"],
  (object, now) => {
    const ports = items(object, "ports").map((port) => {
      if (typeof port["port"] === "number") return String(port["port"]);
      return typeof port["name"] === "string" ? port["name"] : "*";
    });
    const addresses = items(object, "endpoints").flatMap((endpoint) =>
      texts(endpoint, "addresses"),
    );
    return [
      nameOf(object),
      text(object, "addressType"),
      someOf(ports, 3) || "<unset>",
      someOf(addresses, 3) || "<unset>",
      objectAge(object, now),
    ];
  },
);

export const networkingPrinters: Printers = {
  "v1/Service": service,
  "v1/Endpoints": endpoints,
  "networking.k8s.io/v1/Ingress": ingress,
  "networking.k8s.io/v1/IngressClass": ingressClass,
  "networking.k8s.io/v1/NetworkPolicy": networkPolicy,
  "networking.k8s.io/v1/ServiceCIDR": textPrinter("CIDRs", (object) =>
    texts(partOf(object, "spec"), "cidrs").join(","),
  ),
  "discovery.k8s.io/v1/EndpointSlice": endpointSlice,
};
