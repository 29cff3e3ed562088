/**
 * A network namespace without a wire, in which a process finds chosen loopback ports of this machine at the same addresses, by
 * relays: what it depends on can be cut off from it alone, and nothing else of the machine is changed. It needs root and iproute2.
 */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openRelay, type Relay } from "../../packages/cli/src/members/relay.ts";
import { ip, tried } from "./network-namespaces.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "./processes.ts";
import { startAll, type Started } from "./started.ts";

const CHILD = fileURLToPath(new URL("relay-child.ts", import.meta.url));

export class LonelyPlace {
  /** A program and its arguments that runs the command given after them in this namespace. */
  readonly under: readonly string[];
  readonly #directory: string;
  readonly #started: Started;
  readonly #relays: Relay[] = [];

  private constructor(name: string, directory: string, started: Started) {
    this.under = ["ip", "netns", "exec", name];
    this.#directory = directory;
    this.#started = started;
  }

  /** Makes one; names of the same process differ. */
  static make(name: string): Promise<LonelyPlace> {
    return startAll((started) => {
      const namespace = `lifeboat-${process.pid}-${name}`;
      ip("netns", "add", namespace);
      started.keep({ stop: () => Promise.resolve(tried("netns", "delete", namespace)) });
      ip("-n", namespace, "link", "set", "lo", "up");
      const directory = temporaryDirectory("place");
      started.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
      return Promise.resolve(new LonelyPlace(namespace, directory, started));
    });
  }

  /** Lets what runs inside reach these ports, as long as `setCut` does not say otherwise where they can be cut. */
  async reach(ports: readonly number[], canBeCut: boolean): Promise<void> {
    const ways: string[] = [];
    for (const port of ports) {
      let target = port;
      if (canBeCut) {
        const relay = await openRelay(0, () => ({ host: "127.0.0.1", port }));
        this.#relays.push(relay);
        this.#started.keep({ stop: () => relay.close() });
        target = relay.port;
      }
      const path = join(this.#directory, `out-${port}`);
      await this.#passOn(path, target);
      ways.push(`${port}>${path}`);
    }
    await this.#relay(ways);
  }

  /** Lets others reach a port inside; answers the path of the socket that leads there. */
  async open(port: number): Promise<string> {
    const path = join(this.#directory, `in-${port}`);
    await this.#relay([`${path}>${port}`]);
    return path;
  }

  /** Nothing passes any more, and nothing is told to either side; or it passes again. */
  setCut(isCut: boolean): void {
    for (const relay of this.#relays) relay.setCut(isCut);
  }

  stop(): Promise<void> {
    return this.#started.stop();
  }

  async #passOn(path: string, port: number): Promise<void> {
    const server = createServer((near) => {
      const far = connect(port, "127.0.0.1");
      near.on("error", () => undefined).once("close", () => far.destroy());
      far.on("error", () => undefined).once("close", () => near.destroy());
      near.pipe(far).pipe(near);
    });
    server.listen(path);
    await once(server, "listening");
    this.#started.keep({ stop: () => Promise.resolve(void server.close()) });
  }

  async #relay(ways: readonly string[]): Promise<void> {
    const [command = "", ...under] = this.under;
    const child = startProcess(command, [
      ...under,
      process.execPath,
      "--import",
      "tsx",
      CHILD,
      ...ways,
    ]);
    this.#started.keep({ stop: () => child.stop("SIGKILL") });
    await child.printed(/^ready$/m);
  }
}
