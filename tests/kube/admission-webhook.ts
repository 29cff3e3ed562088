/**
 * The rules of the control plane's own kinds as an admission webhook, for a kube-apiserver that does not have them inside:
 * the same two functions that the embedded server calls, behind HTTPS on loopback.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import {
  type AnyObject,
  controlPlaneKinds,
  defaultKind,
  type Json,
  type JsonObject,
  validateKind,
} from "@lifeboat/api";
import { formatTime, instantOf } from "@lifeboat/base";
import { createRealIds } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";

interface Review {
  readonly request: {
    readonly uid: string;
    readonly object: AnyObject;
    readonly oldObject: AnyObject | null;
  };
}

/** Serves `/mutate` and `/validate` until the process ends. */
export async function serveAdmission(
  tls: { readonly cert: Buffer; readonly key: Buffer },
  port: number,
): Promise<Server> {
  const server = createServer(tls, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.once("end", () => {
      const { request } = JSON.parse(Buffer.concat(chunks).toString()) as Review;
      const answer =
        incoming.url?.startsWith("/mutate") === true ? mutate(request) : judge(request);
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(
        JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          response: { uid: request.uid, ...answer },
        }),
      );
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function mutate({ object, oldObject }: Review["request"]): JsonObject {
  const ids = createRealIds();
  const context = { now: formatTime(instantOf(Date.now())), newId: () => ids.uid() };
  const old = oldObject as unknown as JsonObject | null;
  const result = defaultKind(object, old === null ? context : { ...context, old });
  const patch = Object.entries(result).map(([key, value]) => ({
    op: "add",
    path: `/${key}`,
    value: value as Json,
  }));
  return {
    allowed: true,
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
  };
}

function judge({ object, oldObject }: Review["request"]): JsonObject {
  const errors = validateKind(object, oldObject ?? undefined);
  if (errors.length === 0) return { allowed: true };
  const message = errors.map(({ field, message: what }) => `${field}: ${what}`).join("; ");
  return { allowed: false, status: { code: 422, reason: "Invalid", message } };
}

/** Tells the API server to ask the webhook about every write of our kinds. */
export async function registerAdmission(
  client: Client,
  port: number,
  authority: Buffer,
): Promise<void> {
  const rules = controlPlaneKinds.map(({ group, version, plural }) => ({
    apiGroups: [group],
    apiVersions: [version],
    resources: [plural],
    operations: ["CREATE", "UPDATE"],
  }));
  for (const [kind, path] of [
    ["MutatingWebhookConfiguration", "mutate"],
    ["ValidatingWebhookConfiguration", "validate"],
  ] as const) {
    const resource = {
      group: "admissionregistration.k8s.io",
      version: "v1",
      plural: `${kind.toLowerCase()}s`,
      kind,
      namespaced: false,
    };
    const webhook = {
      name: `${path}.lifeboat.dev`,
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: {
        url: `https://127.0.0.1:${port}/${path}`,
        caBundle: authority.toString("base64"),
      },
      rules,
    };
    const object = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind,
      metadata: { name: "lifeboat" },
      webhooks: [webhook],
    };
    await client.create(resource, object);
  }
}
