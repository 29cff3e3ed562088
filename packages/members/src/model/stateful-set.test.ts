import { expect, it } from "vitest";
import type { Pod, StatefulSet } from "../kinds.ts";
import { NOW, type PodState, pod, podTemplate, statefulSet } from "./objects.suite.ts";
import { templateHash } from "./pods.ts";
import { claimsFor, decideStatefulSet } from "./stateful-set.ts";

const CURRENT = `db-${templateHash(podTemplate())}`;

/** `0:ready`, or `0:ready:old` for a pod of another revision. */
function parse(text: string): Pod {
  const [ordinal, state, revision] = text.split(":");
  const labels = { "controller-revision-hash": revision === "old" ? "db-old" : CURRENT };
  return pod(`db-${ordinal}`, state as PodState, { labels });
}

it.each<{
  name: string;
  spec?: Partial<StatefulSet["spec"]>;
  pods: string[];
  create?: string[];
  remove?: string[];
}>([
  { name: "starts with the first", pods: [], create: ["db-0"] },
  { name: "waits until it is ready", pods: ["0:unready"] },
  { name: "goes on when it is", pods: ["0:ready"], create: ["db-1"] },
  { name: "waits for a pod that leaves", pods: ["0:ready", "1:leaving"] },
  { name: "fills a gap before it goes on", pods: ["1:ready"], create: ["db-0"] },
  { name: "removes a pod that ended", pods: ["0:failed"], remove: ["db-0"] },
  {
    name: "takes away the last first",
    spec: { replicas: 1 },
    pods: ["0:ready", "1:ready", "2:ready"],
    remove: ["db-2"],
  },
  {
    name: "waits for the last to go",
    spec: { replicas: 1 },
    pods: ["0:ready", "1:ready", "2:leaving"],
  },
  {
    name: "in parallel makes all at once",
    spec: { podManagementPolicy: "Parallel" },
    pods: [],
    create: ["db-0", "db-1", "db-2"],
  },
  {
    name: "in parallel takes all away at once",
    spec: { podManagementPolicy: "Parallel", replicas: 0 },
    pods: ["0:ready", "1:ready"],
    remove: ["db-1", "db-0"],
  },
  {
    name: "counts from its first ordinal",
    spec: { replicas: 1, ordinals: { start: 5 } },
    pods: ["0:ready"],
    create: ["db-5"],
  },
  {
    name: "updates the last first",
    pods: ["0:ready:old", "1:ready:old", "2:ready:old"],
    remove: ["db-2"],
  },
  { name: "updates one at a time", pods: ["0:ready:old", "1:ready:old", "2:unready"] },
  {
    name: "leaves what is below the partition",
    spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } },
    pods: ["0:ready:old", "1:ready:old", "2:ready"],
  },
  {
    name: "leaves updates to others with OnDelete",
    spec: { updateStrategy: { type: "OnDelete" } },
    pods: ["0:ready:old", "1:ready:old", "2:ready:old"],
  },
])("$name", ({ spec, pods, create = [], remove = [] }) => {
  const plan = decideStatefulSet(statefulSet({ replicas: 3, ...spec }), pods.map(parse), NOW);
  expect(plan.create.map(({ metadata }) => metadata.name)).toEqual(create);
  expect(plan.remove.map(({ metadata }) => metadata.name)).toEqual(remove);
});

it("shows the old revision as current until all pods have the new one", () => {
  const subject: StatefulSet = {
    ...statefulSet({ replicas: 2 }),
    status: { currentRevision: "db-old", updateRevision: "db-old" },
  };
  const rolling = decideStatefulSet(subject, ["0:ready:old", "1:ready"].map(parse), NOW);
  expect(rolling.status).toMatchObject({
    currentRevision: "db-old",
    updateRevision: CURRENT,
    currentReplicas: 1,
    updatedReplicas: 1,
  });
  const rolled = decideStatefulSet(subject, ["0:ready", "1:ready"].map(parse), NOW);
  expect(rolled.status).toMatchObject({ currentRevision: CURRENT, currentReplicas: 2 });
});

it("gives each pod a claim of its own and mounts it under the template's name", () => {
  const subject = statefulSet({
    volumeClaimTemplates: [
      { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } },
    ],
  });
  const { create } = decideStatefulSet(subject, [], NOW);
  expect(create[0]?.spec.volumes).toEqual([
    { name: "data", persistentVolumeClaim: { claimName: "data-db-0" } },
  ]);
  const claims = create.flatMap((item) => claimsFor(subject, item));
  expect(claims.map(({ metadata }) => metadata.name)).toEqual(["data-db-0"]);
});
