/** The flags of OpenID Connect, as kube-apiserver has them. */
import { readFileSync } from "node:fs";
import { OIDC_ALGORITHMS, type OidcOptions } from "@lifeboat/apiserver/adapters";
import { UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Settings } from "./settings.ts";

export const oidcOptions: readonly OptionDefinition[] = [
  {
    name: "oidc-issuer-url",
    type: "text",
    value: "URL",
    help: "The OpenID Connect provider whose ID tokens name users; https only",
  },
  {
    name: "oidc-client-id",
    type: "text",
    value: "ID",
    help: "The client that its tokens must be for",
  },
  {
    name: "oidc-username-claim",
    type: "text",
    value: "CLAIM",
    default: "sub",
    help: "The claim that names the user",
  },
  {
    name: "oidc-username-prefix",
    type: "text",
    value: "PREFIX",
    help: "Before the user's name; default the issuer and #, none for the claim email; - for none",
  },
  {
    name: "oidc-groups-claim",
    type: "text",
    value: "CLAIM",
    help: "The claim that names the user's groups",
  },
  {
    name: "oidc-groups-prefix",
    type: "text",
    value: "PREFIX",
    help: "Before the names of groups; default none",
  },
  {
    name: "oidc-ca-file",
    type: "text",
    value: "FILE",
    help: "The authorities of the provider's certificate; default those of the system",
  },
  {
    name: "oidc-required-claim",
    type: "text",
    value: "KEY=VALUE",
    help: "Claims that a token must have; several, separated by commas",
  },
  {
    name: "oidc-signing-algs",
    type: "text",
    value: "ALGORITHMS",
    default: "RS256",
    help: "The algorithms that tokens may be signed with, separated by commas",
  },
];

/** What the flags mean; undefined: there is no provider. */
export function oidcFrom(settings: Pick<Settings, "text">): OidcOptions | undefined {
  const issuer = settings.text("oidc-issuer-url");
  const clientId = settings.text("oidc-client-id");
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined)
    throw new UsageError("--oidc-issuer-url and --oidc-client-id need each other");
  if (!URL.canParse(issuer) || new URL(issuer).protocol !== "https:")
    throw new UsageError(`--oidc-issuer-url: "${issuer}" is no https address`);
  const file = settings.text("oidc-ca-file");
  return {
    issuer,
    clientId,
    usernameClaim: settings.text("oidc-username-claim") ?? "sub",
    usernamePrefix: settings.text("oidc-username-prefix"),
    groupsClaim: settings.text("oidc-groups-claim"),
    groupsPrefix: settings.text("oidc-groups-prefix") ?? "",
    requiredClaims: claimsOf(settings.text("oidc-required-claim") ?? ""),
    authority: file === undefined ? undefined : readAuthority(file),
    algorithms: algorithmsOf(settings.text("oidc-signing-algs") ?? "RS256"),
  };
}

function claimsOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const mark = pair.indexOf("=");
      if (mark < 1)
        throw new UsageError(`--oidc-required-claim: "${pair}" is not valid: KEY=VALUE is needed`);
      return [pair.slice(0, mark), pair.slice(mark + 1)];
    }),
  );
}

function algorithmsOf(text: string): readonly string[] {
  const algorithms = text.split(",").map((algorithm) => algorithm.trim());
  for (const algorithm of algorithms)
    if (!OIDC_ALGORITHMS.includes(algorithm))
      throw new UsageError(
        `--oidc-signing-algs: "${algorithm}" is not one of ${OIDC_ALGORITHMS.join(", ")}`,
      );
  return algorithms;
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--oidc-ca-file ${file} cannot be read: ${why}`);
  }
}
