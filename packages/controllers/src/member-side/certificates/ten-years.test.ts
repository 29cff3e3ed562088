/**
 * Ten years of rotation on the virtual clock: two instances of each agent renew the certificate that they share, the authority is replaced every two years, and no
 * call is ever refused. Rotation alone: what answers is the decision and the signer, without an API server around them.
 */
import { type AnyObject, failure, notFound, Refused, type Resource } from "@lifeboat/api";
import { addMs, createRandom, type Instant, instantOf, sleep, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import {
  bundleMark,
  CA_BUNDLE,
  CERTIFICATE_SKEW_MS,
  decideRequest,
  shareLeft,
} from "@lifeboat/core/clusters/certificates";
import { AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import { type Client, NotSent, silentLog, silentMetrics } from "@lifeboat/kit";
import { createPaperSigner, paperRequest, readPaperCertificate, wrapped } from "@lifeboat/testkit";
import { expect, test } from "vitest";
import { type AgentPair, createCertificateRenewal } from "./create-certificate-renewal.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const START = instantOf(Date.UTC(2026, 0, 1));

test("no certificate lapses in ten years", async () => {
  const clock = new VirtualClock(START, drainPromises);
  const random = createRandom(7);
  let authorities: readonly string[] = ["ca1"];
  const signer = createPaperSigner(() => authorities[0] ?? "");
  const marks = new Map<string, string>();
  const used = { refusals: 0, renewals: 0, issued: 0, least: 1 };
  const ports = { clock, log: silentLog, metrics: silentMetrics };
  const stop = new AbortController();
  const names = ["a", "b"];
  const running = names.flatMap((cluster) => {
    const user = agentUser(cluster);
    const sign = (publicKey: string, notAfter: Instant): string =>
      signer.sign({
        user,
        groups: [AGENTS_GROUP],
        publicKey,
        notBefore: addMs(clock.now(), -CERTIFICATE_SKEW_MS),
        notAfter,
      });
    // As the Secret of the member that both read and write.
    let kept: AgentPair = {
      certificate: sign("0", addMs(START, DAY)),
      key: "0",
      bundle: authorities.join("\n"),
    };
    let request: AnyObject | undefined;
    const runInstance = (instance: string): Promise<void> => {
      let pair = kept;
      const check = (): void => {
        const read = readPaperCertificate(pair.certificate);
        const isTrusting = pair.bundle.split("\n").includes(authorities[0] ?? "");
        const isTrusted =
          read?.publicKey === pair.key &&
          authorities.includes(read.issuer) &&
          read.notAfter > clock.now();
        if (isTrusting && isTrusted) {
          used.least = Math.min(used.least, shareLeft(read, clock.now()));
          return;
        }
        used.refusals += 1;
        if (!isTrusting) throw new NotSent("the authority is not trusted");
        throw new Refused(failure(401, "Unauthorized", "Unauthorized"));
      };
      // Nothing else of a client is asked for here.
      const nothing = {} as Client;
      const plane = wrapped(nothing, {
        get: (async (resource: Resource, key: { readonly name: string }) => {
          check();
          if (resource.plural === "configmaps")
            return {
              data: {
                kubeconfig: `clusters: [{cluster: {certificate-authority-data: ${btoa(authorities.join("\n"))}}}]`,
              },
            };
          if (request === undefined) throw notFound(resource, key.name);
          return request;
        }) as unknown as Client["get"],
        delete: (async () => {
          check();
          request = undefined;
        }) as unknown as Client["delete"],
        patch: (async (
          _resource: Resource,
          _key: unknown,
          { body }: { readonly body: AnyObject },
        ) => {
          check();
          marks.set(cluster, body.metadata.annotations?.[CA_BUNDLE] ?? "");
          return {};
        }) as unknown as Client["patch"],
        create: (async (_resource: Resource, asked: AnyObject) => {
          check();
          const spec = asked["spec"] as {
            readonly request: string;
            readonly signerName: string;
            readonly usages: readonly string[];
            readonly expirationSeconds: number;
          };
          const read = signer.read(atob(spec.request));
          const view = {
            signer: spec.signerName,
            made: clock.now(),
            user,
            groups: [AGENTS_GROUP],
            usages: spec.usages,
            expirationSeconds: spec.expirationSeconds,
            isApproved: false,
            isAnswered: false,
            read,
            cluster: "pull",
            registration: undefined,
            isLeaving: false,
            tombstone: undefined,
            revoked: undefined,
            isSignedElsewhere: false,
            isDetectorRegistered: false,
          } as const;
          expect(decideRequest(view, clock.now()).kind).toBe("approve");
          const plan = decideRequest({ ...view, isApproved: true }, clock.now());
          if (plan.kind !== "sign" || "refusal" in read) throw new Error(plan.reason);
          const certificate = sign(read.publicKey, plan.certificate.notAfter);
          used.issued += 1;
          request = {
            ...asked,
            metadata: { ...asked.metadata, uid: `${used.issued}` },
            status: { certificate: btoa(certificate) },
          } as unknown as AnyObject;
          return request;
        }) as unknown as Client["create"],
      });
      let keys = 0;
      return createCertificateRenewal(
        {
          ...ports,
          random: random.fork(instance),
          plane,
          makeRequest: ({ commonName, organizations }) => {
            keys += 1;
            const key = `${instance}-${keys}`;
            return { request: paperRequest(commonName, organizations, key), key };
          },
          readCertificate: readPaperCertificate,
          isPair: ({ certificate, key }) => readPaperCertificate(certificate)?.publicKey === key,
          save: (next) => {
            kept = next;
            return Promise.resolve();
          },
          kept: () => Promise.resolve(kept),
          use: (next) => {
            if (next.certificate !== pair.certificate) used.renewals += 1;
            pair = next;
          },
        },
        { cluster, pair, lookEveryMs: 6 * HOUR },
      ).run(stop.signal);
    };
    return ["1", "2"].map((n) => runInstance(`${cluster}${n}`));
  });

  const rotations = (async () => {
    for (let n = 2; await sleep(clock, 2 * YEAR, stop.signal); n++) {
      const [current = ""] = authorities;
      const next = `ca${n}`;
      authorities = [current, next];
      // As the command does: the next one signs when all agents trust it, and the old one goes when no certificate is by it.
      while (names.some((name) => marks.get(name) !== bundleMark(authorities.join("\n"))))
        if (!(await sleep(clock, HOUR, stop.signal))) return;
      authorities = [next, current];
      if (!(await sleep(clock, 2 * DAY, stop.signal))) return;
      authorities = [next];
    }
  })();

  await clock.advance(10 * YEAR + 30 * DAY);
  expect(used.refusals).toBe(0);
  expect(authorities).toEqual(["ca6"]);
  // Every 16.8 to 19.2 of 24 hours, for two agents with two instances each.
  expect(used.renewals / 4 / 3680).toBeGreaterThan(24 / 19.3);
  expect(used.renewals / 4 / 3680).toBeLessThan(24 / 16.8);
  // One asks for both.
  expect(used.issued).toBe(used.renewals / 2);
  expect(used.least).toBeGreaterThan(0.19);
  stop.abort();
  await Promise.all([...running, rotations]);
});
