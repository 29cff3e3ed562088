/** The Client contract on a real kube-apiserver: what our own adapters are held to is what a real server does. */
import { setTimeout as wait } from "node:timers/promises";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { clientContract } from "@lifeboat/testkit/client-suite";
import { startRealApiServer } from "../support/real-api-server.ts";

clientContract(
  "a real kube-apiserver",
  async () => {
    const server = await startRealApiServer();
    const client = await connectByKubeconfig({ paths: [server.kubeconfig] });
    const close = async (): Promise<void> => {
      client.close();
      await server.stop();
    };
    return { client, pass: (milliseconds) => wait(milliseconds), close };
  },
  { serverSideApply: true },
);
