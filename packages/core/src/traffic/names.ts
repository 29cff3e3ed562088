/**
 * Which hosts, paths, names and addresses of an ingress may reach a load balancer. Everything here is written by users or
 * reported by members, and becomes configuration: what is not plainly one of these forms is refused, never escaped.
 */

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]{0,1023}$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^(?=.*:.*:)[0-9A-Fa-f:]{2,39}(?:\d{1,3}(?:\.\d{1,3}){3})?$/;
/** A last label in digits, also hexadecimal: resolvers read such a name as an address in numbers, which was not judged then. */
const NUMBER_LIKE = /(?:^|\.)(?:\d+|0x[\da-f]*)$/;

/** Whether a text is a label of a DNS name: names of Services, clusters and ports. */
export function isLabel(text: string): boolean {
  return LABEL.test(text);
}

/** Whether a text is a DNS name of labels. */
export function isDnsName(text: string): boolean {
  return text.length <= 253 && text.split(".").every(isLabel);
}

/** Whether an ingress may be for this host: a DNS name, or `*.` and one; "" is any host. */
export function isHost(text: string): boolean {
  return text === "" || isDnsName(text.startsWith("*.") ? text.slice(2) : text);
}

/** Whether an ingress may be for this path: it begins with "/" and has no segment that leads upwards. */
export function isPath(text: string): boolean {
  return PATH.test(text) && !leadsUpwards(text);
}

/** Whether a path has a segment `.` or `..`, written out or in percent form: backends may read it as another path. */
export function leadsUpwards(path: string): boolean {
  if (!path.includes(".") && !/%2e/i.test(path)) return false;
  return path.split(/\/|%2f|\\|%5c/i).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

/** Whether a text is an address in numbers. */
export function isNumericAddress(text: string): boolean {
  return IPV4.test(text) || IPV6.test(text);
}

/** Whether a backend may be reached at this address: a number or a DNS name. */
export function isAddress(text: string): boolean {
  return isNumericAddress(text) || (isDnsName(text) && !NUMBER_LIKE.test(text));
}

export function isPort(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value < 65_536;
}
