/** Validation of the volumes of a pod. */
import { duplicate, forbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { parseQuantity } from "../../quantity/quantity.ts";
import { dnsLabelProblems } from "../../metadata/names.ts";
import { checkClaimSpec } from "./claim-spec.ts";
import { checkFieldRef, checkResourceFieldRef, VOLUME_FIELDS } from "./downward-api.ts";
import {
  count,
  isAbsent,
  items,
  part,
  partOf,
  type Problems,
  pushInvalid,
  pushRequired,
  text,
} from "./fields.ts";

const MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive";
const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** The volumes that are fine, by name: mounts may refer to these only. */
export function checkVolumes(
  problems: Problems,
  field: string,
  volumes: readonly JsonObject[],
): ReadonlyMap<string, JsonObject> {
  const fine = new Map<string, JsonObject>();
  for (const [index, volume] of volumes.entries()) {
    const before = problems.length;
    const at = `${field}[${index}]`;
    const name = text(volume, "name");
    checkSource(problems, at, volume);
    if (name === "") problems.push(required(`${at}.name`));
    else pushInvalid(problems, `${at}.name`, name, dnsLabelProblems(name));
    if (fine.has(name)) problems.push(duplicate(`${at}.name`, name));
    if (problems.length === before) fine.set(name, volume);
  }
  return fine;
}

type Check = (problems: Problems, field: string, source: JsonObject) => void;

const SOURCES: Readonly<Record<string, Check>> = {
  emptyDir: checkEmptyDir,
  hostPath: checkHostPath,
  gitRepo: (problems, field, source) =>
    pushRequired(problems, `${field}.repository`, text(source, "repository")),
  secret: (problems, field, source) => checkKeys(problems, field, source, "secretName"),
  configMap: (problems, field, source) => checkKeys(problems, field, source, "name"),
  nfs: checkNfs,
  persistentVolumeClaim: (problems, field, source) =>
    pushRequired(problems, `${field}.claimName`, text(source, "claimName")),
  downwardAPI: checkDownward,
  projected: checkProjected,
  csi: (problems, field, source) =>
    pushRequired(problems, `${field}.driver`, text(source, "driver")),
  ephemeral: checkEphemeral,
};

/** Of several sources the first of these counts, and the others are too many. */
const SOURCE_ORDER = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "flocker",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];

function checkSource(problems: Problems, field: string, volume: JsonObject): void {
  const sources = Object.keys(volume).filter((name) => name !== "name" && !isAbsent(volume[name]));
  if (sources.length > 1) sources.sort((a, b) => SOURCE_ORDER.indexOf(a) - SOURCE_ORDER.indexOf(b));
  const [first, ...more] = sources;
  if (first === undefined) {
    problems.push(required(field, "must specify a volume type"));
    return;
  }
  const check = Object.hasOwn(SOURCES, first) ? SOURCES[first] : undefined;
  check?.(problems, `${field}.${first}`, partOf(volume, first));
  for (const name of more) {
    problems.push(forbidden(`${field}.${name}`, "may not specify more than 1 volume type"));
  }
}

function checkEmptyDir(problems: Problems, field: string, source: JsonObject): void {
  const limit = parseQuantity(text(source, "sizeLimit"));
  if (limit !== undefined && limit.nanos < 0n) {
    problems.push(
      forbidden(`${field}.sizeLimit`, "SizeLimit field must be a valid resource quantity"),
    );
  }
}

export function checkHostPath(problems: Problems, field: string, source: JsonObject): void {
  const path = text(source, "path");
  if (path === "") {
    problems.push(required(`${field}.path`));
  } else {
    pushBacksteps(problems, `${field}.path`, path);
  }
  const type = text(source, "type");
  if (!HOST_PATH_TYPES.includes(type)) {
    problems.push(notSupported(`${field}.type`, type, HOST_PATH_TYPES));
  }
}

export function checkNfs(problems: Problems, field: string, source: JsonObject): void {
  pushRequired(problems, `${field}.server`, text(source, "server"));
  const path = text(source, "path");
  pushRequired(problems, `${field}.path`, path);
  if (!path.startsWith("/")) {
    problems.push(invalid(`${field}.path`, path, "must be an absolute path"));
  }
}

function checkKeys(problems: Problems, field: string, source: JsonObject, nameField: string): void {
  pushRequired(problems, `${field}.${nameField}`, text(source, nameField));
  checkMode(problems, `${field}.defaultMode`, source["defaultMode"]);
  for (const [index, item] of items(source, "items").entries()) {
    checkKeyToPath(problems, `${field}.items[${index}]`, item);
  }
}

function checkKeyToPath(problems: Problems, field: string, item: JsonObject): void {
  pushRequired(problems, `${field}.key`, text(item, "key"));
  pushRequired(problems, `${field}.path`, text(item, "path"));
  checkLocalPath(problems, `${field}.path`, text(item, "path"));
  checkMode(problems, `${field}.mode`, item["mode"]);
}

function checkMode(problems: Problems, field: string, mode: unknown): void {
  if (typeof mode === "number" && (mode < 0 || mode > 0o777)) {
    problems.push(invalid(field, mode, MODE_TEXT));
  }
}

function checkDownward(problems: Problems, field: string, source: JsonObject): void {
  checkMode(problems, `${field}.defaultMode`, source["defaultMode"]);
  for (const file of items(source, "items")) checkDownwardFile(problems, field, file);
}

function checkDownwardFile(problems: Problems, field: string, file: JsonObject): void {
  const path = text(file, "path");
  pushRequired(problems, `${field}.path`, path);
  checkLocalPath(problems, `${field}.path`, path);
  const fieldRef = part(file, "fieldRef");
  const resourceRef = part(file, "resourceFieldRef");
  if (fieldRef !== undefined) {
    checkFieldRef(problems, `${field}.fieldRef`, fieldRef, VOLUME_FIELDS);
    if (resourceRef !== undefined) {
      problems.push(
        invalid(
          field,
          "resource",
          "fieldRef and resourceFieldRef can not be specified simultaneously",
        ),
      );
    }
  } else if (resourceRef === undefined) {
    problems.push(required(field, "one of fieldRef and resourceFieldRef is required"));
  } else {
    checkResourceFieldRef(problems, `${field}.resourceFieldRef`, resourceRef, true);
  }
  checkMode(problems, `${field}.mode`, file["mode"]);
}

function checkProjected(problems: Problems, field: string, source: JsonObject): void {
  checkMode(problems, `${field}.defaultMode`, source["defaultMode"]);
  const paths = new Set<string>();
  for (const [index, projection] of items(source, "sources").entries()) {
    checkProjection(problems, field, `${field}.sources[${index}]`, projection, paths);
  }
}

function checkProjection(
  problems: Problems,
  field: string,
  at: string,
  projection: JsonObject,
  paths: Set<string>,
): void {
  let sources = 0;
  const claimPath = (path: string, owner: string): void => {
    if (path === "") return;
    if (paths.has(path)) problems.push(invalid(field, owner, "conflicting duplicate paths"));
    paths.add(path);
  };
  for (const name of ["secret", "configMap"]) {
    const source = part(projection, name);
    if (source === undefined) continue;
    sources += 1;
    pushRequired(problems, `${at}.${name}.name`, text(source, "name"));
    for (const [index, item] of items(source, "items").entries()) {
      checkKeyToPath(problems, `${at}.${name}.items[${index}]`, item);
      claimPath(text(item, "path"), text(source, "name"));
    }
  }
  const downward = part(projection, "downwardAPI");
  if (downward !== undefined) {
    sources += 1;
    for (const file of items(downward, "items")) {
      checkDownwardFile(problems, `${at}.downwardAPI`, file);
      claimPath(text(file, "path"), text(file, "path"));
    }
  }
  const token = part(projection, "serviceAccountToken");
  if (token !== undefined) {
    sources += 1;
    checkToken(problems, field, `${at}.serviceAccountToken`, token);
  }
  if (sources > 1) {
    problems.push(forbidden(at, "may not specify more than 1 volume type per source"));
  }
}

function checkToken(problems: Problems, field: string, at: string, token: JsonObject): void {
  const seconds = count(token, "expirationSeconds");
  if (seconds < 600) {
    problems.push(
      invalid(
        `${at}.expirationSeconds`,
        seconds,
        "may not specify a duration less than 10 minutes",
      ),
    );
  }
  if (seconds > 2 ** 32) {
    problems.push(
      invalid(
        `${at}.expirationSeconds`,
        seconds,
        "may not specify a duration larger than 2^32 seconds",
      ),
    );
  }
  const path = text(token, "path");
  if (path === "") problems.push(required(`${field}.path`));
  else checkLocalPath(problems, `${field}.path`, path);
}

function checkEphemeral(problems: Problems, field: string, source: JsonObject): void {
  const template = part(source, "volumeClaimTemplate");
  if (template === undefined) problems.push(required(`${field}.volumeClaimTemplate`));
  else checkClaimSpec(problems, `${field}.volumeClaimTemplate.spec`, partOf(template, "spec"));
}

/** Relative, staying below where it starts. */
export function checkDescendingPath(problems: Problems, field: string, path: string): void {
  if (path.startsWith("/")) problems.push(invalid(field, path, "must be a relative path"));
  pushBacksteps(problems, field, path);
}

/** A descending path whose name is not one the volume itself uses. */
function checkLocalPath(problems: Problems, field: string, path: string): void {
  checkDescendingPath(problems, field, path);
  if (path.startsWith("..") && !path.startsWith("../")) {
    problems.push(invalid(field, path, "must not start with '..'"));
  }
}

function pushBacksteps(problems: Problems, field: string, path: string): void {
  if (hasBacksteps(path)) problems.push(invalid(field, path, "must not contain '..'"));
}

export function hasBacksteps(path: string): boolean {
  return path.includes("..") && path.split("/").includes("..");
}
