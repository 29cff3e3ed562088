/**
 * What becomes of the Secret of a bootstrap token before it is stored, whichever client made it.
 *
 * 1. The secret part is never stored: its hash takes its place, and the signature of cluster-info that only its owner can check.
 *    So every client that knows such Secrets can make tokens, and `kubectl get secret` shows none.
 * 2. A token lives for an hour at most; a longer life is shortened, with a warning. One that was taken stays taken.
 * 3. A Secret that could be no token is refused here, where its maker still sees why.
 */
import {
  type AnyObject,
  configMaps,
  type FieldError,
  invalid,
  invalidObject,
  orNothing,
} from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest, TokenCrypto } from "@lifeboat/apiserver";
import { addMs, type Clock, formatTime, parseTime } from "@lifeboat/base";
import {
  BOOTSTRAP_NAMESPACE,
  BOOTSTRAP_TYPE,
  bootstrapSecretName,
  CLUSTER_INFO,
  fieldOf,
  kubeconfigOf,
  MAX_TOKEN_LIFE_MS,
  parseBootstrapToken,
  signKubeconfig,
  toBase64,
  tokenFields,
} from "@lifeboat/core/clusters/bootstrap-tokens";
import type { Client } from "@lifeboat/kit";

export function createBootstrapTokenAdmission(
  clock: Clock,
  crypto: Pick<TokenCrypto, "sha256" | "hmacSha256">,
  client: () => Client,
): AdmissionPlugin {
  return {
    name: "BootstrapTokens",
    handles: ({ resource, operation, namespace, object }) =>
      resource.table === "/secrets" &&
      operation !== "DELETE" &&
      namespace === BOOTSTRAP_NAMESPACE &&
      object?.["type"] === BOOTSTRAP_TYPE,
    mutate: async (request) => {
      const secret = request.object as AnyObject;
      check(secret);
      const { [tokenFields.secret]: plain, ...data } = dataOf(secret);
      const hidden = plain === undefined ? {} : await hide(secret);
      return {
        ...secret,
        metadata: withoutManifest(secret.metadata),
        data: { ...data, ...hidden, ...usesOf(request.old), ...lifeOf(request, secret) },
      };
    },
  };

  /** What takes the place of the secret part. */
  async function hide(secret: AnyObject): Promise<Readonly<Record<string, string>>> {
    const token = {
      id: fieldOf(secret, tokenFields.id),
      secret: fieldOf(secret, tokenFields.secret),
    };
    const kubeconfig = kubeconfigOf(await orNothing(client().get(configMaps, CLUSTER_INFO)));
    return {
      [tokenFields.hash]: toBase64(crypto.sha256(`${token.id}.${token.secret}`)),
      ...(kubeconfig !== "" && {
        [tokenFields.signature]: toBase64(signKubeconfig(kubeconfig, token, crypto.hmacSha256)),
      }),
    };
  }

  function lifeOf(request: AdmissionRequest, secret: AnyObject): Readonly<Record<string, string>> {
    const given = fieldOf(secret, tokenFields.expiration);
    // An update that does not touch the end, such as the one that takes the token, does not touch it either.
    if (request.old !== undefined && given === fieldOf(request.old, tokenFields.expiration))
      return {};
    const latest = addMs(clock.now(), MAX_TOKEN_LIFE_MS);
    const asked = parseTime(given);
    if (asked !== undefined && asked <= latest) return {};
    request.warn(
      `the bootstrap token expires at ${formatTime(latest)}: an hour is the longest life`,
    );
    return { [tokenFields.expiration]: toBase64(formatTime(latest)) };
  }
}

/** `kubectl apply` keeps the manifest, and with it the secret part, in an annotation. */
function withoutManifest(metadata: AnyObject["metadata"]): AnyObject["metadata"] {
  if (metadata.annotations?.[APPLIED_MANIFEST] === undefined) return metadata;
  const { [APPLIED_MANIFEST]: _, ...annotations } = metadata.annotations;
  return { ...metadata, annotations };
}

const APPLIED_MANIFEST = "kubectl.kubernetes.io/last-applied-configuration";

/** A token that was taken stays taken, whatever an update sets. */
function usesOf(old: AnyObject | undefined): Readonly<Record<string, string>> {
  const { [tokenFields.usedBy]: by, [tokenFields.usedFor]: cluster } = dataOf(old);
  if (by === undefined) return {};
  return {
    [tokenFields.usedBy]: by,
    ...(cluster !== undefined && { [tokenFields.usedFor]: cluster }),
  };
}

function dataOf(secret: AnyObject | undefined): Readonly<Record<string, string>> {
  return (secret?.["data"] ?? {}) as Readonly<Record<string, string>>;
}

function check(secret: AnyObject): void {
  const id = fieldOf(secret, tokenFields.id);
  const errors: FieldError[] = [];
  const { name } = secret.metadata;
  if (!/^[a-z0-9]{6}$/.test(id))
    errors.push(invalid(`data.${tokenFields.id}`, "", "must be six characters of a-z and 0-9"));
  else if (name !== bootstrapSecretName(id))
    errors.push(invalid("metadata.name", name, `must be ${bootstrapSecretName(id)}`));
  const data = dataOf(secret);
  const hasPlain = data[tokenFields.secret] !== undefined;
  // Values of these fields are not shown: a refusal may end in a log.
  if (
    hasPlain &&
    parseBootstrapToken(`aaaaaa.${fieldOf(secret, tokenFields.secret)}`) === undefined
  )
    errors.push(
      invalid(`data.${tokenFields.secret}`, "", "must be sixteen characters of a-z and 0-9"),
    );
  if (!hasPlain && !/^[0-9a-f]{64}$/.test(fieldOf(secret, tokenFields.hash)))
    errors.push(
      invalid(`data.${tokenFields.secret}`, "", `this, or ${tokenFields.hash}, is needed`),
    );
  if (errors.length > 0) throw invalidObject({ group: "", kind: "Secret" }, name, errors);
}
