/**
 * The part of a member's CoreDNS configuration that makes the federation's names known there.
 *
 * 1. Only `<federation>.svc.<zone>` is forwarded: the cluster's own names never leave it.
 * 2. Names of sets without global identities are rewritten to the cluster's own names and answered there, as the cluster
 *    would answer them without the federation.
 * 3. Addresses are looked up by the federation's servers only in networks that an operator names: the others are the cluster's.
 */
import { apexOf, type ZoneSettings } from "./records.ts";

export interface StanzaView extends ZoneSettings {
  /** Where servers of the federation's zone answer: `address` or `address:port`. */
  readonly servers: readonly string[];
  /** Networks whose addresses are looked up there, too. */
  readonly reverse: readonly string[];
  /** The member's own domain. */
  readonly clusterDomain: string;
  /** Namespaces and names of governing Services, and sets, of federated sets without global names. */
  readonly local: readonly { readonly namespace: string; readonly service: string }[];
}

export function coreDnsStanza(view: StanzaView): string {
  const { servers, reverse, clusterDomain, local } = view;
  const apex = apexOf(view);
  const rewrites = local.flatMap(({ namespace, service }) => {
    const pattern = `(.*\\.)?${escaped(`${service}.${namespace}.${apex}`)}\\.?`;
    const own = `${service}.${namespace}.svc.${clusterDomain}`;
    return [
      `    rewrite stop {`,
      `        name regex ^${pattern}$ {1}${own}`,
      `        answer name ^(.*\\.)?${escaped(own)}\\.$ {1}${service}.${namespace}.${apex}.`,
      `        answer value ^(.*\\.)?${escaped(own)}\\.$ {1}${service}.${namespace}.${apex}.`,
      `    }`,
    ];
  });
  // A name that was rewritten is no longer the federation's: the cluster's own part of the configuration answers it.
  const own = local.length === 0 ? [] : [`    forward ${clusterDomain} 127.0.0.1:53`];
  return [
    `${apex}:53 {`,
    `    errors`,
    ...rewrites,
    `    forward ${apex} ${servers.join(" ")}`,
    ...own,
    `    cache 5`,
    `}`,
    ...reverse.flatMap((network) => [
      `${network}:53 {`,
      `    errors`,
      `    forward . ${servers.join(" ")}`,
      `    cache 5`,
      `}`,
    ]),
    ``,
  ].join("\n");
}

function escaped(name: string): string {
  return name.replaceAll(".", "\\.");
}
