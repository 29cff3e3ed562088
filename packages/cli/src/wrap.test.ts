import { describe, expect, it } from "vitest";
import { columns, hanging, paragraphs, plain, shorten, WIDTH } from "./wrap.ts";

describe("hanging", () => {
  it("breaks between words and indents what follows", () => {
    expect(hanging("Label      ", `${"word ".repeat(20)}end`)).toEqual([
      `Label      ${"word ".repeat(13)}word`,
      `           ${"word ".repeat(6)}end`,
    ]);
  });

  it("cuts words that are longer than a line", () => {
    for (const line of hanging("x ", "y".repeat(500)))
      expect(line.length).toBeLessThanOrEqual(WIDTH);
  });
});

describe("columns", () => {
  it("is as wide as what it holds, and breaks its last column", () => {
    expect(columns(["NAME", "N", "WHY"], [["eu-1", "12", "because ".repeat(12).trim()]])).toEqual([
      "NAME  N   WHY",
      `eu-1  12  ${"because ".repeat(8).trim()}`,
      `          ${"because ".repeat(4).trim()}`,
    ]);
  });

  it("keeps what follows under its column, unless words do not fit there or lines are too many", () => {
    const name = "n".repeat(50);
    const second = (why: string): string =>
      columns(["NAME", "WHY"], [[name, why]])[2]?.replace(/\S.*/, "") ?? "";
    expect(second("because ".repeat(4).trim())).toBe(" ".repeat(52));
    expect(second("because ".repeat(9).trim())).toBe(" ".repeat(52));
    expect(second("because ".repeat(10).trim())).toBe(" ".repeat(40));
    expect(second(`it is ${"w".repeat(29)}`)).toBe(" ".repeat(40));
  });

  it("stays within 80 columns whatever it holds", () => {
    const huge = [["a".repeat(300), "b".repeat(300), "c".repeat(300)], []];
    for (const line of columns(["A", "B", "C"], huge))
      expect(line.length).toBeLessThanOrEqual(WIDTH);
  });
});

it("shows what would move the cursor as spaces", () => {
  expect(plain("a\u001b[2Jb\r\nc\u0007")).toBe("a [2Jb c ");
});

it.each([
  ["short", 5, "short"],
  ["longer", 5, "long…"],
])("shortens %j to %d characters", (text, length, expected) => {
  expect(shorten(text, length)).toBe(expected);
});

describe("paragraphs", () => {
  it("leaves long words whole, on lines of their own, and keeps the lines of the text", () => {
    const path = `/${"p".repeat(90)}`;
    const word = "word ".repeat(20).trim();
    expect(paragraphs("lifeboat: ", `there is no ${path} here\n  go on: ${word}`)).toEqual([
      "lifeboat: there is no",
      `          ${path}`,
      "          here",
      `  go on: ${"word ".repeat(14).trim()}`,
      `  ${"word ".repeat(6).trim()}`,
    ]);
    expect(paragraphs("", path)).toEqual([path]);
  });

  it("obeys no control characters", () => {
    expect(paragraphs("", "a\u001b[2Jb\rc")).toEqual(["a [2Jb c"]);
  });
});
