/**
 * The syntax of texts and numbers that only fields of built-in kinds have: keys of ConfigMaps, environment variables,
 * headers, ports, percentages. Names, labels and their keys: metadata/names.ts.
 *
 * Each check answers what is wrong, in the server's words; an empty list means nothing. The patterns take linear time.
 */
import { dnsSubdomainProblems, utf8Length } from "../../metadata/names.ts";

const NONE: readonly string[] = Object.freeze([]);

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const HEADER_NAME = /^[-A-Za-z0-9]+$/;

const CONFIG_KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const ENV_NAME_TEXT =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";
const HEADER_TEXT =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

function tooLongText(max: number): string {
  return `must be no more than ${max} characters`;
}

/** A key of a ConfigMap or Secret. */
export function configKeyProblems(value: string): readonly string[] {
  if (value === "." || value === "..") return [`must not be '${value}'`];
  const tooLong = utf8Length(value) > 253;
  const wellFormed = CONFIG_KEY.test(value);
  const climbs = value.startsWith("..");
  if (!tooLong && wellFormed && !climbs) return NONE;
  const problems = tooLong ? [tooLongText(253)] : [];
  if (!wellFormed) problems.push(CONFIG_KEY_TEXT);
  if (climbs) problems.push("must not start with '..'");
  return problems;
}

/** The name of an environment variable. */
export function envNameProblems(value: string): readonly string[] {
  if (value === "") return [ENV_NAME_TEXT];
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code < 0x20 || code > 0x7e || code === 0x3d) return [ENV_NAME_TEXT];
  }
  return NONE;
}

/** The name of an HTTP header. */
export function headerNameProblems(value: string): readonly string[] {
  return HEADER_NAME.test(value) ? NONE : [HEADER_TEXT];
}

/** A name of a port, as IANA writes service names. */
export function portNameProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (value.length > 15) problems.push(tooLongText(15));
  if (!/^[-a-z0-9]*$/.test(value)) {
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (value === "" || !/[a-z]/.test(value)) problems.push("must contain at least one letter (a-z)");
  if (value.includes("--")) problems.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) {
    problems.push("must not begin or end with a hyphen");
  }
  return problems;
}

/** The number of a port. */
export function portNumberProblems(value: number): readonly string[] {
  return value >= 1 && value <= 65535 ? NONE : ["must be between 1 and 65535, inclusive"];
}

/** A percentage, such as `25%`. */
export function percentProblems(value: string): readonly string[] {
  return /^[0-9]+%$/.test(value) ? NONE : [PERCENT_TEXT];
}

/** `example.com/name`, as controllers and signers are named. */
export function domainPrefixedPathProblems(value: string): readonly string[] {
  const slash = value.indexOf("/");
  if (slash <= 0 || slash === value.length - 1) {
    return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  }
  const host = dnsSubdomainProblems(value.slice(0, slash));
  if (host.length > 0) return host;
  const path = value.slice(slash + 1);
  return /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)
    ? NONE
    : ["Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"];
}
