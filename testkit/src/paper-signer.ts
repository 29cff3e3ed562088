/**
 * The signing port without keys, for the virtual clock: requests and certificates are their own facts as text, in the PEM form
 * that the API asks for. Everything is synchronous and a function of what goes in; serial numbers count.
 */
import { formatTime, instantOf, type Instant, parseTime } from "@lifeboat/base";
import type { ClientCertificate, ReadCertificateRequest, Signer } from "@lifeboat/kit";

const OIDS = { CN: "2.5.4.3", O: "2.5.4.10" } as const;

/** What a certificate on paper tells. */
export interface PaperCertificate {
  readonly serial: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly publicKey: string;
  readonly notBefore: Instant;
  readonly notAfter: Instant;
  /** The name of the authority that signed it. */
  readonly issuer: string;
}

/** A signer whose authority is asked for its name each time. */
export function createPaperSigner(authority: () => string = () => "ca"): Signer {
  let serial = 0;
  return {
    read: (pem) => {
      const facts = contentOf(pem, "CERTIFICATE REQUEST");
      return facts === undefined
        ? { refusal: "it is no request on paper" }
        : (facts as ReadCertificateRequest);
    },
    sign: (certificate: ClientCertificate) => {
      serial += 1;
      return paper("CERTIFICATE", {
        ...certificate,
        serial: serial.toString(16),
        issuer: authority(),
        notBefore: formatTime(certificate.notBefore),
        notAfter: formatTime(certificate.notAfter),
      });
    },
  };
}

/** A request on paper, PEM; `publicKey` tells it apart from others. */
export function paperRequest(
  commonName: string,
  organizations: readonly string[],
  publicKey = "key",
): string {
  const facts: ReadCertificateRequest = {
    subject: [
      ...organizations.map((value) => [{ type: OIDS.O, value }]),
      [{ type: OIDS.CN, value: commonName }],
    ],
    extensions: [],
    attributes: [],
    keyType: "ec-prime256v1",
    size: 300,
    publicKey,
  };
  return paper("CERTIFICATE REQUEST", facts);
}

/** Reads a certificate on paper; undefined when it is none. */
export function readPaperCertificate(pem: string): PaperCertificate | undefined {
  const content = contentOf(pem, "CERTIFICATE") as
    | (Omit<PaperCertificate, "notBefore" | "notAfter"> & { notBefore: string; notAfter: string })
    | undefined;
  if (content === undefined) return undefined;
  const time = (text: string): Instant => parseTime(text) ?? instantOf(0);
  return {
    ...content,
    notBefore: time(content.notBefore),
    notAfter: time(content.notAfter),
  };
}

function paper(label: string, content: object): string {
  return `-----BEGIN ${label}-----\n${btoa(JSON.stringify(content))}\n-----END ${label}-----\n`;
}

function contentOf(pem: string, label: string): unknown {
  const [, encoded] =
    new RegExp(`^-----BEGIN ${label}-----\n([A-Za-z0-9+/=]+)\n-----END ${label}-----\n$`).exec(
      pem,
    ) ?? [];
  if (encoded === undefined) return undefined;
  try {
    return JSON.parse(atob(encoded));
  } catch {
    return undefined;
  }
}
