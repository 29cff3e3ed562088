/**
 * The syntax of names: each check answers what is wrong, in the server's words; an empty list means nothing.
 *
 * The patterns are run with a length check first, so that hostile input costs at most a few hundred steps.
 */

const FINE: readonly string[] = Object.freeze([]);

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const HEADER_NAME = /^[-A-Za-z0-9]+$/;

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const WILDCARD_TEXT =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
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

/** Length and pattern; both may be wrong at once. Text far beyond the limit is not matched at all. */
function checked(value: string, max: number, pattern: RegExp, rule: string): readonly string[] {
  const tooLong = value.length > max;
  const wrong = value.length > max * 4 || !pattern.test(value);
  if (!tooLong && !wrong) return FINE;
  if (!tooLong) return [rule];
  return wrong ? [tooLongText(max), rule] : [tooLongText(max)];
}

export function dnsLabel(value: string): readonly string[] {
  const problems = checked(value, 63, LABEL, LABEL_TEXT);
  // A fine subdomain that is no label has dots, and saying so helps more than the whole rule.
  if (problems.length === 1 && problems[0] === LABEL_TEXT && SUBDOMAIN.test(value)) {
    return ["must not contain dots"];
  }
  return problems;
}

export function dnsLabel1035(value: string): readonly string[] {
  return checked(value, 63, LABEL_1035, LABEL_1035_TEXT);
}

export function dnsSubdomain(value: string): readonly string[] {
  return checked(value, 253, SUBDOMAIN, SUBDOMAIN_TEXT);
}

export function wildcardSubdomain(value: string): readonly string[] {
  const fine = value.startsWith("*.") && value.length <= 1012 && SUBDOMAIN.test(value.slice(2));
  if (value.length > 253) return fine ? [tooLongText(253)] : [tooLongText(253), WILDCARD_TEXT];
  return fine ? FINE : [WILDCARD_TEXT];
}

/** `name` or `prefix/name`, as label and annotation keys are. */
export function qualifiedName(value: string): readonly string[] {
  const slash = value.indexOf("/");
  if (slash >= 0 && value.includes("/", slash + 1)) {
    return [
      `a qualified name ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const problems: string[] = [];
  if (slash === 0) problems.push("prefix part must be non-empty");
  if (slash > 0) {
    for (const message of dnsSubdomain(value.slice(0, slash))) {
      problems.push(`prefix part ${message}`);
    }
  }
  const name = slash < 0 ? value : value.slice(slash + 1);
  if (name === "") problems.push("name part must be non-empty");
  if (name.length > 63) problems.push("name part must be no more than 63 characters");
  if (name.length > 256 || !NAME_PART.test(name)) problems.push(`name part ${NAME_RULE}`);
  return problems.length === 0 ? FINE : problems;
}

export function labelValue(value: string): readonly string[] {
  if (value === "") return FINE;
  return checked(value, 63, NAME_PART, LABEL_VALUE_TEXT);
}

/** A key of a ConfigMap or Secret. */
export function configKey(value: string): readonly string[] {
  if (value === "." || value === "..") return [`must not be '${value}'`];
  const problems = checked(value, 253, CONFIG_KEY, CONFIG_KEY_TEXT);
  return value.startsWith("..") ? [...problems, "must not start with '..'"] : problems;
}

export function envName(value: string): readonly string[] {
  if (value === "") return [ENV_NAME_TEXT];
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code < 0x20 || code > 0x7e || code === 0x3d) return [ENV_NAME_TEXT];
  }
  return FINE;
}

export function headerName(value: string): readonly string[] {
  return value.length <= 8192 && HEADER_NAME.test(value) ? FINE : [HEADER_TEXT];
}

/** A name of a port, as IANA writes service names. */
export function portName(value: string): readonly string[] {
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

export function portNumber(value: number): readonly string[] {
  return value >= 1 && value <= 65535 ? FINE : ["must be between 1 and 65535, inclusive"];
}

export function percent(value: string): readonly string[] {
  return /^[0-9]+%$/.test(value) ? FINE : [PERCENT_TEXT];
}

/** `example.com/name`, as controllers and signers are named. */
export function domainPrefixedPath(value: string): readonly string[] {
  const slash = value.indexOf("/");
  if (slash <= 0 || slash === value.length - 1) {
    return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  }
  const host = dnsSubdomain(value.slice(0, slash));
  if (host.length > 0) return host;
  const path = value.slice(slash + 1);
  return /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)
    ? FINE
    : ["Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"];
}

/** A name used inside URL paths, as roles and bindings have. */
export function pathSegment(value: string): readonly string[] {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  const problems: string[] = [];
  if (value.includes("/")) problems.push("may not contain '/'");
  if (value.includes("%")) problems.push("may not contain '%'");
  return problems;
}
