/**
 * The same informer and controller, unchanged, on our server over TLS and on a real kube-apiserver. (In process and
 * under the virtual clock: testkit/src/mirror-controller.test.ts.) All must end in the same content.
 */
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { type Client, type KitPorts, silentLog } from "@lifeboat/kit";
import { connectByKubeconfig, createPromMetrics } from "@lifeboat/kit/adapters";
import {
  configMaps,
  createMirror,
  driveOriginals,
  expectedContent,
  readContent,
} from "@lifeboat/testkit";
import { expect, it } from "vitest";
import type { ApiEndpoint } from "../support/api-endpoint.ts";
import { startLifeboat } from "../support/lifeboat.ts";
import { startRealApiServer } from "../support/real-api-server.ts";

const ports = (): KitPorts => ({
  clock: createRealClock(),
  random: createRandom(1),
  log: silentLog,
  metrics: createPromMetrics(),
});

const servers: readonly (readonly [string, () => Promise<ApiEndpoint>])[] = [
  ["our server over TLS", startLifeboat],
  ["a real kube-apiserver", startRealApiServer],
];

it.each(servers)("the mirror converges on %s", async (_name, start) => {
  const endpoint = await start();
  const stop = new AbortController();
  try {
    const client = await connectByKubeconfig({ paths: [endpoint.kubeconfig] });
    const mirror = createMirror(ports(), client, "default");
    const running = mirror.run(stop.signal);
    await driveOriginals(client, "default");
    await untilContent(client, mirror.informer);
    expect(await contentOf(client)).toEqual(expectedContent);
    stop.abort();
    await running;
  } finally {
    stop.abort();
    await endpoint.stop();
  }
});

/** kube-apiserver puts a ConfigMap with its CA into every namespace when its controllers run; it is not ours to compare. */
async function contentOf(client: Client): Promise<Readonly<Record<string, unknown>>> {
  const { "kube-root-ca.crt": _ca, ...content } = await readContent(client, "default");
  return content;
}

/** Waits for changes, not for time: each one the informer sees is a reason to compare again. */
function untilContent(
  client: Client,
  informer: ReturnType<typeof createMirror>["informer"],
): Promise<void> {
  expect(informer.resource).toBe(configMaps);
  return new Promise((resolve, reject) => {
    const look = async (): Promise<void> => {
      if (JSON.stringify(await contentOf(client)) === JSON.stringify(expectedContent)) resolve();
    };
    informer.onChange(() => {
      look().catch(reject);
    });
    look().catch(reject);
  });
}
