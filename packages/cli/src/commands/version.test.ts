import { expect, it } from "vitest";
import { versionsIn } from "./version.ts";

it.each([
  ["v1.36.4+lifeboat.0.1.0", { version: "0.1.0", kubernetes: "v1.36.4" }],
  ["v1.36.4+lifeboat.0.2.0-rc.1", { version: "0.2.0-rc.1", kubernetes: "v1.36.4" }],
  ["v1.30.2", { version: "", kubernetes: "v1.30.2" }],
  ["v1.30.2+k3s1", { version: "", kubernetes: "v1.30.2+k3s1" }],
  ["", { version: "", kubernetes: "" }],
])("%s", (text, expected) => {
  expect(versionsIn(text)).toEqual(expected);
});
