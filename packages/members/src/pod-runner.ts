/**
 * Plays the kubelets: lets the pods of all nodes start, be ready, end and stop, as `decidePod` says.
 *
 * When a pod was first seen in its stage is remembered here and nowhere else; a pod that goes is forgotten.
 */
import { keyOf } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import {
  checkAgainAt,
  type Controller,
  createController,
  done,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import { type MemberFault, troubleOf } from "./fault.ts";
import * as kinds from "./kinds.ts";
import type { Member } from "./member.ts";
import { decidePod, type Stage, stageOf } from "./model/pod-lifecycle.ts";

const CONCURRENCY = 8;

export class PodRunner implements Service {
  readonly name = "pod-runner";
  readonly #member: Member;
  readonly #controller: Controller;
  readonly #stages = new Map<string, { readonly stage: Stage; readonly since: Instant }>();
  #fault: MemberFault | undefined;

  constructor(member: Member) {
    this.#member = member;
    const { ports, pods } = member;
    pods.onChange((old, now) => this.#remember(old, now));
    this.#controller = createController(ports, {
      name: this.name,
      concurrency: CONCURRENCY,
      watches: [watching(pods, ownKey)],
      reconcile: (key) => this.#look(pods.get(key)),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  /** Puts this fault in the place of the one before, or none, and looks at all pods again. */
  setFault(fault: MemberFault | undefined): void {
    this.#fault = fault;
    for (const pod of this.#member.pods.list()) this.#controller.enqueue(keyOf(pod));
  }

  #remember(old: kinds.Pod | undefined, now: kinds.Pod | undefined): void {
    if (now === undefined) {
      this.#stages.delete(old?.metadata.uid ?? "");
      return;
    }
    const stage = stageOf(now);
    if (this.#stages.get(now.metadata.uid)?.stage === stage) return;
    this.#stages.set(now.metadata.uid, { stage, since: this.#member.ports.clock.now() });
  }

  async #look(pod: kinds.Pod | undefined): Promise<Outcome> {
    if (pod === undefined) return done;
    const { ports, options } = this.#member;
    const now = ports.clock.now();
    const { startDelayMs, startJitterMs, stopDelayMs, runMs } = options;
    // A stream of its own per pod: what one pod draws does not depend on the order in which pods are looked at.
    const jitter =
      startJitterMs === 0 ? 0 : ports.random.fork(pod.metadata.uid).below(startJitterMs);
    const plan = decidePod(
      {
        pod,
        since: this.#stages.get(pod.metadata.uid)?.since ?? now,
        startDelayMs: startDelayMs + jitter,
        stopDelayMs,
        runMs,
        trouble: troubleOf(this.#fault, pod),
      },
      now,
    );
    if (plan.kind === "remove") await this.#member.remove(kinds.pods, pod, 0);
    if (plan.kind === "report") await this.#member.report(kinds.pods, pod, plan.status);
    const again = plan.kind === "wait" ? plan.checkAgainAt : undefined;
    return again === undefined ? done : checkAgainAt(again);
  }
}
