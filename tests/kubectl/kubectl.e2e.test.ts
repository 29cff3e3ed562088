/**
 * Real kubectl 1.36 against our server, held to what it does against a real kube-apiserver. Each scenario runs on both,
 * step by step; exit codes and normalized outputs must be equal.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKubectl, type Kubectl, type KubectlResult } from "../support/kubectl.ts";
import { ONLY_API, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { type RealApiServer, startRealApiServer } from "../support/real-api-server.ts";
import { startProcess } from "../support/processes.ts";
import { kubernetesBinary } from "../support/kubernetes-binaries.ts";
import { normalize, scenarios, type Step } from "./scenario.ts";

let real: RealApiServer;
let ours: RunningLifeboat;
let kubectlReal: Kubectl;
let kubectlOurs: Kubectl;

beforeAll(async () => {
  [real, ours] = await Promise.all([startRealApiServer(), startLifeboat({ args: ONLY_API })]);
  kubectlReal = createKubectl(real);
  kubectlOurs = createKubectl(ours);
});

afterAll(async () => {
  kubectlReal.close();
  kubectlOurs.close();
  await Promise.all([real.stop(), ours.stop()]);
});

/** What of a result is compared. */
function compared(step: Step, result: KubectlResult): unknown {
  const stdout = normalize(result.stdout);
  switch (step.only?.part) {
    case "code":
      return { code: result.code };
    case "stdout":
      return { code: result.code, stdout };
    case "words":
      return { code: result.code, words: stdout.split(/\s+/).sort() };
    case undefined:
      return { code: result.code, stdout, stderr: normalize(result.stderr) };
  }
}

for (const scenario of scenarios) {
  describe(scenario.name, () => {
    scenario.steps.forEach((step, index) => {
      it(`${index + 1}. kubectl ${step.args.join(" ")}`, async () => {
        const [theirs, mine] = await Promise.all([
          kubectlReal.run(step.args, step.input, step.environment),
          kubectlOurs.run(step.args, step.input, step.environment),
        ]);
        expect(compared(step, mine)).toEqual(compared(step, theirs));
      });
    });
  });
}

describe("watching", () => {
  it("get -w prints each change as it happens", async () => {
    await kubectlOurs.run(["create", "namespace", "watched"]);
    const args = [
      "--kubeconfig",
      ours.kubeconfig,
      "get",
      "cm",
      "-n",
      "watched",
      "-w",
      "--output-watch-events",
    ];
    const watching = startProcess(kubernetesBinary("kubectl"), args);
    await kubectlOurs.run(["create", "configmap", "seen", "-n", "watched", "--from-literal=a=1"]);
    await watching.printed(/ADDED +seen/);
    await kubectlOurs.run(["patch", "cm", "seen", "-n", "watched", "-p", '{"data":{"b":"2"}}']);
    await watching.printed(/MODIFIED +seen +2/);
    await kubectlOurs.run(["delete", "cm", "seen", "-n", "watched"]);
    await watching.printed(/DELETED +seen/);
    await watching.stop();
  });

  it("wait --for=delete ends when the object goes", async () => {
    await kubectlOurs.run(["create", "configmap", "leaving", "-n", "watched"]);
    const waiting = kubectlOurs.run([
      "wait",
      "cm/leaving",
      "-n",
      "watched",
      "--for=delete",
      "--timeout=30s",
    ]);
    await kubectlOurs.run(["delete", "cm", "leaving", "-n", "watched"]);
    expect(await waiting).toMatchObject({ code: 0 });
  });

  it("wait --for=create ends when the object comes", async () => {
    const waiting = kubectlOurs.run([
      "wait",
      "cm/coming",
      "-n",
      "watched",
      "--for=create",
      "--timeout=30s",
    ]);
    await kubectlOurs.run(["create", "configmap", "coming", "-n", "watched"]);
    expect(await waiting).toMatchObject({ code: 0 });
  });
});
