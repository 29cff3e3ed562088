/** A simulated member without inbound connectivity, as a process in a network namespace. */
import { join } from "node:path";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { noInboundSuite, start } from "./no-inbound.suite.ts";

noInboundSuite("a simulated member", async (started, place) => {
  const directory = temporaryDirectory("isolated");
  started.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
  // There is no kubeconfig of a control plane in its directory: nothing joins it, it is a cluster and nothing more.
  const members = started.keep(
    start(place, lifeboatCommand, "members", "--members=1", "--data-dir", directory),
  );
  await members.printed(/members serve/);
  return { kubeconfig: join(directory, "member1.kubeconfig") };
});
