/** The contract over sockets: our server with TLS and a client certificate, and the HTTP client of the kit. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { allowMasters, createApiServer, createMemoryStorage } from "@lifeboat/apiserver";
import { createTlsServer, openPki } from "@lifeboat/apiserver/adapters";
import { createRandom } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { createHttpClient, fixedCredential } from "@lifeboat/kit/adapters";
import { type ClientUnderTest, clientContract } from "./client-suite.ts";

clientContract("our server over TLS", start);

async function start(): Promise<ClientUnderTest> {
  const clock = createRealClock();
  const directory = await mkdtemp(join(tmpdir(), "client-suite-"));
  const pki = await openPki(clock, directory);
  const server = await createApiServer(
    {
      clock,
      random: createRandom(1),
      ids: createRealIds(),
      log: silentLog,
      metrics: silentMetrics,
      storage: createMemoryStorage(clock, { syncDelayMs: 0 }),
    },
    {
      gitVersion: "v1.36.4+lifeboat.0.1.0",
      tokens: new Map(),
      authorizer: allowMasters,
      admissionPlugins: [],
      historyMaxEvents: 50_000,
      historyMaxBytes: 128 * 1024 * 1024,
    },
  );
  const stop = new AbortController();
  const housekeeping = server.run(stop.signal);
  const material = { ...(await pki.server([])), clientCa: pki.ca };
  const { handle, identify } = server;
  const tls = createTlsServer({
    handle,
    identify,
    log: silentLog,
    metrics: silentMetrics,
    host: "127.0.0.1",
    port: 0,
    ...material,
  });
  const { port } = await tls.listen();
  const { certificate, key } = await pki.client("admin", ["system:masters"]);
  const client = createHttpClient({
    server: `https://127.0.0.1:${port}`,
    certificateAuthority: pki.ca,
    credentials: fixedCredential({ headers: {}, certificate, key }),
    userAgent: "contract/1",
  });
  return {
    client,
    pass: (milliseconds) => wait(milliseconds),
    close: async () => {
      client.close();
      await tls.close(0);
      stop.abort();
      await housekeeping;
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}
