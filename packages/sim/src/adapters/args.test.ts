/** What people order, and what they are told when they order nonsense. */
import { describe, expect, it } from "vitest";
import { orderOf } from "./args.ts";

describe("an order", () => {
  it("is a search of one minute on all cores when nothing is said", () => {
    const usual = { order: "search", from: 1, minutes: 1, seeds: Infinity, size: "small" };
    expect(orderOf([], 8)).toEqual({ ...usual, workers: 8 });
  });

  it("ends with the seeds when their number is said, and with what is over first when time is, too", () => {
    expect(orderOf(["--seeds", "5"], 8)).toMatchObject({ seeds: 5, minutes: Infinity });
    expect(orderOf(["--seeds", "5", "--minutes", "0.5"], 8)).toMatchObject({
      seeds: 5,
      minutes: 0.5,
    });
  });

  it("is what the words say", () => {
    const words = "--from 20000 --size large --workers 3".split(" ");
    expect(orderOf(words, 8)).toMatchObject({ from: 20_000, size: "large", workers: 3 });
    expect(orderOf(["--seed", "7"], 8)).toEqual({ order: "seed", seed: 7, size: "small" });
    expect(orderOf(["--golden", "all"], 8)).toEqual({ order: "golden", name: "all", workers: 8 });
    expect(orderOf(["--golden-pairs", "move", "--minutes", "2"], 8)).toEqual({
      order: "pairs",
      name: "move",
      minutes: 2,
      workers: 8,
    });
    expect(orderOf(["--replay", "f"], 8)).toEqual({ order: "replay", file: "f" });
    expect(orderOf(["--corpus"], 8)).toEqual({ order: "corpus" });
    expect(orderOf(["--soak", "24"], 8)).toEqual({ order: "soak", hours: 24 });
  });

  it.each([
    ["--minutes", "soon"],
    ["--minutes", "0"],
    ["--seed", "1.5"],
    ["--workers", "-1"],
    ["--from", ""],
    ["--size", "huge"],
  ])("is refused with %s %s, and it is said why", (option, value) => {
    expect(() => orderOf([`${option}=${value}`], 8)).toThrow(new RegExp(`${option} .*${value}$`));
  });
});
