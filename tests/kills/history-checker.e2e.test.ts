/** The checker itself, by seeded faults: each must be found, and a faultless history must pass. */
import { expect, test } from "vitest";
import { HistoryChecker, type ListedItem, type SeenEvent } from "./history-checker.ts";

const WATCHER = "all";

interface Step {
  readonly key: string;
  /** Undefined: a removal. */
  readonly value?: string;
  readonly outcome: "acknowledged" | "refused" | "in doubt";
  readonly revision: number;
}

const STEPS: readonly Step[] = [
  { key: "a/x", value: "1", outcome: "acknowledged", revision: 1 },
  { key: "a/y", value: "2", outcome: "acknowledged", revision: 2 },
  { key: "a/x", value: "3", outcome: "acknowledged", revision: 3 },
  { key: "a/y", outcome: "acknowledged", revision: 4 },
  { key: "a/z", value: "5", outcome: "refused", revision: 0 },
  { key: "a/z", value: "6", outcome: "in doubt", revision: 0 },
  { key: "a/y", value: "7", outcome: "in doubt", revision: 0 },
  { key: "a/x", value: "8", outcome: "acknowledged", revision: 10_001 },
];
const EVENTS: readonly SeenEvent[] = [
  { type: "ADDED", key: "a/x", revision: 1, value: "1" },
  { type: "ADDED", key: "a/y", revision: 2, value: "2" },
  { type: "MODIFIED", key: "a/x", revision: 3, value: "3" },
  { type: "DELETED", key: "a/y", revision: 4, value: "2" },
  { type: "ADDED", key: "a/z", revision: 5, value: "6" },
  { type: "MODIFIED", key: "a/x", revision: 10_001, value: "8" },
];
const LIST: readonly ListedItem[] = [
  { key: "a/x", revision: 3, value: "3" },
  { key: "a/z", revision: 5, value: "6" },
];

function eventAt(index: number): SeenEvent {
  const event = EVENTS.at(index);
  if (event === undefined) throw new Error(`there is no event ${index}`);
  return event;
}

function lastStep(): Step {
  const step = STEPS.at(-1);
  if (step === undefined) throw new Error("there are no steps");
  return step;
}

interface History {
  steps: Step[];
  events: SeenEvent[];
  list: ListedItem[];
}

function violationsOf({ steps, events, list }: History): string[] {
  const checker = new HistoryChecker();
  checker.addWatcher(WATCHER, "");
  for (const { key, value, outcome, revision } of steps) {
    const write = checker.begin(
      value === undefined ? { kind: "remove", key } : { kind: "put", key, value },
    );
    if (outcome === "acknowledged") write.acknowledged(value === undefined ? undefined : revision);
    if (outcome === "refused") write.refused();
  }
  for (const event of events) checker.saw(WATCHER, event);
  checker.listed(10_000, "", list);
  return checker.violations();
}

const whole = (): History => ({ steps: [...STEPS], events: [...EVENTS], list: [...LIST] });

test("a faultless history passes", () => {
  expect(violationsOf(whole())).toEqual([]);
});

for (const { name, spoil, want } of [
  {
    name: "the last event before a resume is lost",
    spoil: (history: History) => history.events.splice(4, 1),
    want: "the list at 10000 lacks [] and adds [a/z=6@5]",
  },
  {
    name: "an event is delivered again after a resume",
    spoil: (history: History) => history.events.splice(4, 0, eventAt(3)),
    want: "DELETED a/y=2 at 4 came twice",
  },
  {
    name: "two events are swapped",
    spoil: (history: History) => history.events.splice(1, 2, eventAt(2), eventAt(1)),
    want: "ADDED a/y=2 at 2 came after revision 3",
  },
  {
    name: "an acknowledged write is lost",
    spoil: (history: History) => history.events.pop(),
    want: "a/x=8, acknowledged at 10001, is lost",
  },
  {
    name: "an acknowledged deletion is lost",
    spoil: (history: History) => history.events.splice(3, 1),
    want: "a/y was deleted 0 times, not 1 to 1 times",
  },
  {
    name: "a refused write happens",
    spoil: (history: History) =>
      history.events.splice(4, 1, { type: "ADDED", key: "a/z", revision: 5, value: "5" }),
    want: "ADDED a/z=5 at 5 was refused, and happened",
  },
  {
    name: "a write in doubt happens twice",
    spoil: (history: History) =>
      history.events.push({ type: "MODIFIED", key: "a/z", revision: 10_002, value: "6" }),
    want: "MODIFIED a/z=6 at 10002 happened twice",
  },
  {
    name: "something happens that nobody wrote",
    spoil: (history: History) =>
      history.events.push({ type: "ADDED", key: "a/q", revision: 10_002, value: "q" }),
    want: "ADDED a/q=q at 10002 was never written",
  },
  {
    name: "a list holds an old state",
    spoil: (history: History) => history.list.splice(0, 1, { key: "a/x", revision: 1, value: "1" }),
    want: "the list at 10000 lacks [a/x=3@3] and adds [a/x=1@1]",
  },
  {
    name: "an event has another revision than its answer",
    spoil: (history: History) => history.events.splice(5, 1, { ...eventAt(5), revision: 10_002 }),
    want: "MODIFIED a/x=8 at 10002 was acknowledged at revision 10001",
  },
  {
    name: "revisions go back after a restart",
    spoil: (history: History) => {
      history.steps.splice(7, 1, { ...lastStep(), revision: 3 });
      history.events.splice(5, 1);
    },
    want: "revision 3 was given to two writes",
  },
  {
    name: "a deletion carries an old state",
    spoil: (history: History) => history.events.splice(3, 1, { ...eventAt(3), value: "1" }),
    want: "DELETED a/y=1 at 4 does not carry the last state 2",
  },
  {
    name: "a creation comes as a modification",
    spoil: (history: History) => history.events.splice(4, 1, { ...eventAt(4), type: "MODIFIED" }),
    want: "MODIFIED a/z=6 at 5 came when the key was absent",
  },
])
  test(`it is found when ${name}`, () => {
    const history = whole();
    spoil(history);
    expect(violationsOf(history).join("\n")).toContain(want);
  });
