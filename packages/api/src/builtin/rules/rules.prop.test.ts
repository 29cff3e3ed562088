import { it } from "vitest";
import { checkRules } from "./rules.suite.ts";

it("hold for odd objects: no rule throws, changes its input, or has more to default the second time", () => {
  checkRules(400);
});
