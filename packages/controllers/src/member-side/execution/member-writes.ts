/** Single calls to a member on behalf of a Work, counted; `late` records whether they were answered. */
import { type AnyObject, isRefused, type JsonObject, type New, pods, Refused } from "@lifeboat/api";
import { anew } from "@lifeboat/base";
import { type Fields, wellKnown } from "@lifeboat/core";
import type { ApplyCommand, RemoveCommand } from "@lifeboat/core/propagation/applying";
import { type Client, OutcomeUnknown } from "@lifeboat/kit";
import type { LateCreates } from "./late-creates.ts";
import type { ExecutionMetrics } from "./metrics.ts";
import type { ObjectReference } from "./member-objects.ts";

const FIELD_MANAGER = "lifeboat";

export class MemberWrites {
  readonly #cluster: string;
  readonly #member: Client;
  readonly #metrics: ExecutionMetrics;
  readonly #late: LateCreates;

  constructor(cluster: string, member: Client, metrics: ExecutionMetrics, late: LateCreates) {
    this.#cluster = cluster;
    this.#member = member;
    this.#metrics = metrics;
    this.#late = late;
  }

  /** The object as the member has it now; undefined when it has none. */
  async read(reference: ObjectReference, signal: AbortSignal): Promise<AnyObject | undefined> {
    try {
      const answer = await this.#member.get(reference.resource, reference.key, { signal });
      this.#late.answered();
      // A write that is decided on something else could name neither version nor uid.
      if (!isSameObject(answer, reference)) throw new OutcomeUnknown(SOMETHING_ELSE);
      return answer;
    } catch (error) {
      this.#failed(error);
      if (isRefused(error, "NotFound")) return undefined;
      throw error;
    }
  }

  /** Answers the object as the member has it afterwards. */
  async apply(
    reference: ObjectReference,
    command: ApplyCommand,
    recreate: boolean,
    signal: AbortSignal,
  ): Promise<AnyObject> {
    const { resource } = reference;
    const options = { signal, fieldManager: FIELD_MANAGER };
    const labels = this.#labels(command.object);
    if (command.kind === "replace") {
      const { uid } = command;
      await this.remove(
        reference,
        { kind: "delete", uid, propagationPolicy: "Background" },
        signal,
      );
    }
    // The server decides what is a valid object; here it is only passed on.
    if (command.kind !== "update")
      return this.#counted(
        this.#member.create(resource, command.object as New<AnyObject>, options),
        (result) =>
          this.#metrics.creations.add(1, {
            ...anew,
            ...labels,
            result,
            recreate: String(recreate),
          }),
        "create",
      );
    return this.#counted(
      this.#member.update(resource, command.object as AnyObject, options),
      (result) =>
        this.#metrics.updates.add(1, {
          ...anew,
          ...labels,
          result,
          operationResult: result === "success" ? "updated" : "none",
        }),
    );
  }

  async remove(
    reference: ObjectReference,
    command: RemoveCommand,
    signal: AbortSignal,
  ): Promise<void> {
    if (command.kind === "update") {
      await this.apply(reference, command, false, signal);
      return;
    }
    const { resource, key } = reference;
    if (command.kind === "patch") {
      const body = command.body as JsonObject;
      await this.#counted(
        this.#member.patch(resource, key, { type: "merge", body }, { signal }),
        () => undefined,
      );
      return;
    }
    const { uid, propagationPolicy } = command;
    const labels = this.#labels({
      apiVersion:
        resource.group === "" ? resource.version : `${resource.group}/${resource.version}`,
      kind: resource.kind,
    });
    await this.#counted(
      this.#member.delete(resource, key, { signal, propagationPolicy, preconditions: { uid } }),
      (result) => this.#metrics.deletions.add(1, { ...labels, result }),
    );
  }

  /** Whether a pod of this selection exists. */
  async hasPods(
    selection: { readonly namespace: string; readonly labelSelector: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { items } = await this.#member.list(pods, { ...selection, limit: 1, signal });
    // What is no list is no proof that there are none.
    if (!Array.isArray(items)) throw new OutcomeUnknown(SOMETHING_ELSE);
    return items.length > 0;
  }

  async #counted<T>(
    call: Promise<T>,
    count: (result: string) => void,
    verb?: "create",
  ): Promise<T> {
    try {
      const answer = await call;
      this.#late.answered();
      count("success");
      return answer;
    } catch (error) {
      this.#failed(error, verb);
      count("error");
      throw error;
    }
  }

  #failed(error: unknown, verb?: "create"): void {
    if (error instanceof Refused) this.#late.answered();
    else if (verb === "create" && error instanceof OutcomeUnknown) this.#late.lost();
    else this.#late.silent();
  }

  #labels(object: Fields) {
    return {
      apiversion: String(object["apiVersion"]),
      kind: String(object["kind"]),
      member_cluster: this.#cluster,
    };
  }
}

export const SOMETHING_ELSE = "the cluster answered with something else than the object";

/** Members are not trusted to answer sensibly: an object has a name, a uid and a version. */
export function isSameObject(answer: unknown, { key }: ObjectReference): boolean {
  const { metadata } = (answer ?? {}) as { readonly metadata?: Partial<AnyObject["metadata"]> };
  return (
    metadata?.name === key.name &&
    typeof metadata.uid === "string" &&
    typeof metadata.resourceVersion === "string"
  );
}

/** Whether the Work is to go only once its copy has stopped running. */
export function waitsForDependents(annotations: Readonly<Record<string, string>> = {}): boolean {
  return annotations[wellKnown.PURGE_MODE] === "Directly";
}
