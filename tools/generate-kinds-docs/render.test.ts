import { controlPlaneKinds } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { readText } from "../repository.ts";
import { renderKinds } from "./render.ts";

describe("docs/kinds.md", () => {
  it("is what the declarations say", () => {
    expect(readText("docs/kinds.md")).toBe(renderKinds(controlPlaneKinds));
  });

  it("says of a field what it takes, what it defaults to and what it means", () => {
    expect(renderKinds(controlPlaneKinds)).toContain(
      "- `tolerationSeconds` (integer, at least 0, default `300`): How long to wait after a PreferNoExecute taint",
    );
  });
});
