/** Validation of security contexts, of a container and of a whole pod. */
import { duplicate, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { isAbsent, items, part, type Problems, pushUnsupported, text, texts } from "./fields.ts";

const ID_TEXT = "must be between 0 and 2147483647, inclusive";
const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_TEXT =
  "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

export function checkSecurityContext(
  problems: Problems,
  field: string,
  context: JsonObject | undefined,
): void {
  if (context === undefined) return;
  checkId(problems, `${field}.runAsUser`, context["runAsUser"]);
  checkId(problems, `${field}.runAsGroup`, context["runAsGroup"]);
  const mount = context["procMount"];
  if (!isAbsent(mount)) {
    pushUnsupported(problems, `${field}.procMount`, mount, ["Default", "Unmasked"]);
  }
  checkSeccomp(problems, `${field}.seccompProfile`, part(context, "seccompProfile"));
  if (context["allowPrivilegeEscalation"] !== false) return;
  if (context["privileged"] === true) {
    problems.push(
      invalid(
        field,
        context,
        "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
      ),
    );
  }
  if (texts(part(context, "capabilities"), "add").includes("CAP_SYS_ADMIN")) {
    problems.push(
      invalid(
        field,
        context,
        "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
      ),
    );
  }
}

/** The security context of a pod. Some of its fields live on the pod spec but are reported here. */
export function checkPodSecurity(problems: Problems, field: string, spec: JsonObject): void {
  const context = part(spec, "securityContext");
  const at = `${field}.securityContext`;
  checkId(problems, `${at}.fsGroup`, context?.["fsGroup"]);
  checkId(problems, `${at}.runAsUser`, context?.["runAsUser"]);
  checkId(problems, `${at}.runAsGroup`, context?.["runAsGroup"]);
  const groups = context?.["supplementalGroups"];
  if (Array.isArray(groups)) {
    for (const [index, group] of groups.entries()) {
      checkId(problems, `${at}.supplementalGroups[${index}]`, group);
    }
  }
  if (spec["hostPID"] === true && spec["shareProcessNamespace"] === true) {
    problems.push(
      invalid(
        `${at}.shareProcessNamespace`,
        true,
        "ShareProcessNamespace and HostPID cannot both be enabled",
      ),
    );
  }
  if (context === undefined) return;
  checkSysctls(problems, `${at}.sysctls`, items(context, "sysctls"));
  const policy = context["fsGroupChangePolicy"];
  if (!isAbsent(policy)) {
    pushUnsupported(problems, `${at}.fsGroupChangePolicy`, policy, ["Always", "OnRootMismatch"]);
  }
  checkSeccomp(problems, `${at}.seccompProfile`, part(context, "seccompProfile"));
}

function checkId(problems: Problems, field: string, id: unknown): void {
  if (typeof id === "number" && (id < 0 || id > 2_147_483_647)) {
    problems.push(invalid(field, id, ID_TEXT));
  }
}

function checkSysctls(problems: Problems, field: string, sysctls: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, sysctl] of sysctls.entries()) {
    const at = `${field}[${index}].name`;
    const name = text(sysctl, "name");
    if (name === "") problems.push(required(at));
    else if (name.length > 253 || !SYSCTL.test(name)) problems.push(invalid(at, name, SYSCTL_TEXT));
    else if (names.has(name)) problems.push(duplicate(at, name));
    names.add(name);
  }
}

function checkSeccomp(problems: Problems, field: string, profile: JsonObject | undefined): void {
  if (profile === undefined) return;
  const type = text(profile, "type");
  const local = profile["localhostProfile"];
  if (type === "") {
    problems.push(required(`${field}.type`, "type is required when seccompProfile is set"));
  } else if (type !== "Localhost" && type !== "RuntimeDefault" && type !== "Unconfined") {
    problems.push(
      notSupported(`${field}.type`, type, ["Localhost", "RuntimeDefault", "Unconfined"]),
    );
  }
  if (type === "Localhost" && isAbsent(local)) {
    problems.push(
      required(`${field}.localhostProfile`, "must be set when seccomp type is Localhost"),
    );
  }
  if (type !== "Localhost" && !isAbsent(local)) {
    problems.push(
      invalid(
        `${field}.localhostProfile`,
        { Type: type, LocalhostProfile: local },
        "can only be set when seccomp type is Localhost",
      ),
    );
  }
}
