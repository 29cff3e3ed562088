/** Which replica works on a member, when a replica sees, and what a second replica's answer is worth. */
import { expect, it } from "vitest";
import { questionFor, secondOpinion } from "./opinion.ts";
import {
  EMPTY_REPORT,
  formatReport,
  MOST_NAMES,
  parseReport,
  type ReplicaReport,
} from "./report.ts";
import { ownerOf, type ReplicaView, secondOf } from "./shares.ts";
import { decideSight, type ProbedMember, type SightView } from "./sight.ts";

function replica(name: string, report: Partial<ReplicaReport> = {}): ReplicaView {
  return { name, report: { ...EMPTY_REPORT, ...report } };
}

const THREE = [replica("a"), replica("b"), replica("c")];

it("shares out a thousand members about evenly, also between names that differ at their end only", () => {
  const replicas = ["replica-0", "replica-1", "replica-2"].map((name) => replica(name));
  const counts = new Map<string, number>();
  for (let i = 0; i < 1000; i++) {
    const { name } = ownerOf(replicas, `member${i}`) ?? replica("none");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  expect(counts.size).toBe(3);
  for (const count of counts.values()) expect(Math.abs(count - 333)).toBeLessThan(60);
});

it("a blind replica owns nothing while another sees, and one that cedes a member owns the others", () => {
  const member = "m";
  const owner = ownerOf(THREE, member)?.name ?? "";
  const second = secondOf(THREE, member)?.name;
  const withOwner = (report: Partial<ReplicaReport>) =>
    THREE.map((one) => (one.name === owner ? replica(owner, report) : one));
  expect(ownerOf(withOwner({ isBlind: true }), member)?.name).toBe(second);
  expect(ownerOf(withOwner({ ceded: [member] }), member)?.name).toBe(second);
  expect(ownerOf(withOwner({ ceded: ["other"] }), member)?.name).toBe(owner);
  const allBlind = THREE.map(({ name }) => replica(name, { isBlind: true }));
  expect(ownerOf(allBlind, member)?.name).toBe(owner);
  expect(ownerOf([], member)).toBeUndefined();
});

it("an answer counts for its own question, and from the second alone", () => {
  const member = "m";
  const owner = ownerOf(THREE, member)?.name ?? "";
  const second = secondOf(THREE, member)?.name ?? "";
  const third = ["a", "b", "c"].find((name) => name !== owner && name !== second) ?? "";
  const answered = (name: string, question: string, isReached: boolean) =>
    THREE.map((one) =>
      one.name === name
        ? replica(name, { answers: new Map([[member, { question, isReached }]]) })
        : one,
    );
  expect(secondOpinion(THREE, member, "q2")).toBe("awaited");
  expect(secondOpinion(answered(second, "q1", false), member, "q2")).toBe("awaited");
  expect(secondOpinion(answered(third, "q2", false), member, "q2")).toBe("awaited");
  expect(secondOpinion(answered(second, "q2", false), member, "q2")).toBe("agrees");
  expect(secondOpinion(answered(second, "q2", true), member, "q2")).toBe("disagrees");
  expect(secondOpinion([replica("a")], member, "q2")).toBeUndefined();
  const asked = THREE.map((one) =>
    one.name === owner ? replica(owner, { questions: new Map([[member, "q2"]]) }) : one,
  );
  expect(questionFor(second, asked, member)).toBe("q2");
  expect(questionFor(third, asked, member)).toBeUndefined();
  expect(questionFor(owner, asked, member)).toBeUndefined();
});

const answers: ProbedMember = { failedForMs: undefined, isKnownDown: false };
const known: ProbedMember = { failedForMs: 90_000, isKnownDown: true };
const lost = (failedForMs: number): ProbedMember => ({ failedForMs, isKnownDown: false });
const times = (count: number, member: ProbedMember) => Array.from({ length: count }, () => member);

it.each<[string, Partial<SightView>, boolean, string]>([
  ["one member of one", { members: [lost(30_000)] }, false, "MembersAnswer"],
  ["two of two", { members: [lost(30_000), lost(12_000)] }, true, "MostLost"],
  [
    "two of four",
    { members: [...times(2, lost(30_000)), answers, answers] },
    false,
    "MembersAnswer",
  ],
  ["three of five", { members: [...times(3, lost(30_000)), answers, answers] }, true, "MostLost"],
  [
    "five of a hundred",
    { members: [...times(5, lost(30_000)), ...times(95, answers)] },
    false,
    "MembersAnswer",
  ],
  [
    "six of a hundred",
    { members: [...times(6, lost(30_000)), ...times(94, answers)] },
    true,
    "ManyLost",
  ],
  ["two of two, for a moment", { members: times(2, lost(29_999)) }, false, "MembersAnswer"],
  ["members that are known to be down", { members: times(9, known) }, false, "MembersAnswer"],
  [
    "two of two beside known ones",
    { members: [...times(9, known), ...times(2, lost(30_000))] },
    true,
    "MostLost",
  ],
  [
    "blind, and two of two again for a moment",
    { isBlind: true, members: times(2, lost(0)) },
    true,
    "FewAnswer",
  ],
  [
    "blind, and one of two answers",
    { isBlind: true, members: [answers, lost(99_000)] },
    false,
    "MembersAnswer",
  ],
  [
    "blind, and the others report them",
    { isBlind: true, members: times(4, known) },
    false,
    "MembersAnswer",
  ],
  ["no member at all", { members: [] }, false, "MembersAnswer"],
  ["no other replica", { members: times(9, lost(30_000)), hasOthers: false }, false, "Alone"],
  [
    "no other replica any more",
    { isBlind: true, members: times(9, lost(30_000)), hasOthers: false },
    false,
    "Alone",
  ],
])("lost: %s", (_name, view, isBlind, reason) => {
  const whole = { isBlind: false, hasOthers: true, members: [], failureThresholdMs: 30_000 };
  expect(decideSight({ ...whole, ...view })).toEqual({ isBlind, reason });
});

it("a report survives its text, and stays small", () => {
  const report: ReplicaReport = {
    isBlind: true,
    ceded: ["m1"],
    questions: new Map([["m2", "a/17"]]),
    answers: new Map([["m3", { question: "b/1", isReached: false }]]),
    members: 7,
  };
  expect(parseReport(formatReport(report))).toEqual(report);
  const many = new Map(Array.from({ length: 5000 }, (_, i) => [`${i}`.padStart(63, "m"), "q"]));
  expect(parseReport(formatReport({ ...report, questions: many })).questions.size).toBe(MOST_NAMES);
});

it.each([
  undefined,
  "",
  "{",
  "null",
  "[]",
  "7",
  '{"isBlind":"yes","ceded":"m","questions":[1],"answers":{"m":1}}',
  '{"ceded":[1,null,{}],"questions":{"m":7},"answers":{"m":{"question":1,"isReached":true}},"members":"3"}',
])("a text that is no report reads as an empty one: %s", (text) => {
  expect(parseReport(text)).toEqual(EMPTY_REPORT);
});
