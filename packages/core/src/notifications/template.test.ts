/** What receivers get, and which templates are refused. */
import type { Json } from "@lifeboat/api";
import { addMs, assert, formatMicroTime, instantOf } from "@lifeboat/base";
import fc from "fast-check";
import { expect, it } from "vitest";
import { nextNotice } from "./next-notice.ts";
import { type Notice, NOTICE_EVENTS } from "./notice.ts";
import { renderNotice, TEMPLATES, unknownField } from "./template.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1, 12));
const NOTICE: Notice = {
  id: "history-7",
  event: "ClusterFailed",
  status: "firing",
  severity: "critical",
  alert: "LifeboatClusterFailed",
  subject: "eu-1",
  summary: 'eu-1 failed: Ready is False ("quoted")',
  command: "lifeboat status",
  cluster: "eu-1",
  evacuation: "",
  startsAt: NOW,
  endsAt: undefined,
};

it("Slack gets one text with the command", () => {
  expect(renderNotice(TEMPLATES.slack, NOTICE, "prod")).toEqual({
    text: ':rotating_light: *prod*: eu-1 failed: Ready is False ("quoted")\n→ `lifeboat status`',
  });
  const over: Notice = { ...NOTICE, status: "resolved", command: "", summary: "eu-1 is ready" };
  expect(renderNotice(TEMPLATES.slack, over, "prod")).toEqual({
    text: ":white_check_mark: *prod*: eu-1 is ready",
  });
});

it("Alertmanager gets an alert that the end of the state resolves: the same labels, another end", () => {
  const at = (number: number): string => formatMicroTime(addMs(NOW, number * 1000));
  const subject = { kind: "Cluster", name: "eu-1", uid: "c1" };
  const about = { subject, fact: "ready", cluster: "eu-1", evacuation: "eu-1-1" };
  const pairs = [
    ["NotReady", "Ready"],
    ["NotReady", "Left"],
    ["EvacuationBegan", "EvacuationEnded"],
  ];
  for (const [begins = "", ends = ""] of pairs) {
    const entries = [
      { ...about, number: 1, at: at(0), action: begins },
      { ...about, number: 2, at: at(60), action: ends },
    ];
    const view = { entries, waits: [], events: new Set(NOTICE_EVENTS) };
    const first = nextNotice({ number: 0, open: {} }, view, NOW);
    const second = nextNotice(first.record, view, NOW);
    const [firing, resolved] = [first, second].map(({ notice }) => {
      assert(notice !== undefined, "there is a notice");
      const [alert] = renderNotice(TEMPLATES.alertmanager, notice, "prod") as [Json];
      return alert as Readonly<Record<string, Json>>;
    });
    expect(firing).toMatchObject({
      labels: { control_plane: "prod" },
      startsAt: "2026-01-01T12:00:00Z",
      // It does not end by itself within the minutes that Alertmanager waits for a repetition.
      endsAt: "2026-01-02T12:00:00Z",
    });
    expect(resolved?.["labels"]).toEqual(firing?.["labels"]);
    expect(resolved).toMatchObject({
      startsAt: "2026-01-01T12:00:00Z",
      endsAt: "2026-01-01T12:01:00Z",
    });
  }
});

it("no value changes the shape of the document, whatever it holds", () => {
  fc.assert(
    fc.property(fc.string(), (summary) => {
      const template = { a: ["{{summary}}"], b: "{{ cluster }}", n: 1, t: true, z: null };
      expect(renderNotice(template, { ...NOTICE, summary }, "prod")).toEqual({
        a: [summary],
        b: "eu-1",
        n: 1,
        t: true,
        z: null,
      });
    }),
  );
});

it("a name that is no field is found wherever it stands", () => {
  for (const template of Object.values(TEMPLATES)) expect(unknownField(template)).toBeUndefined();
  expect(unknownField({ a: [{ b: "x {{sumary}}" }] })).toBe("sumary");
  expect(unknownField({ a: "{{__proto__}}" })).toBe("__proto__");
});
