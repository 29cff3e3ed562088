/** A member model whose options can change while it runs: the old one ends, then the new one starts. */
import { equalJson } from "@lifeboat/api";
import type { Client, KitPorts, Service } from "@lifeboat/kit";
import { createMemberModel, type MemberModel, type MemberOptions } from "@lifeboat/members";

export class ReplaceableModel implements Service {
  readonly name = "member-model";
  readonly #ports: KitPorts;
  readonly #client: Client;
  #options: MemberOptions;
  #model: MemberModel | undefined;
  #stop = new AbortController();
  #podsReady = true;

  constructor(ports: KitPorts, client: Client, options: MemberOptions) {
    this.#ports = ports;
    this.#client = client;
    this.#options = options;
  }

  /** Goes on with these options; the same ones change nothing. */
  replace(options: MemberOptions): void {
    if (equalJson(options, this.#options)) return;
    this.#options = options;
    this.#stop.abort();
  }

  setPodsReady(podsReady: boolean): void {
    if (this.#podsReady === podsReady) return;
    this.#podsReady = podsReady;
    if (podsReady) this.#model?.heal();
    else this.#model?.setFault({ kind: "pods-not-ready" });
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#stop = new AbortController();
      const model = createMemberModel(this.#ports, this.#client, this.#options);
      this.#model = model;
      if (!this.#podsReady) model.setFault({ kind: "pods-not-ready" });
      await model.run(AbortSignal.any([signal, this.#stop.signal]));
    }
  }
}
