import { it } from "vitest";
import { checkRules } from "./rules.suite.ts";

it("hold for very many odd objects", () => {
  checkRules(40_000);
});
