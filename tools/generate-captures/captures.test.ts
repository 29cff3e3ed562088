/** The captures in the documentation are what the commands show. After a change of an output: `npm run generate`. */
import { beforeAll, describe, expect, it, test } from "vitest";
import { listFiles, readText } from "../repository.ts";
import { type Capture, playAll } from "./incident.ts";
import { COLUMNS, pictureOf } from "./picture.ts";
import { shownLines } from "./terminal.ts";

const FOLDER = "docs/pictures/captures/";

describe("docs/pictures/captures", () => {
  let captures: readonly Capture[];
  beforeAll(async () => {
    captures = await playAll();
  });

  it("is up to date (else: npm run generate)", () => {
    const generated = captures.map((one) => [`${FOLDER}${one.name}.svg`, pictureOf(one)] as const);
    const committed = listFiles().filter((file) => file.startsWith(FOLDER));
    expect(committed.toSorted()).toEqual(generated.map(([file]) => file).toSorted());
    for (const [file, picture] of generated) expect(readText(file), file).toBe(picture);
  });

  it("is the same however often it is played", async () => {
    expect(await playAll()).toEqual(captures);
  });

  it("fits 80 columns", () => {
    for (const { name, command, written } of captures) {
      const lines = shownLines(written).map((runs) => runs.map(({ text }) => text).join(""));
      expect(lines.length, name).toBeGreaterThan(10);
      for (const line of [`$ ${command}`, ...lines])
        expect(line.length, line).toBeLessThanOrEqual(COLUMNS);
    }
  });

  it("shows what its pages tell", () => {
    const texts = new Map(captures.map(({ name, written }) => [name, written]));
    expect(texts.get("status-well")).toContain("WELL");
    expect(texts.get("status-failing")).toMatch(/member1 +\?\/3 .* no answer for 15s, down in 15s/);
    expect(texts.get("status-degraded")).toMatch(/DEGRADED.*: 3 of 5 workloads short, 1 decision/);
    expect(texts.get("status-failing")).toContain("\u001b[33mWELL");
    expect(texts.get("status-degraded")).toContain("→ lifeboat evacuations approve member1-1");
    expect(texts.get("watch")).toContain("waits for a fence");
    expect(texts.get("status-fence")).toContain("→ lifeboat fence member1");
    expect(texts.get("evacuation")).toContain("Completed, AllMoved");
    expect(texts.get("evacuation")).toMatch(/ledger +member1:1 → member\d:1 +\d+s +healthy/);
    expect(texts.get("history")).toContain("ended, Completed: 3 of 3 moved");
    expect(texts.get("history")).not.toContain("was removed");
    expect(texts.get("explain")).toContain("If member1 died: it leaves after ");
    expect(texts.get("simulate")).toContain("If member1 failed now:");
  });

  it("is shown in a page, each with a text for those that cannot see it", () => {
    const pages = listFiles().filter((file) => /^(README|docs\/.*)\.md$/.test(file));
    const shown = pages.flatMap((page) =>
      [...readText(page).matchAll(/!\[([^\]]*)\]\(\S*pictures\/captures\/([^)]*)\.svg\)/g)].map(
        ([, text = "", name = ""]) => ({ page, text, name }),
      ),
    );
    expect([...new Set(shown.map(({ name }) => name))].toSorted()).toEqual(
      captures.map(({ name }) => name).toSorted(),
    );
    for (const { page, text } of shown) expect(text.length, page).toBeGreaterThan(20);
  });
});

describe("a terminal", () => {
  const plain = (written: string): readonly string[] =>
    shownLines(written).map((runs) => runs.map(({ text }) => text).join(""));

  test.each([
    ["lines", "one\ntwo\n\nfour\n\n", ["one", "two", "", "four"]],
    ["what was drawn over", "old\n\u001b[A\r\u001b[2Knew\n", ["new"]],
    ["what was left of a longer line", "longer\rshort\n", ["shortr"]],
    ["nothing", "", []],
  ])("shows %s", (_, written, lines) => {
    expect(plain(written)).toEqual(lines);
  });

  it("shows looks", () => {
    expect(shownLines("\u001b[1m\u001b[31mBAD\u001b[0m: so\n")).toEqual([
      [
        { text: "BAD", bold: true, colour: "red" },
        { text: ": so", bold: false },
      ],
    ]);
  });

  test.each(["\u001b[5m", "\u001b[H", "\u0007", "a\tb", "\u001b"])(
    "refuses %j, which it does not know",
    (written) => {
      expect(() => shownLines(written)).toThrow(/terminal/);
    },
  );
});

describe("a picture", () => {
  const capture: Capture = {
    name: "x",
    about: 'a & "b"',
    command: "lifeboat <x>",
    written: "a → <b> & c\n\n\u001b[1m\u001b[32mWELL\u001b[0m: x\n",
  };

  it("has its text as text, each run at its column", () => {
    const picture = pictureOf(capture);
    expect(picture).toContain("<title>a &amp; &quot;b&quot;</title>");
    expect(picture).toContain('<tspan x="16" textLength="88">a → &lt;b&gt; &amp; c</tspan>');
    expect(picture).toContain(
      '<tspan x="16" textLength="32" class="bold green">WELL</tspan><tspan x="48" textLength="24">: x</tspan>',
    );
    expect(picture).toContain('xml:space="preserve"');
    expect(picture.match(/<text /g)).toHaveLength(3);
  });
});
