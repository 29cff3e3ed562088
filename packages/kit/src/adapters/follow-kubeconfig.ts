/**
 * The way to one API server for a process that runs for long: its kubeconfig is read again once a minute, and at once after a
 * 401, so that certificates, tokens and the authority of the server can be replaced while it runs.
 *
 * 1. What cannot be read leaves the last good credential in place.
 * 2. A kubeconfig that names another server is not followed: a credential is for the server that it was given for.
 */
import { equalJson } from "@lifeboat/api";
import type { Access } from "../kubeconfig.ts";
import {
  createCredentialSource,
  type Credential,
  type CredentialPorts,
  type CredentialSource,
  readText,
  REREAD_MS,
} from "./credentials.ts";
import type { HttpClientConfig } from "./http-client.ts";
import { httpConfigOf } from "./load-kubeconfig.ts";

/** `load` reads the access; throws KubeconfigError when it cannot the first time. */
export async function followAccess(
  ports: CredentialPorts,
  load: () => Promise<Access>,
  userAgent: string,
): Promise<HttpClientConfig> {
  const access = await load();
  const config = await httpConfigOf(ports, access, userAgent);
  return { ...config, credentials: new FollowedCredential(ports, load, access) };
}

class FollowedCredential implements CredentialSource {
  readonly #ports: CredentialPorts;
  readonly #load: () => Promise<Access>;
  #access: Access;
  #source: CredentialSource;
  #authority: string | undefined;
  #readAt: number;
  #reading: Promise<boolean> | undefined;

  constructor(ports: CredentialPorts, load: () => Promise<Access>, access: Access) {
    this.#ports = ports;
    this.#load = load;
    this.#access = access;
    this.#source = createCredentialSource(ports, access.cluster, access.user);
    this.#readAt = ports.clock.monotonic();
  }

  async current(): Promise<Credential> {
    if (this.#ports.clock.monotonic() - this.#readAt >= REREAD_MS) await this.#read();
    const credential = await this.#source.current();
    return this.#authority === undefined
      ? credential
      : { ...credential, certificateAuthority: this.#authority };
  }

  async refresh(): Promise<boolean> {
    const isOther = await this.#read();
    return (await this.#source.refresh()) || isOther;
  }

  /** Reads once, however many callers ask; answers whether something differs. */
  #read(): Promise<boolean> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<boolean> {
    this.#readAt = this.#ports.clock.monotonic();
    let access: Access;
    let authority: string | undefined;
    try {
      access = await this.#load();
      authority = await readText(access.cluster.certificateAuthority);
    } catch {
      // Being replaced, or gone: what is known is used until the server refuses it, and its refusal names the reason.
      return false;
    }
    if (access.cluster.server !== this.#access.cluster.server) return false;
    const isOther = !equalJson(access, this.#access);
    const isOtherAuthority = authority !== this.#authority && this.#authority !== undefined;
    this.#authority = authority;
    if (isOther) {
      this.#access = access;
      this.#source = createCredentialSource(this.#ports, access.cluster, access.user);
    }
    return isOther || isOtherAuthority;
  }
}
