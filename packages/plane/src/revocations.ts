/**
 * Which clients' certificates are void (core/clusters/certificates), for the transport: it asks on each request, and ends open
 * connections when a revocation is written.
 *
 * Answers come from the store itself, not from a cache that may be behind: what is revoked is refused from the moment at
 * which the revocation was answered, also right after a start.
 */
import { type AnyObject, configMaps } from "@lifeboat/api";
import type { ApiServer } from "@lifeboat/apiserver";
import { addMs, instantOf } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import {
  CERTIFICATE_SKEW_MS,
  NO_REVOCATIONS,
  readRevocations,
  type Refusal,
  refusalOf,
  REVOKED_NAME,
  REVOKED_NAMESPACE,
  TOMBSTONE,
  tombstoneNameFor,
} from "@lifeboat/core/clusters/certificates";
import { type Client, Informer, type KitPorts, type Service } from "@lifeboat/kit";

/** A certificate that a client presents, as the transport knows it. */
export interface ClientCertificateFacts {
  readonly serial: string;
  readonly user: string;
  readonly validFrom: number;
}

export interface Revocations {
  /** Why it is void; undefined: it counts. */
  refusalOf(certificate: ClientCertificateFacts): Refusal | undefined;
  /** Called after each change that may make certificates void. */
  onChange(listener: () => void): void;
}

export interface RunningRevocations extends Revocations {
  readonly services: readonly Service[];
}

export function createRevocations(
  ports: KitPorts,
  server: Pick<ApiServer, "stored">,
  plane: Client,
): RunningRevocations {
  const listeners: (() => void)[] = [];
  const changed = (): void => listeners.forEach((listener) => listener());
  const byHand = new Informer<AnyObject>(ports, plane, configMaps, {
    namespace: REVOKED_NAMESPACE,
    fieldSelector: `metadata.name=${REVOKED_NAME}`,
  });
  const tombstones = new Informer<AnyObject>(ports, plane, configMaps, {
    namespace: wellKnown.CLUSTER_NAMESPACE,
    labelSelector: TOMBSTONE,
  });
  for (const informer of [byHand, tombstones]) informer.onChange(changed);
  let known: AnyObject | undefined;
  let read = NO_REVOCATIONS;
  return {
    services: [byHand, tombstones],
    onChange: (listener) => listeners.push(listener),
    refusalOf: ({ serial, user, validFrom }) => {
      const object = server.stored(configMaps, {
        namespace: REVOKED_NAMESPACE,
        name: REVOKED_NAME,
      });
      if (object !== known) {
        known = object;
        read = readRevocations(object);
      }
      const name = tombstoneNameFor(user);
      const tombstone =
        name === undefined
          ? undefined
          : server.stored(configMaps, { namespace: wellKnown.CLUSTER_NAMESPACE, name });
      const issued = addMs(instantOf(validFrom), CERTIFICATE_SKEW_MS);
      return refusalOf({ serial, user, issued }, read, tombstone);
    },
  };
}
