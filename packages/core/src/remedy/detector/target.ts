/**
 * What the probes over HTTP and TCP are given, and what counts as an answer. The target stands in a manifest in the member, so it holds
 * no password.
 */

/** The host without brackets, and the port; undefined: the text is no `HOST:PORT`. */
export function parseTcpTarget(
  text: string,
): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]@?#]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** undefined: the text is no http or https URL, or holds a user or password. */
export function parseHttpTarget(text: string): URL | undefined {
  if (!/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username === "" && url.password === "" ? url : undefined;
}

/** As kubelet judges: success and redirection are health. A redirection is not followed. */
export function isHealthyStatus(code: number | undefined): boolean {
  return code !== undefined && code >= 200 && code < 400;
}
