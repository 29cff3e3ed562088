/** Pins of certificate authorities: `sha256:` and the hash of the public key, as existing clients write and check them. */
import { createHash, X509Certificate } from "node:crypto";

/** The certificates of a PEM bundle. */
export function certificatesOf(bundle: string): readonly X509Certificate[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** The pin of each certificate of a bundle, in order. */
export function pinsOf(bundle: string): readonly string[] {
  return certificatesOf(bundle).map((certificate) => {
    const key = certificate.publicKey.export({ type: "spki", format: "der" });
    return `sha256:${createHash("sha256").update(key).digest("hex")}`;
  });
}
