/**
 * A key and the request for its certificate (PKCS #10), made with node:crypto alone: an agent loads this, and it has to stay
 * small. The key is elliptic curve P-256 and leaves this process only by the caller's hand.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { der } from "@lifeboat/base/adapters";

/** The subject that a certificate is asked for. */
export interface RequestedSubject {
  /** The user. */
  readonly commonName: string;
  /** The user's groups. */
  readonly organizations: readonly string[];
}

/** Both PEM. */
export interface RequestAndKey {
  readonly request: string;
  readonly key: string;
}

/** Makes a new key and signs a request for its certificate with it. */
export function makeCertificateRequest(subject: RequestedSubject): RequestAndKey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const body = der.sequence(
    der.integer(Buffer.from([0])),
    der.name([
      ...subject.organizations.map((organization) => ["O", organization] as const),
      ["CN", subject.commonName],
    ]),
    publicKey.export({ type: "spki", format: "der" }),
    der.tagged(0xa0, Buffer.alloc(0)),
  );
  const signature = der.bitString(sign("sha256", body, privateKey), 0);
  return {
    request: der.pem("CERTIFICATE REQUEST", der.sequence(body, der.ECDSA_SHA256, signature)),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
