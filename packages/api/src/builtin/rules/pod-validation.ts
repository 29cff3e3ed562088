/** Validation of pods and pod templates. */
import { equalJson } from "../../equal-json.ts";
import { duplicate, forbidden, invalid, required } from "../../field-error.ts";
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
  sameOrEmpty,
  text,
  textMap,
  texts,
} from "./fields.ts";
import { IP_TEXT, parseIp } from "./ip.ts";
import { checkLabels } from "./label-selector.ts";
import { checkContainers, checkInitContainers } from "./pod-containers.ts";
import { checkAffinity, checkSpreading, checkTolerations } from "./pod-scheduling.ts";
import { checkPodSecurity } from "./pod-security.ts";
import { checkVolumes } from "./pod-volumes.ts";
import { checkResources } from "./resource-lists.ts";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const MAX_INT32 = 2_147_483_647;

export function checkPod(problems: Problems, pod: JsonObject): void {
  const spec = partOf(pod, "spec");
  checkPodSpec(problems, "spec", spec, true);
  if (text(spec, "serviceAccountName") === "") checkTokensWithoutAccount(problems, spec);
  for (const name of ["containers", "initContainers"]) {
    for (const [index, container] of items(spec, name).entries()) {
      const image = text(container, "image");
      if (image === image.trim()) continue;
      problems.push(
        invalid(
          `spec.${name}[${index}].image`,
          image,
          "must not have leading or trailing whitespace",
        ),
      );
    }
  }
  if (text(spec, "nodeName") !== "" && items(spec, "schedulingGates").length > 0) {
    problems.push(
      forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"),
    );
  }
}

/** A token is of an account, so there must be one. */
function checkTokensWithoutAccount(problems: Problems, spec: JsonObject): void {
  for (const [index, volume] of items(spec, "volumes").entries()) {
    for (const [at, source] of items(part(volume, "projected"), "sources").entries()) {
      if (part(source, "serviceAccountToken") === undefined) continue;
      problems.push(
        forbidden(
          `spec.volumes[${index}].projected.sources[${at}].serviceAccountToken`,
          "must not be specified when serviceAccountName is not set",
        ),
      );
    }
  }
}

/** Metadata and spec of a template. */
export function checkPodTemplate(problems: Problems, field: string, template: JsonObject): void {
  checkLabels(problems, `${field}.labels`, textMap(partOf(template, "metadata"), "labels"));
  const annotations = textMap(partOf(template, "metadata"), "annotations");
  for (const key in annotations) {
    pushInvalid(problems, `${field}.annotations`, key, labelKeyProblems(key.toLowerCase()));
  }
  const spec = partOf(template, "spec");
  checkPodSpec(problems, `${field}.spec`, spec, false);
  if (items(spec, "ephemeralContainers").length > 0) {
    problems.push(
      forbidden(
        `${field}.spec.ephemeralContainers`,
        "ephemeral containers not allowed in pod template",
      ),
    );
  }
}

export function checkPodSpec(
  problems: Problems,
  field: string,
  spec: JsonObject,
  isPod: boolean,
): void {
  const volumes = checkVolumes(problems, `${field}.volumes`, items(spec, "volumes"));
  const containers = items(spec, "containers");
  checkContainers(problems, `${field}.containers`, containers, volumes);
  checkInitContainers(
    problems,
    `${field}.initContainers`,
    items(spec, "initContainers"),
    containers,
    volumes,
  );
  checkResources(problems, `${field}.resources`, part(spec, "resources"));
  checkHostNetwork(problems, field, spec, isPod);
  pushUnsupported(problems, `${field}.restartPolicy`, spec["restartPolicy"], RESTART_POLICIES);
  pushUnsupported(problems, `${field}.dnsPolicy`, spec["dnsPolicy"], DNS_POLICIES);
  checkLabels(problems, `${field}.nodeSelector`, textMap(spec, "nodeSelector"));
  checkPodSecurity(problems, field, spec);
  checkAffinity(problems, `${field}.affinity`, part(spec, "affinity"));
  checkDns(problems, `${field}.dnsConfig`, spec);
  for (const [index, gate] of items(spec, "readinessGates").entries()) {
    const type = text(gate, "conditionType");
    pushInvalid(
      problems,
      `${field}.readinessGates[${index}].conditionType`,
      type,
      labelKeyProblems(type),
    );
  }
  checkSchedulingGates(problems, `${field}.schedulingGates`, items(spec, "schedulingGates"));
  checkSpreading(
    problems,
    `${field}.topologySpreadConstraints`,
    items(spec, "topologySpreadConstraints"),
  );
  checkNames(problems, field, spec);
  checkOs(problems, field, spec);
}

function checkHostNetwork(
  problems: Problems,
  field: string,
  spec: JsonObject,
  isPod: boolean,
): void {
  if (spec["hostNetwork"] !== true) return;
  for (const [index, container] of items(spec, "containers").entries()) {
    for (const [portIndex, port] of items(container, "ports").entries()) {
      const hostPort = count(port, "hostPort");
      if ((!isPod && hostPort === 0) || hostPort === count(port, "containerPort")) continue;
      problems.push(
        invalid(
          `${field}.containers[${index}].ports[${portIndex}].hostPort`,
          hostPort,
          "must match `containerPort` when `hostNetwork` is true",
        ),
      );
    }
  }
}

function checkDns(problems: Problems, field: string, spec: JsonObject): void {
  const config = part(spec, "dnsConfig");
  if (text(spec, "dnsPolicy") === "None") {
    if (config === undefined) {
      problems.push(required(field, "must provide `dnsConfig` when `dnsPolicy` is None"));
      return;
    }
    if (texts(config, "nameservers").length === 0) {
      problems.push(
        required(
          `${field}.nameservers`,
          "must provide at least one DNS nameserver when `dnsPolicy` is None",
        ),
      );
      return;
    }
  }
  const servers = texts(config, "nameservers");
  if (servers.length > 3) {
    problems.push(
      invalid(`${field}.nameservers`, servers, "must not have more than 3 nameservers"),
    );
  }
  for (const [index, server] of servers.entries()) {
    if (parseIp(server) === undefined) {
      problems.push(invalid(`${field}.nameservers[${index}]`, server, IP_TEXT));
    }
  }
  const searches = texts(config, "searches");
  if (searches.length > 32) {
    problems.push(
      invalid(`${field}.searches`, searches, "must not have more than 32 search paths"),
    );
  }
  for (const [index, option] of items(config, "options").entries()) {
    if (text(option, "name") === "") {
      problems.push(required(`${field}.options[${index}]`, "must not be empty"));
    }
  }
}

function checkSchedulingGates(
  problems: Problems,
  field: string,
  gates: readonly JsonObject[],
): void {
  const names = new Set<string>();
  for (const [index, gate] of gates.entries()) {
    const name = text(gate, "name");
    pushInvalid(problems, `${field}[${index}]`, name, labelKeyProblems(name));
    if (names.has(name)) problems.push(duplicate(`${field}[${index}]`, name));
    names.add(name);
  }
}

function checkNames(problems: Problems, field: string, spec: JsonObject): void {
  checkName(
    problems,
    `${field}.serviceAccountName`,
    spec["serviceAccountName"],
    dnsSubdomainProblems,
  );
  checkName(problems, `${field}.nodeName`, spec["nodeName"], dnsSubdomainProblems);
  const deadline = spec["activeDeadlineSeconds"];
  if (typeof deadline === "number" && (deadline < 1 || deadline > MAX_INT32)) {
    problems.push(
      invalid(
        `${field}.activeDeadlineSeconds`,
        deadline,
        `must be between 1 and ${MAX_INT32}, inclusive`,
      ),
    );
  }
  checkName(problems, `${field}.hostname`, spec["hostname"], dnsLabelProblems);
  checkName(problems, `${field}.subdomain`, spec["subdomain"], dnsLabelProblems);
  checkTolerations(problems, `${field}.tolerations`, items(spec, "tolerations"));
  for (const [index, alias] of items(spec, "hostAliases").entries()) {
    const ip = text(alias, "ip");
    if (parseIp(ip) === undefined) {
      problems.push(invalid(`${field}.hostAliases[${index}].ip`, ip, IP_TEXT));
    }
    for (const [at, host] of texts(alias, "hostnames").entries()) {
      pushInvalid(
        problems,
        `${field}.hostAliases[${index}].hostnames[${at}]`,
        host,
        dnsSubdomainProblems(host),
      );
    }
  }
  checkName(
    problems,
    `${field}.priorityClassName`,
    spec["priorityClassName"],
    dnsSubdomainProblems,
  );
  checkName(problems, `${field}.runtimeClassName`, spec["runtimeClassName"], dnsSubdomainProblems);
  const preemption = spec["preemptionPolicy"];
  if (!isAbsent(preemption)) {
    pushUnsupported(problems, `${field}.preemptionPolicy`, preemption, [
      "PreemptLowerPriority",
      "Never",
    ]);
  }
}

function checkName(
  problems: Problems,
  field: string,
  value: unknown,
  check: (value: string) => readonly string[],
): void {
  if (typeof value === "string" && value !== "") pushInvalid(problems, field, value, check(value));
}

function checkOs(problems: Problems, field: string, spec: JsonObject): void {
  const os = part(spec, "os");
  if (os === undefined) return;
  const name = text(os, "name");
  if (name === "") {
    problems.push(required(`${field}.os.name`, "cannot be empty"));
  } else if (name !== "linux" && name !== "windows") {
    pushUnsupported(problems, `${field}.os`, name, ["linux", "windows"]);
  }
  const windows = part(part(spec, "securityContext"), "windowsOptions");
  if (name === "linux" && windows !== undefined) {
    problems.push(
      forbidden(
        `${field}.securityContext.windowsOptions`,
        "windows options cannot be set for a linux pod",
      ),
    );
  }
}

const UPDATABLE =
  "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Almost nothing of a pod may change once it exists. */
export function checkPodUpdate(problems: Problems, pod: JsonObject, oldPod: JsonObject): void {
  const spec = partOf(pod, "spec");
  const old = partOf(oldPod, "spec");
  for (const name of ["containers", "initContainers"]) {
    if (items(spec, name).length === items(old, name).length) continue;
    problems.push(forbidden(`spec.${name}`, "pod updates may not add or remove containers"));
    return;
  }
  if (checkDeadline(problems, spec, old)) return;
  checkAddedTolerations(problems, items(spec, "tolerations"), items(old, "tolerations"));
  const gates = new Set(items(old, "schedulingGates").map((gate) => text(gate, "name")));
  for (const [index, gate] of items(spec, "schedulingGates").entries()) {
    const name = text(gate, "name");
    if (gates.has(name)) continue;
    problems.push(
      forbidden(
        `spec.schedulingGates[${index}].name`,
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      ),
    );
  }
  if (!equalJson(fixedPart(spec, old), old)) {
    problems.push(forbidden("spec", `pod updates may not change fields other than ${UPDATABLE}`));
  }
}

/** Whether nothing else needs to be said. */
function checkDeadline(problems: Problems, spec: JsonObject, old: JsonObject): boolean {
  const next = spec["activeDeadlineSeconds"];
  const before = old["activeDeadlineSeconds"];
  if (typeof before !== "number") return false;
  const field = "spec.activeDeadlineSeconds";
  if (typeof next !== "number") {
    problems.push(invalid(field, null, "must not update from a positive integer to nil value"));
    return false;
  }
  if (next <= before) return false;
  problems.push(invalid(field, next, "must be less than or equal to previous value"));
  return true;
}

function checkAddedTolerations(
  problems: Problems,
  next: readonly JsonObject[],
  old: readonly JsonObject[],
): void {
  const kept = old.every((before) =>
    next.some((after) =>
      sameOrEmpty(
        { ...before, tolerationSeconds: undefined },
        { ...after, tolerationSeconds: undefined },
      ),
    ),
  );
  if (kept) return;
  problems.push(
    forbidden(
      "spec.tolerations",
      "existing toleration can not be modified except its tolerationSeconds",
    ),
  );
}

/** The new spec with everything that may change put back. */
function fixedPart(spec: JsonObject, old: JsonObject): JsonObject {
  const restored: Record<string, JsonObject[string]> = { ...spec };
  for (const name of ["activeDeadlineSeconds", "tolerations", "schedulingGates"]) {
    restored[name] = old[name];
  }
  for (const name of ["containers", "initContainers"]) {
    if (spec[name] === undefined) continue;
    const before = items(old, name);
    restored[name] = items(spec, name).map((container, index) => ({
      ...container,
      image: before[index]?.["image"],
    }));
  }
  const grace = old["terminationGracePeriodSeconds"];
  if (typeof grace === "number" && grace < 0 && spec["terminationGracePeriodSeconds"] === 1) {
    restored["terminationGracePeriodSeconds"] = grace;
  }
  return restored;
}
