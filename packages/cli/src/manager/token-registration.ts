/**
 * How clusters register beside a kube-apiserver: their requests are read and approved here, and cluster-info is signed here.
 * Certificates are signed by kube-controller-manager: a key that can make any client of the API server does not belong in this process.
 */
import { createHmac } from "node:crypto";
import { readRequest } from "@lifeboat/apiserver/adapters";
import type { TokenRegistration } from "@lifeboat/controllers/context";

export const tokenRegistration: TokenRegistration = Object.freeze({
  signer: { read: readRequest },
  hmac: (key: string, text: string): string =>
    createHmac("sha256", key).update(text).digest("base64url"),
});
