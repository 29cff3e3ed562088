/**
 * The way out of and into a network namespace that has no wire, as `node relay-child.ts WAY…` inside of it: sockets in the file
 * system are seen from every namespace. `PORT>PATH` passes connections to a loopback port in the namespace on to the socket at the
 * path, `PATH>PORT` those to the socket on to the port. Prints `ready` when it listens everywhere.
 */
import { once } from "node:events";
import { connect, createServer } from "node:net";

const HOST = "127.0.0.1";

/** A port on loopback, or a path. */
function end(text: string): { readonly host: string; readonly port: number } | { path: string } {
  return /^\d+$/.test(text) ? { host: HOST, port: Number(text) } : { path: text };
}

await Promise.all(
  process.argv.slice(2).map(async (way) => {
    const [from = "", to = ""] = way.split(">");
    const server = createServer((near) => {
      const far = connect(end(to));
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const)
        one.on("error", () => undefined).once("close", () => other.destroy());
      near.pipe(far).pipe(near);
    });
    server.listen(end(from));
    await once(server, "listening");
  }),
);
process.stdout.write("ready\n");
