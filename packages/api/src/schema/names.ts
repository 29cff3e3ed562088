/** The two rules for names that CustomResourceDefinitions need, with the sentences of a Kubernetes API server. */

const LABEL_1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN_1123 = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** What is wrong with a DNS-1035 label; nothing when it is one. */
export function dns1035LabelErrors(value: string): readonly string[] {
  const errors: string[] = [];
  if (value.length > 63) errors.push("must be no more than 63 bytes");
  if (!LABEL_1035.test(value)) {
    errors.push(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    );
  }
  return errors;
}

/** What is wrong with an RFC 1123 subdomain; nothing when it is one. */
export function dns1123SubdomainErrors(value: string): readonly string[] {
  const errors: string[] = [];
  if (value.length > 253) errors.push("must be no more than 253 bytes");
  if (!SUBDOMAIN_1123.test(value)) {
    errors.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  }
  return errors;
}
