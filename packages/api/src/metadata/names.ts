/**
 * What is wrong with a name, a label or a key, in the words of a Kubernetes API server.
 *
 * Every function answers a list of problems, empty when the text is fine. Lengths count UTF-8 bytes. The checks walk
 * over the characters instead of using regular expressions: they run on every write, and hostile input must not be
 * able to make them slow.
 */

/** How the objects of a kind may be named. */
export type NameRule = "dnsSubdomain" | "dnsLabel" | "dns1035Label" | "pathSegment";

const NONE: readonly string[] = [];

const LABEL_PATTERN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_PATTERN = `${LABEL_PATTERN}(\\.${LABEL_PATTERN})*`;
const DNS1035_PATTERN = "[a-z]([-a-z0-9]*[a-z0-9])?";
const KEY_PATTERN = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  `with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL_PATTERN}')`;
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
  `and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN_PATTERN}')`;
const DNS1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
  `and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${DNS1035_PATTERN}')`;
const WILDCARD_TEXT =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of " +
  "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', " +
  `regex used for validation is '\\*\\.${SUBDOMAIN_PATTERN}')`;
const KEY_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  `(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${KEY_PATTERN}')`;
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  `end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${KEY_PATTERN})?')`;

/** What is wrong with an object's name. With `isPrefix` the text is a `generateName`, to which more will be added. */
export function nameProblems(rule: NameRule, name: string, isPrefix = false): readonly string[] {
  if (rule === "pathSegment") return pathSegmentProblems(name, isPrefix);
  const checked = isPrefix ? withoutTrailingDash(name) : name;
  if (rule === "dnsLabel") return dnsLabelProblems(checked);
  return rule === "dns1035Label" ? dns1035LabelProblems(checked) : dnsSubdomainProblems(checked);
}

/** A label of at most 63 bytes: namespaces, and the names of many kinds. */
export function dnsLabelProblems(value: string): readonly string[] {
  const tooLong = utf8Length(value) > 63;
  if (!tooLong && isDnsLabel(value)) return NONE;
  const problems = tooLong ? [maxLength(63, "characters")] : [];
  if (isDnsLabel(value)) return problems;
  problems.push(isDnsSubdomain(value) ? "must not contain dots" : LABEL_TEXT);
  return problems;
}

/** Labels joined by dots, at most 253 bytes: the names of most kinds. */
export function dnsSubdomainProblems(value: string): readonly string[] {
  return subdomainProblems(value, "characters");
}

function subdomainProblems(value: string, unit: "bytes" | "characters"): readonly string[] {
  const tooLong = utf8Length(value) > 253;
  const wellFormed = isDnsSubdomain(value);
  if (!tooLong && wellFormed) return NONE;
  const problems = tooLong ? [maxLength(253, unit)] : [];
  if (!wellFormed) problems.push(SUBDOMAIN_TEXT);
  return problems;
}

/** A subdomain behind `*.`, as hosts of an Ingress may be. */
export function wildcardSubdomainProblems(value: string): readonly string[] {
  const tooLong = utf8Length(value) > 253;
  const wellFormed = value.startsWith("*.") && isDnsSubdomain(value.slice(2));
  if (!tooLong && wellFormed) return NONE;
  const problems = tooLong ? [maxLength(253, "characters")] : [];
  if (!wellFormed) problems.push(WILDCARD_TEXT);
  return problems;
}

/** A label that starts with a letter, as Services are named. */
export function dns1035LabelProblems(value: string): readonly string[] {
  const tooLong = utf8Length(value) > 63;
  const wellFormed = isDnsLabel(value) && !isDigit(value.charCodeAt(0));
  if (!tooLong && wellFormed) return NONE;
  const problems = tooLong ? [maxLength(63, "characters")] : [];
  if (!wellFormed) problems.push(DNS1035_TEXT);
  return problems;
}

/** What can stand between two slashes of a URL: the names of roles and bindings. */
export function pathSegmentProblems(name: string, isPrefix = false): readonly string[] {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  const problems = ["/", "%"]
    .filter((sign) => name.includes(sign))
    .map((sign) => `may not contain '${sign}'`);
  return problems.length === 0 ? NONE : problems;
}

/** What Kubernetes also calls a qualified name: label keys, finalizers, resource names. `name` or `example.com/name`. */
export function labelKeyProblems(key: string): readonly string[] {
  const slash = key.indexOf("/");
  if (slash !== key.lastIndexOf("/"))
    return [
      `a valid label key ${KEY_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = slash < 0 ? key : key.slice(slash + 1);
  const problems: string[] = [];
  if (slash === 0) problems.push("prefix part must be non-empty");
  if (slash > 0)
    problems.push(
      ...subdomainProblems(key.slice(0, slash), "bytes").map((text) => `prefix part ${text}`),
    );
  if (name === "") problems.push("name part must be non-empty");
  else if (utf8Length(name) > 63) problems.push(`name part ${maxLength(63, "bytes")}`);
  if (!isKeyName(name)) problems.push(`name part ${KEY_TEXT}`);
  return problems.length === 0 ? NONE : problems;
}

/** The value of a label; it may be empty. */
export function labelValueProblems(value: string): readonly string[] {
  const tooLong = utf8Length(value) > 63;
  const wellFormed = value === "" || isKeyName(value);
  if (!tooLong && wellFormed) return NONE;
  const problems = tooLong ? [maxLength(63, "bytes")] : [];
  if (!wellFormed) problems.push(VALUE_TEXT);
  return problems;
}

/** How many bytes a text takes in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    bytes += code < 0x800 ? 1 : 2;
    // The second half of a pair is counted with the first: four bytes for both.
    if (isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(i + 1))) i += 1;
  }
  return bytes;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}

/** Servers count bytes everywhere, but say so only of keys and labels. */
function maxLength(length: number, unit: "bytes" | "characters"): string {
  return `must be no more than ${length} ${unit}`;
}

/** A `generateName` may end in a dash; Kubernetes looks at it with the last two characters replaced by one. */
function withoutTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}

function isDnsLabel(value: string): boolean {
  return value.length > 0 && isLabelBetween(value, 0, value.length);
}

function isDnsSubdomain(value: string): boolean {
  let start = 0;
  for (;;) {
    const dot = value.indexOf(".", start);
    const end = dot < 0 ? value.length : dot;
    if (!isLabelBetween(value, start, end)) return false;
    if (dot < 0) return true;
    start = dot + 1;
  }
}

function isLabelBetween(value: string, start: number, end: number): boolean {
  if (start >= end) return false;
  if (!isLowerOrDigit(value.charCodeAt(start)) || !isLowerOrDigit(value.charCodeAt(end - 1)))
    return false;
  for (let i = start; i < end; i++) {
    const code = value.charCodeAt(i);
    if (!isLowerOrDigit(code) && code !== 0x2d) return false;
  }
  return true;
}

function isKeyName(name: string): boolean {
  const last = name.length - 1;
  if (last < 0 || !isAlphanumeric(name.charCodeAt(0)) || !isAlphanumeric(name.charCodeAt(last)))
    return false;
  for (let i = 1; i < last; i++) {
    const code = name.charCodeAt(i);
    const isInner = code === 0x2d || code === 0x2e || code === 0x5f;
    if (!isInner && !isAlphanumeric(code)) return false;
  }
  return true;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isLowerOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || isDigit(code);
}

function isAlphanumeric(code: number): boolean {
  return isLowerOrDigit(code) || (code >= 0x41 && code <= 0x5a);
}
