/** Validation of the containers of a pod: one list at a time, in the order the server checks them. */
import { duplicate, forbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../metadata/names.ts";
import { checkFieldRef, checkResourceFieldRef, ENV_FIELDS } from "./downward-api.ts";
import {
  count,
  isAbsent,
  items,
  notFoundField,
  part,
  type Problems,
  pushInvalid,
  pushNonNegative,
  pushRequiredName,
  pushUnsupported,
  text,
  texts,
} from "./fields.ts";
import {
  configKeyProblems,
  envNameProblems,
  headerNameProblems,
  portNameProblems,
  portNumberProblems,
} from "./field-texts.ts";
import { checkSecurityContext } from "./pod-security.ts";
import { checkDescendingPath, hasBacksteps } from "./pod-volumes.ts";
import { checkResources } from "./resource-lists.ts";

type Volumes = ReadonlyMap<string, JsonObject>;

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const INIT_TEXT = "may not be set for init containers without restartPolicy=Always";

export function checkContainers(
  problems: Problems,
  field: string,
  containers: readonly JsonObject[],
  volumes: Volumes,
): void {
  if (containers.length === 0) {
    problems.push(required(field));
    return;
  }
  const names = new Set<string>();
  for (let index = 0; index < containers.length; index += 1) {
    const container = containers[index] as JsonObject;
    const at = `${field}[${index}]`;
    checkContainer(problems, at, container, volumes);
    const name = text(container, "name");
    if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
    checkLifecycle(problems, `${at}.lifecycle`, part(container, "lifecycle"));
    checkProbes(problems, at, container);
    checkRestartPolicy(problems, at, container);
  }
  checkHostPorts(problems, field, containers);
}

export function checkInitContainers(
  problems: Problems,
  field: string,
  containers: readonly JsonObject[],
  regular: readonly JsonObject[],
  volumes: Volumes,
): void {
  const names = new Set(regular.map((container) => text(container, "name")));
  for (const [index, container] of containers.entries()) {
    const at = `${field}[${index}]`;
    checkContainer(problems, at, container, volumes);
    checkRestartPolicy(problems, at, container);
    const name = text(container, "name");
    if (names.has(name)) problems.push(duplicate(`${at}.name`, name));
    else if (name !== "") names.add(name);
    checkHostPorts(problems, field, [container]);
    if (text(container, "restartPolicy") === "Always") {
      checkLifecycle(problems, `${at}.lifecycle`, part(container, "lifecycle"));
      checkProbes(problems, at, container);
      continue;
    }
    for (const name of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]) {
      if (!isAbsent(container[name])) problems.push(forbidden(`${at}.${name}`, INIT_TEXT));
    }
  }
}

function checkContainer(
  problems: Problems,
  field: string,
  container: JsonObject,
  volumes: Volumes,
): void {
  pushRequiredName(problems, `${field}.name`, text(container, "name"), dnsLabelProblems);
  if (text(container, "image") === "") problems.push(required(`${field}.image`));
  pushUnsupported(
    problems,
    `${field}.terminationMessagePolicy`,
    container["terminationMessagePolicy"],
    MESSAGE_POLICIES,
  );
  checkPorts(problems, field, items(container, "ports"));
  checkEnv(problems, field, items(container, "env"));
  checkEnvFrom(problems, field, items(container, "envFrom"));
  checkVolumeMounts(problems, field, container, volumes);
  checkVolumeDevices(problems, field, container, volumes);
  pushUnsupported(
    problems,
    `${field}.imagePullPolicy`,
    container["imagePullPolicy"],
    PULL_POLICIES,
  );
  checkResources(problems, `${field}.resources`, part(container, "resources"));
  checkSecurityContext(problems, `${field}.securityContext`, part(container, "securityContext"));
}

function checkRestartPolicy(problems: Problems, field: string, container: JsonObject): void {
  const policy = container["restartPolicy"];
  if (!isAbsent(policy)) {
    pushUnsupported(problems, `${field}.restartPolicy`, policy, RESTART_POLICIES);
  }
}

function checkPorts(problems: Problems, field: string, ports: readonly JsonObject[]): void {
  if (ports.length === 0) return;
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `${field}.ports[${index}]`;
    const name = text(port, "name");
    if (name !== "") {
      const wrong = portNameProblems(name);
      pushInvalid(problems, `${at}.name`, name, wrong);
      if (wrong.length === 0 && names.has(name)) problems.push(duplicate(`${at}.name`, name));
      if (wrong.length === 0) names.add(name);
    }
    const number = count(port, "containerPort");
    if (number === 0) problems.push(required(`${at}.containerPort`));
    else pushInvalid(problems, `${at}.containerPort`, number, portNumberProblems(number));
    const hostPort = count(port, "hostPort");
    if (hostPort !== 0)
      pushInvalid(problems, `${at}.hostPort`, hostPort, portNumberProblems(hostPort));
    pushUnsupported(problems, `${at}.protocol`, port["protocol"], PROTOCOLS);
  }
}

function checkHostPorts(
  problems: Problems,
  field: string,
  containers: readonly JsonObject[],
): void {
  let taken: Set<string> | undefined;
  for (const [index, container] of containers.entries()) {
    for (const [portIndex, port] of items(container, "ports").entries()) {
      const hostPort = count(port, "hostPort");
      if (hostPort === 0) continue;
      taken ??= new Set();
      const key = `${text(port, "protocol")}/${text(port, "hostIP")}/${hostPort}`;
      if (taken.has(key)) {
        problems.push(duplicate(`${field}[${index}].ports[${portIndex}].hostPort`, key));
      }
      taken.add(key);
    }
  }
}

function checkEnv(problems: Problems, field: string, variables: readonly JsonObject[]): void {
  for (let index = 0; index < variables.length; index += 1) {
    const variable = variables[index] as JsonObject;
    const at = `${field}.env[${index}]`;
    pushRequiredName(problems, `${at}.name`, text(variable, "name"), envNameProblems);
    const source = part(variable, "valueFrom");
    if (source !== undefined) checkValueFrom(problems, `${at}.valueFrom`, source, variable);
  }
}

function checkValueFrom(
  problems: Problems,
  field: string,
  source: JsonObject,
  variable: JsonObject,
): void {
  let sources = 0;
  const fieldRef = part(source, "fieldRef");
  if (fieldRef !== undefined) {
    sources += 1;
    checkFieldRef(problems, `${field}.fieldRef`, fieldRef, ENV_FIELDS);
  }
  const resourceRef = part(source, "resourceFieldRef");
  if (resourceRef !== undefined) {
    sources += 1;
    checkResourceFieldRef(problems, `${field}.resourceFieldRef`, resourceRef, false);
  }
  for (const name of ["configMapKeyRef", "secretKeyRef"]) {
    const reference = part(source, name);
    if (reference === undefined) continue;
    sources += 1;
    const of = text(reference, "name");
    pushInvalid(problems, `${field}.${name}.name`, of, dnsSubdomainProblems(of));
    pushRequiredName(problems, `${field}.${name}.key`, text(reference, "key"), configKeyProblems);
  }
  if (part(source, "fileKeyRef") !== undefined) sources += 1;
  if (sources === 0) {
    problems.push(
      invalid(
        field,
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
      ),
    );
  } else if (text(variable, "value") !== "") {
    problems.push(invalid(field, "", "may not be specified when `value` is not empty"));
  } else if (sources > 1) {
    problems.push(invalid(field, "", "may not have more than one field specified at a time"));
  }
}

function checkEnvFrom(problems: Problems, field: string, sources: readonly JsonObject[]): void {
  for (const [index, source] of sources.entries()) {
    const at = `${field}.envFrom[${index}]`;
    const prefix = text(source, "prefix");
    if (prefix !== "") pushInvalid(problems, `${at}.prefix`, prefix, envNameProblems(prefix));
    let given = 0;
    for (const name of ["configMapRef", "secretRef"]) {
      const reference = part(source, name);
      if (reference === undefined) continue;
      given += 1;
      pushRequiredName(
        problems,
        `${at}.${name}.name`,
        text(reference, "name"),
        dnsSubdomainProblems,
      );
    }
    if (given === 1) continue;
    problems.push(
      invalid(
        `${field}.envFrom`,
        "",
        given === 0
          ? "must specify one of: `configMapRef` or `secretRef`"
          : "may not have more than one field specified at a time",
      ),
    );
  }
}

function checkVolumeMounts(
  problems: Problems,
  containerField: string,
  container: JsonObject,
  volumes: Volumes,
): void {
  const mounts = items(container, "volumeMounts");
  if (mounts.length === 0) return;
  const field = `${containerField}.volumeMounts`;
  const devices = items(container, "volumeDevices");
  const paths = new Set<string>();
  for (const [index, mount] of mounts.entries()) {
    const at = `${field}[${index}]`;
    const name = text(mount, "name");
    const path = text(mount, "mountPath");
    if (name === "") problems.push(required(`${at}.name`));
    if (!volumes.has(name)) problems.push(notFoundField(`${at}.name`, name));
    if (path === "") problems.push(required(`${at}.mountPath`));
    if (paths.has(path)) problems.push(invalid(`${at}.mountPath`, path, "must be unique"));
    paths.add(path);
    if (devices.some((device) => text(device, "name") === name)) {
      problems.push(invalid(`${at}.name`, name, "must not already exist in volumeDevices"));
    }
    if (devices.some((device) => text(device, "devicePath") === path)) {
      problems.push(
        invalid(`${at}.mountPath`, path, "must not already exist as a path in volumeDevices"),
      );
    }
    checkSubPaths(problems, field, at, mount);
    const propagation = mount["mountPropagation"];
    if (!isAbsent(propagation)) {
      checkPropagation(problems, `${field}.mountPropagation`, propagation, container);
    }
  }
}

function checkSubPaths(problems: Problems, field: string, at: string, mount: JsonObject): void {
  const subPath = text(mount, "subPath");
  const expression = text(mount, "subPathExpr");
  if (subPath !== "") checkDescendingPath(problems, `${field}.subPath`, subPath);
  if (expression === "") return;
  if (subPath !== "") {
    problems.push(
      invalid(`${at}.subPathExpr`, expression, "subPathExpr and subPath are mutually exclusive"),
    );
  }
  checkDescendingPath(problems, `${field}.subPathExpr`, expression);
}

function checkPropagation(
  problems: Problems,
  field: string,
  propagation: unknown,
  container: JsonObject,
): void {
  pushUnsupported(problems, field, propagation, PROPAGATIONS);
  const privileged = part(container, "securityContext")?.["privileged"] === true;
  if (propagation === "Bidirectional" && !privileged) {
    problems.push(
      forbidden(
        field,
        "Bidirectional mount propagation is available only to privileged containers",
      ),
    );
  }
}

function checkVolumeDevices(
  problems: Problems,
  containerField: string,
  container: JsonObject,
  volumes: Volumes,
): void {
  const devices = items(container, "volumeDevices");
  if (devices.length === 0) return;
  const mounts = items(container, "volumeMounts");
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, device] of devices.entries()) {
    const at = `${containerField}.volumeDevices[${index}]`;
    const name = text(device, "name");
    const path = text(device, "devicePath");
    const volume = volumes.get(name);
    if (name === "") problems.push(required(`${at}.name`));
    if (names.has(name)) problems.push(invalid(`${at}.name`, name, "must be unique"));
    if (volume === undefined) {
      problems.push(notFoundField(`${at}.name`, name));
    } else if (!volume["persistentVolumeClaim"] && !volume["ephemeral"]) {
      problems.push(
        invalid(
          `${at}.name`,
          name,
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
        ),
      );
    }
    if (path === "") problems.push(required(`${at}.devicePath`));
    if (paths.has(path)) problems.push(invalid(`${at}.devicePath`, path, "must be unique"));
    if (hasBacksteps(path)) {
      problems.push(invalid(`${at}.devicePath`, path, "can not contain backsteps ('..')"));
    } else {
      paths.add(path);
    }
    if (mounts.some((mount) => text(mount, "name") === name)) {
      problems.push(invalid(`${at}.name`, name, "must not already exist in volumeMounts"));
    }
    if (mounts.some((mount) => text(mount, "mountPath") === path)) {
      problems.push(
        invalid(`${at}.devicePath`, path, "must not already exist as a path in volumeMounts"),
      );
    }
    if (name !== "") names.add(name);
  }
}

function checkProbes(problems: Problems, field: string, container: JsonObject): void {
  const liveness = part(container, "livenessProbe");
  if (liveness !== undefined) checkProbe(problems, `${field}.livenessProbe`, liveness, true);
  const readiness = part(container, "readinessProbe");
  if (readiness !== undefined) {
    checkProbe(problems, `${field}.readinessProbe`, readiness, false);
    const grace = readiness["terminationGracePeriodSeconds"];
    if (!isAbsent(grace)) {
      problems.push(
        invalid(
          `${field}.readinessProbe.terminationGracePeriodSeconds`,
          grace,
          "must not be set for readinessProbes",
        ),
      );
    }
  }
  const startup = part(container, "startupProbe");
  if (startup !== undefined) checkProbe(problems, `${field}.startupProbe`, startup, true);
}

const PROBE_NUMBERS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
];

function checkProbe(
  problems: Problems,
  field: string,
  probe: JsonObject,
  onceIsEnough: boolean,
): void {
  checkHandler(problems, field, probe);
  for (const name of PROBE_NUMBERS) pushNonNegative(problems, `${field}.${name}`, probe[name]);
  const grace = probe["terminationGracePeriodSeconds"];
  if (typeof grace === "number" && grace <= 0) {
    problems.push(
      invalid(`${field}.terminationGracePeriodSeconds`, grace, "must be greater than 0"),
    );
  }
  if (onceIsEnough && count(probe, "successThreshold") !== 1) {
    problems.push(
      invalid(`${field}.successThreshold`, count(probe, "successThreshold"), "must be 1"),
    );
  }
}

function checkLifecycle(
  problems: Problems,
  field: string,
  lifecycle: JsonObject | undefined,
): void {
  if (lifecycle === undefined) return;
  for (const name of ["postStart", "preStop"]) {
    const handler = part(lifecycle, name);
    if (handler !== undefined) checkHandler(problems, `${field}.${name}`, handler);
  }
}

const HANDLERS: readonly (readonly [
  string,
  (problems: Problems, field: string, action: JsonObject) => void,
])[] = [
  ["exec", checkExec],
  ["httpGet", checkHttpGet],
  ["tcpSocket", (problems, field, action) => checkPort(problems, `${field}.port`, action["port"])],
  ["grpc", (problems, field, action) => checkPort(problems, `${field}.port`, action["port"])],
  ["sleep", () => undefined],
];

function checkHandler(problems: Problems, field: string, handler: JsonObject): void {
  let handlers = 0;
  for (const [name, check] of HANDLERS) {
    const action = part(handler, name);
    if (action === undefined) continue;
    handlers += 1;
    if (handlers > 1) {
      problems.push(forbidden(`${field}.${name}`, "may not specify more than 1 handler type"));
    } else {
      check(problems, `${field}.${name}`, action);
    }
  }
  if (handlers === 0) problems.push(required(field, "must specify a handler type"));
}

function checkExec(problems: Problems, field: string, action: JsonObject): void {
  if (texts(action, "command").length === 0) problems.push(required(`${field}.command`));
}

function checkHttpGet(problems: Problems, field: string, action: JsonObject): void {
  if (text(action, "path") === "") problems.push(required(`${field}.path`));
  checkPort(problems, `${field}.port`, action["port"]);
  const scheme = text(action, "scheme");
  if (scheme !== "HTTP" && scheme !== "HTTPS") {
    problems.push(notSupported(`${field}.scheme`, scheme, ["HTTP", "HTTPS"]));
  }
  for (const header of items(action, "httpHeaders")) {
    const name = text(header, "name");
    pushInvalid(problems, `${field}.httpHeaders`, name, headerNameProblems(name));
  }
}

/** A port by number or by name. */
export function checkPort(problems: Problems, field: string, port: unknown): void {
  if (typeof port === "string") pushInvalid(problems, field, port, portNameProblems(port));
  else
    pushInvalid(
      problems,
      field,
      port ?? 0,
      portNumberProblems(typeof port === "number" ? port : 0),
    );
}
