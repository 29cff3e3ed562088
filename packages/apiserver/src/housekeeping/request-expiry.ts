/**
 * Deletes CertificateSigningRequests whose time is over: an hour after they were answered (issued, denied, failed), a day after
 * they were made otherwise.
 *
 * A deletion names the version that was old: a request that was answered meanwhile stays for its hour.
 */
import {
  type AnyObject,
  certificateSigningRequests,
  isRefused,
  type JsonObject,
} from "@lifeboat/api";
import { addMs, type Instant, parseTime } from "@lifeboat/base";
import {
  checkAgainAt,
  type Client,
  createController,
  done,
  Informer,
  type KitPorts,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";

const HOUR_MS = 3_600_000;
const ANSWERED_MS = HOUR_MS;
const PENDING_MS = 24 * HOUR_MS;

/** The informer of requests, and the controller that ends them. */
export function createRequestExpiry(ports: KitPorts, client: Client): readonly Service[] {
  const informer = new Informer<AnyObject>(ports, client, certificateSigningRequests);
  const controller = createController(ports, {
    name: "certificate-request-expiry",
    concurrency: 1,
    watches: [watching(informer, ownKey)],
    reconcile: async (key, signal) => {
      const request = informer.get(key);
      if (request === undefined) return done;
      const end = endOf(request);
      if (end === undefined) return done;
      if (end > ports.clock.now()) return checkAgainAt(end);
      const { uid, resourceVersion } = request.metadata;
      try {
        await client.delete(certificateSigningRequests, key, {
          preconditions: { uid, resourceVersion },
          signal,
        });
      } catch (error) {
        if (!isRefused(error, "NotFound")) throw error;
      }
      return done;
    },
  });
  return [informer, controller];
}

/** When a request is to go. Exported for its table test. */
export function endOf(request: AnyObject): Instant | undefined {
  const made = parseTime(request.metadata.creationTimestamp ?? "");
  if (made === undefined) return undefined;
  const status = (request["status"] ?? {}) as JsonObject;
  const conditions = (status["conditions"] ?? []) as readonly JsonObject[];
  const answers = conditions.filter(({ type }) =>
    type === "Approved" ? isIssued(status) : type === "Denied" || type === "Failed",
  );
  if (answers.length === 0) return addMs(made, PENDING_MS);
  const times = answers.map(({ lastUpdateTime }) =>
    typeof lastUpdateTime === "string" ? (parseTime(lastUpdateTime) ?? made) : made,
  );
  return addMs(
    times.reduce((latest, time) => (time > latest ? time : latest), made),
    ANSWERED_MS,
  );
}

function isIssued({ certificate }: JsonObject): boolean {
  return typeof certificate === "string" && certificate !== "";
}
