/** How clusters register beside a kube-apiserver: what approves their requests, and what signs them and cluster-info. */
import { createHmac, createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSigner, readRequest } from "@lifeboat/apiserver/adapters";
import type { TokenRegistration } from "@lifeboat/controllers/context";
import { CommandFailed, UsageError } from "../failure.ts";
import type { Settings } from "../settings.ts";

/** Absent: no cluster registers. Throws UsageError and CommandFailed. */
export function registrationFrom(settings: Settings): TokenRegistration | undefined {
  const certificateFile = settings.text("cluster-signing-cert-file");
  const keyFile = settings.text("cluster-signing-key-file");
  if ((certificateFile === undefined) !== (keyFile === undefined))
    throw new UsageError(
      "--cluster-signing-cert-file and --cluster-signing-key-file belong together: give both or none",
    );
  if (!settings.isOn("registration")) return undefined;
  const hmac = (key: string, text: string): string =>
    createHmac("sha256", key).update(text).digest("base64url");
  if (certificateFile === undefined || keyFile === undefined)
    return { signer: { read: readRequest }, hmac };
  // Once before anything runs: a file that is of no use is told to the person who named it.
  readAuthority(certificateFile, keyFile);
  // Each time anew: files that are replaced count from the next certificate on.
  return { signer: createSigner(() => readAuthority(certificateFile, keyFile)), hmac };
}

function readAuthority(certificateFile: string, keyFile: string) {
  try {
    const [certificate, key] = [certificateFile, keyFile].map((path) => readFileSync(path, "utf8"));
    const pair = { certificate: certificate ?? "", key: key ?? "" };
    if (!new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key)))
      throw new Error("the key is not that of the certificate");
    return pair;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`--cluster-signing-cert-file, --cluster-signing-key-file: ${why}`);
  }
}
